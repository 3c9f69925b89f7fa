import { readChangedPets } from '../../changes/events/events.ts';
import { theService } from '../../domain/actor.ts';
import type { EventType } from '../../domain/event-types.ts';
import type { Transaction, Transactor } from '../../platform/db/handles.ts';
import {
  addToClients,
  type ClientCounts,
  deleteTrigrams,
  deleteUses,
  deleteUsesOfWords,
  deleteWords,
  hasWordsToCount,
  insertTrigrams,
  insertUses,
  lockWordFeed,
  type Recount,
  readTotals,
  recountWords,
  selectCountedWords,
  selectNewToday,
  selectPetsToFill,
  selectStoredWords,
  selectWordsToEvict,
  selectWrittenWords,
  storeFilledTo,
  storePosition,
  storeStart,
  upsertWords,
  type WordUse,
} from './word-count-queries.ts';

/*
 * The words that misspelt ones are corrected to are made here, by the worker, after the change of an animal is committed.
 *
 * - `animal_words` says which words each animal is counted for. It is the only count: `search_words` and `word_trigrams` follow from it.
 * - An animal is counted by comparing its words, as they are now, with its rows. So it may be counted twice, or in any order, and a
 *   change that was missed is made up for by the next one, or by filling.
 * - One transaction counts at a time. It moves the stored position with what it has counted, so a worker that dies loses nothing.
 */

export interface WordBounds {
  /**
   * Animals counted by one transaction. Their names and breeds have 400 characters each at most, so some 3,000 words in all: no statement
   * about so many takes nearly as long as it may.
   */
  readonly animalsAtOnceMax: number;
  /** Of a client in a UTC day. Further words are not counted: exact searches find them all the same. */
  readonly newPerDayMax: number;
  readonly wordsMax: number;
}

export const wordBounds: WordBounds = { animalsAtOnceMax: 25, newPerDayMax: 20_000, wordsMax: 2_000_000 };
const evictedAtOnceMax = 1_000;

/** After these an animal may have other words. */
const eventsWithWords: readonly EventType[] = ['pet.created', 'pet.updated', 'pet.removed', 'pet.profile_changed'];

export interface CountedBatch {
  /** 0: nothing is left to do, or another worker does it. */
  readonly count: number;
  /** Of animals that were there before words were counted. */
  readonly isFill: boolean;
}

const nothing: CountedBatch = { count: 0, isFill: false };

/** Counts a batch of words: of the changes in the feed if there are any, else of the animals that were there before. */
export async function countWords(db: Transactor, bounds: WordBounds = wordBounds): Promise<CountedBatch> {
  if (!(await hasWordsToCount(db))) return nothing;
  return db.transaction(async (tx) => {
    const feed = await lockWordFeed(tx);
    if (!feed) return nothing;
    const changes = await readChangedPets(tx, eventsWithWords, { after: feed.position, limit: bounds.animalsAtOnceMax });
    if (changes.isInterrupted) {
      // Events were deleted before they were counted, or the store was restored from a backup.
      await storeStart(tx, changes.lastPosition);
      return { count: 1, isFill: false };
    }
    if (changes.nextAfter === feed.position) return feed.filledTo === null ? nothing : fill(tx, feed.filledTo, feed.fillUntil, bounds);
    await count(tx, changes.petIds, bounds);
    await storePosition(tx, changes.nextAfter);
    return { count: Number(changes.nextAfter - feed.position), isFill: false };
  }, theService);
}

async function fill(tx: Transaction, filledTo: bigint, until: bigint, bounds: WordBounds): Promise<CountedBatch> {
  const petIds = await selectPetsToFill(tx, filledTo, until, bounds.animalsAtOnceMax);
  // Not bounded by the day: these were added before.
  await count(tx, petIds, { ...bounds, newPerDayMax: Number.POSITIVE_INFINITY });
  await storeFilledTo(tx, petIds.at(-1) ?? null);
  return { count: Math.max(petIds.length, 1), isFill: true };
}

async function count(tx: Transaction, petIds: readonly bigint[], bounds: WordBounds): Promise<void> {
  if (petIds.length === 0) return;
  const { gone, added } = difference(await selectCountedWords(tx, petIds), await selectWrittenWords(tx, petIds));
  const admitted = await admitNew(tx, added, bounds.newPerDayMax);
  if (gone.length > 0) await deleteUses(tx, gone);
  if (admitted.uses.length > 0) await insertUses(tx, admitted.uses);
  const changed = [...new Set([...gone, ...admitted.uses].map(({ word }) => word))];
  if (changed.length === 0) return;
  const counts = new CountsOfClients();
  for (const { clientId } of gone) counts.of(clientId).uses -= 1;
  for (const { clientId } of admitted.uses) counts.of(clientId).uses += 1;
  for (const clientId of admitted.ownerOf.values()) counts.of(clientId).newToday += Number.isFinite(bounds.newPerDayMax) ? 1 : 0;
  const recounts = await recountWords(tx, changed);
  for (const { stored, counted, word } of recounts) {
    if (stored && !counted) counts.of(stored.clientId).words -= 1;
    if (counted && !stored) counts.of(ownerOf(admitted.ownerOf, word)).words += 1;
  }
  await addToClients(tx, counts.byClient);
  const { hasOneWriter, words } = await readTotals(tx);
  await storeWords(tx, recounts, admitted.ownerOf, hasOneWriter);
  await evict(tx, words - bounds.wordsMax);
}

