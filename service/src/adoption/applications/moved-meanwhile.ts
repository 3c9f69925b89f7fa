import type { Transaction, Transactions } from '../../platform/db/handles.ts';
import { retryLater } from '../../platform/errors.ts';

const triesMax = 3;

/** The application has changed between the first look at it and its lock, so that other rows must be locked first. Nothing was changed. */
export class MovedMeanwhile extends Error {}

/** Runs a transaction again if an application has moved meanwhile. */
export const rerunning = <Tx extends Transaction>(db: Transactions<Tx>): Transactions<Tx> => ({
  transaction: async (work, by) => {
    for (let tries = 1; ; tries++) {
      try {
        return await db.transaction(work, by);
      } catch (error) {
        if (!(error instanceof MovedMeanwhile)) throw error;
        if (tries === triesMax) throw retryLater('The application is being changed by others. Retry in 1 s.', error);
      }
    }
  },
});
