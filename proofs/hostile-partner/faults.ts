// Faults that this proof must notice: each is planted into a copy of the service, and some claim about its attack must break.
import type { Edit } from '../../testkit/mutant.ts';
import type { AttackName } from './attacks.ts';

export interface Fault {
  readonly attack: AttackName;
  readonly edits: readonly Edit[];
}

export const faults: Readonly<Record<string, Fault>> = {
  'any number of turns for searches, on the connections of transactions': {
    attack: 'slow searches',
    edits: [
      { file: 'platform/db/pool.ts', from: 'await this.#searches.run(clientId,', to: 'await this.#transactions.run(clientId,' },
      { file: 'platform/bounded/fair-turns.ts', from: '(this.#turnsOf.get(owner) ?? 0) < ofOwnerMax', to: 'true' },
    ],
  },
  'no end of a response that nobody reads': {
    attack: 'slow readers',
    edits: [{ file: 'platform/http/response-progress.ts', from: 'stalledMs: 10_000', to: 'stalledMs: 999_999_999' }],
  },
  'any number of open orders and categories': {
    attack: 'orders of every animal',
    edits: [
      {
        file: 'access/rate-limit/plans.ts',
        from: 'openOrders: 500,',
        to: 'openOrders: 999_999,',
      },
      {
        file: 'access/rate-limit/plans.ts',
        from: 'newCategoriesPerDay: 500,',
        to: 'newCategoriesPerDay: 999_999,',
      },
    ],
  },
};