/** A use whose writer has changed is gone and added. */
export function difference(counted: readonly WordUse[], written: readonly WordUse[]): { gone: WordUse[]; added: WordUse[] } {
  const textOf = ({ petId, word, clientId, isTrusted }: WordUse) => `${petId} ${clientId} ${isTrusted} ${word}`;
  const [before, now] = [new Set(counted.map(textOf)), new Set(written.map(textOf))];
  return { gone: counted.filter((use) => !now.has(textOf(use))), added: written.filter((use) => !before.has(textOf(use))) };
}

interface Admitted {
  readonly uses: readonly WordUse[];
  /** The new words, each with the client whose share it takes. */
  readonly ownerOf: ReadonlyMap<string, bigint>;
}

/** Leaves out new words of clients that have added enough today. */
async function admitNew(tx: Transaction, added: readonly WordUse[], newPerDayMax: number): Promise<Admitted> {
  if (added.length === 0) return { uses: [], ownerOf: new Map() };
  const stored = new Set(await selectStoredWords(tx, [...new Set(added.map(({ word }) => word))]));
  const newToday = await selectNewToday(tx, [...new Set(added.map(({ clientId }) => clientId))]);
  const ownerOf = new Map<string, bigint>();
  const uses = added.filter(({ word, clientId }) => {
    if (stored.has(word) || ownerOf.has(word)) return true;
    const count = newToday.get(clientId) ?? 0;
    if (count >= newPerDayMax) return false;
    newToday.set(clientId, count + 1);
    ownerOf.set(word, clientId);
    return true;
  });
  return { uses, ownerOf };
}

/** Writes what has changed of the words, and their trigrams if they may correct others. */
async function storeWords(
  tx: Transaction,
  recounts: readonly Recount[],
  owners: ReadonlyMap<string, bigint>,
  hasOneWriter: boolean,
): Promise<void> {
  const changed = recounts.filter(({ stored, counted }) => stored?.rarity !== counted?.rarity || stored?.isShared !== counted?.isShared);
  const before = changed.flatMap(({ word, stored }) => (stored ? [{ ...stored, word }] : []));
  const after = changed.flatMap(({ word, stored, counted }) =>
    counted ? [{ ...counted, word, clientId: stored?.clientId ?? ownerOf(owners, word) }] : [],
  );
  const gone = changed.filter(({ counted }) => !counted).map(({ word }) => word);
  const correcting = after.filter(({ isShared }) => isShared || hasOneWriter);
  if (before.length > 0) await deleteTrigrams(tx, before);
  if (gone.length > 0) await deleteWords(tx, gone);
  if (after.length > 0) await upsertWords(tx, after);
  if (correcting.length > 0) await insertTrigrams(tx, correcting);
}

/** Deletes words until there are not too many. They are those of the client with the most words, so that no client displaces others. */
async function evict(tx: Transaction, excess: number): Promise<void> {
  for (let left = excess; left > 0; ) {
    const evicted = await selectWordsToEvict(tx, Math.min(left, evictedAtOnceMax));
    if (evicted.length === 0) return;
    const words = evicted.map(({ word }) => word);
    await deleteTrigrams(tx, evicted);
    await deleteWords(tx, words);
    const counts = new CountsOfClients();
    for (const { clientId } of evicted) counts.of(clientId).words -= 1;
    for (const [clientId, uses] of await deleteUsesOfWords(tx, words)) counts.of(clientId).uses -= uses;
    await addToClients(tx, counts.byClient);
    left -= evicted.length;
  }
}

class CountsOfClients {
  readonly byClient = new Map<bigint, ClientCounts>();

  of(clientId: bigint): ClientCounts {
    const counts = this.byClient.get(clientId) ?? { uses: 0, words: 0, newToday: 0 };
    this.byClient.set(clientId, counts);
    return counts;
  }
}

function ownerOf(owners: ReadonlyMap<string, bigint>, word: string): bigint {
  const owner = owners.get(word);
  if (owner === undefined) throw new Error(`"${word}" is neither stored nor new`);
  return owner;
}
