import { FairTurns } from '../../platform/bounded/fair-turns.ts';
import { AppError, retryLater } from '../../platform/errors.ts';

/** How many photos a client may send at once, and all clients together, to one process. */
export const uploadsMax = 2;
const uploadsOfAllMax = 64;

/** The uploads that are in progress in this process. None waits for another. */
export class UploadSlots {
  readonly #turns = new FairTurns({ turnsMax: uploadsOfAllMax, turnsOfOwnerMax: uploadsMax, pendingOfOwnerMax: 0 });

  /** Throws if there is no slot. The slot is free again once it is disposed of. */
  take(clientId: bigint): Disposable {
    const turn = this.#turns.takeNow(clientId);
    if (typeof turn === 'object') return turn;
    const cause = new Error(`${uploadsOfAllMax} uploads are in progress`);
    if (turn === 'others') throw retryLater('Too many photos are being sent at the moment. Retry in 1 s.', cause);
    const message = `This client is already sending ${uploadsMax} photos; ${uploadsMax} at once are allowed. Retry in 1 s.`;
    throw new AppError('too_many_uploads', message, { headers: { 'retry-after': '1' } });
  }
}
