import type { Author } from '../../domain/actor.ts';
import { FairTurns } from '../../platform/bounded/fair-turns.ts';
import { AppError, retryLater } from '../../platform/errors.ts';

/** How many photos a client with its keys may send at once to one process, and each person in the console. */
export const uploadsMax = 2;
/** All people of one client together: those of a shelter share it, and one with a bad line must not stop the others. */
const uploadsOfPeopleMax = 16;
/** All clients and people together. */
const uploadsOfAllMax = 64;

/** The uploads that are in progress in this process. None waits for another. */
export class UploadSlots {
  readonly #ofClients = new FairTurns({ turnsMax: uploadsOfAllMax, turnsOfOwnerMax: uploadsMax, pendingOfOwnerMax: 0 });
  readonly #ofPeople = new FairTurns({ turnsMax: uploadsOfAllMax, turnsOfOwnerMax: uploadsMax, pendingOfOwnerMax: 0 });

  /** Throws if there is no slot. The slot is free again once it is disposed of. */
  take({ clientId, personId }: Author & { readonly clientId: bigint }): Disposable {
    if (personId === null) return granted(this.#ofClients.takeNow(clientId), 'This client is', uploadsMax);
    using taken = new DisposableStack();
    taken.use(granted(this.#ofPeople.takeNow(personId), 'This person is', uploadsMax));
    const ofClient = this.#ofClients.takeNow(clientId, uploadsOfPeopleMax);
    taken.use(granted(ofClient, 'The people of this client are', uploadsOfPeopleMax));
    return taken.move();
  }
}

function granted(turn: ReturnType<FairTurns['takeNow']>, who: string, max: number): Disposable {
  if (typeof turn === 'object') return turn;
  const cause = new Error(`${uploadsOfAllMax} uploads are in progress`);
  if (turn === 'others') throw retryLater('Too many photos are being sent at the moment. Retry in 1 s.', cause);
  const message = `${who} already sending ${max} photos; ${max} at once are allowed. Retry in 1 s.`;
  throw new AppError('too_many_uploads', message, { headers: { 'retry-after': '1' } });
}
