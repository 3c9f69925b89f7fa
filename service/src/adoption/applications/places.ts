import type { Pet } from '../../animals/pets/pet-schemas.ts';
import type { Db } from '../../platform/db/handles.ts';
import type { AppError } from '../../platform/errors.ts';
import { allPlacesTaken, entryPlacesTaken, shareTaken } from './application-errors.ts';
import { findHoldings, type Holding } from './place-queries.ts';

/** Fewer are not divided. */
const dividedFrom = 10;
const keptMin = 3;
const keptOf = 5;

/** Of the applications that an animal may have, so many are kept from each client for the others. */
export const keptFor = (max: number): number => (max < dividedFrom ? 0 : Math.max(keptMin, Math.ceil(max / keptOf)));

/** Who asks for a place: a client, or staff who enter an application with it. */
export interface Applicant {
  readonly clientId: bigint;
  readonly isEntry: boolean;
}

/** What the open applications of an animal take. */
export interface Places {
  readonly max: number;
  readonly holdings: readonly Holding[];
}

/** Exact if the animal is locked. */
export const readPlaces = (db: Db, petId: bigint): Promise<Places> => findHoldings(db, petId);

/**
 * Why an applicant gets no place. Undefined: there is one. Staff have as many places as all clients together, so that those can't keep
 * them from entering an application. Applications of suspended clients take none, except from their own client, whose adopters may
 * confirm others.
 */
export function findFull(pet: Pet, { max, holdings }: Places, { clientId, isEntry }: Applicant): AppError | undefined {
  const counted = holdings.filter((holding) => !holding.isSuspended || holding.clientId === clientId);
  const count = (of: readonly Holding[], what: 'sent' | 'entered') => of.reduce((sum, holding) => sum + holding[what], 0);
  if (isEntry) {
    const entered = count(counted, 'entered');
    return entered >= max ? entryPlacesTaken(pet, { entered, max }) : undefined;
  }
  const sent = count(counted, 'sent');
  if (sent >= max) return allPlacesTaken(pet, { open: sent, max });
  const own = count(
    counted.filter((holding) => holding.clientId === clientId),
    'sent',
  );
  const share = max - keptFor(max);
  return own >= share ? shareTaken(pet, { own, share, max }) : undefined;
}

/** Whether anybody gets no place. */
export function isAnyFull({ max, holdings }: Places): boolean {
  const [sent, entered] = [holdings.map((one) => one.sent), holdings.map((one) => one.entered)];
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  return sum(sent) >= max || sum(entered) >= max || Math.max(0, ...sent) >= max - keptFor(max);
}
