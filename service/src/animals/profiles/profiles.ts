import { isDeepStrictEqual } from 'node:util';
import { recordEvents } from '../../changes/events/events.ts';
import type { Actor } from '../../domain/actor.ts';
import { fieldsOf, type ProfileChanges, type StoredProfile } from '../../domain/profile-fields.ts';
import type { Db, Transaction } from '../../platform/db/handles.ts';
import { violates } from '../../platform/db/pool.ts';
import { AppError, type ErrorCode, show } from '../../platform/errors.ts';
import { recordTransitions } from '../history/history.ts';
import { recordTexts } from '../history/texts.ts';
import type { Catalogue, CatalogueTransaction } from '../list-cache/catalogue.ts';
import { type ShownChange, termSetOf } from '../list-cache/shown-changes.ts';
import { petEvent } from '../pets/pet-json.ts';
import { lockPetFor, petNotFound } from '../pets/pet-locks.ts';
import type { Pet } from '../pets/pet-schemas.ts';
import { listPetsById } from '../pets/pets.ts';
import { emptyProfile, invalid, mergeProfile, requireValid } from './profile-changes.ts';
import { profileJson } from './profile-json.ts';
import { findExisting, findExternalId, findProfile, lockFoundBy, upsertProfile } from './profile-queries.ts';

interface ProfileWrite {
  /** `replace`: what is left out is removed. `merge`: it stays. */
  readonly how: 'replace' | 'merge';
  readonly changes: ProfileChanges;
  readonly nowMs: number;
  /** Throws if the profile is not the version that the caller expects. */
  readonly expect: (pet: Pet, profile: StoredProfile) => void;
}

/** The errors of the operations, for the documents. */
export const profileErrors = {
  get: ['pet_not_found'],
  write: ['pet_not_found', 'external_id_taken'],
} as const satisfies Record<string, readonly ErrorCode[]>;

const externalIdIndex = 'profiles_external_id';

/** Whether a transaction has failed since another animal of the shelter has the externalId. */
export const isExternalIdTaken = (error: unknown): boolean => violates(error, externalIdIndex);

export async function getProfile(db: Db, petId: bigint): Promise<StoredProfile> {
  return (await findOrThrow(db, petId)).profile;
}

/** The animals that this one must be adopted together with, as long as they are here. */
export async function listBonded(db: Db, petId: bigint): Promise<Pet[]> {
  const ids = (await findProfile(db, petId))?.profile?.bondedWith ?? [];
  return ids.length === 0 ? [] : listPetsById(db, ids);
}

/** Writes the profile of an animal, and records the event if it has changed. Cached lists of animals stay valid. */
export async function writeProfile(
  { db, catalogue }: { readonly db: Db; readonly catalogue: Catalogue },
  petId: bigint,
  writer: Actor,
  write: ProfileWrite,
): Promise<StoredProfile> {
  try {
    return await catalogue.transaction((tx) => writeProfileWithin(tx, petId, writer, write), writer);
  } catch (error) {
    if (!isExternalIdTaken(error)) throw error;
    throw await externalIdTaken(db, petId, write.changes.externalId ?? '', error);
  }
}

/** The same in a transaction. A unique index rejects it if another animal of the shelter has the externalId: `isExternalIdTaken`. */
export async function writeProfileWithin(
  tx: CatalogueTransaction,
  petId: bigint,
  writer: Actor,
  write: ProfileWrite,
): Promise<StoredProfile> {
  const pet = await lockPetFor(tx, petId, writer, 'describePets');
  const { profile: current, writtenIn } = await findOrThrow(tx, petId);
  write.expect(pet, current);
  const merged = mergeProfile(write.how === 'merge' ? current : emptyProfile, write.changes);
  const profile = requireValid(petId, merged, write.nowMs);
  for (const field of fieldsOf('animals')) {
    await requireExisting(
      tx,
      field,
      profile[field].filter((id) => !current[field].includes(id)),
    );
  }
  if (isSame(profile, current)) {
    if (writtenIn !== null) tx.acknowledge(writtenIn);
    return current;
  }
  await upsertProfile(tx, petId, profile, ({ termsBefore }) => changeOf(tx, pet, termsBefore));
  const changed = (Object.keys(profile) as (keyof StoredProfile)[]).filter((field) => !isDeepStrictEqual(profile[field], current[field]));
  const why = `described: ${changed.join(', ')}`;
  await recordTransitions(tx, writer, { kind: 'pet_described', petId, from: pet.status, to: pet.status, changed, why });
  await recordTexts(
    tx,
    petId,
    changed.map((field) => ({ field, before: textOf(current[field]), after: textOf(profile[field]) })),
  );
  await recordEvents(tx, petEvent('pet.profile_changed', pet));
  return profile;
}

/** What is no text, such as a weight, the history names alone. */
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

async function changeOf(tx: Transaction, state: Pet, termsBefore: readonly string[]): Promise<ShownChange> {
  const { terms, latitude, longitude } = await lockFoundBy(tx, state.id);
  const place = latitude === null || longitude === null ? null : { latitude, longitude };
  return { of: 'animal', petId: state.id, state, place, terms: termSetOf([...termsBefore, ...terms]) };
}

async function findOrThrow(db: Db, petId: bigint): Promise<{ profile: StoredProfile; writtenIn: string | null }> {
  const found = await findProfile(db, petId);
  if (!found) throw petNotFound(String(petId));
  return { ...found, profile: found.profile ?? emptyProfile };
}

async function requireExisting(tx: Transaction, field: string, ids: readonly bigint[]): Promise<void> {
  if (ids.length === 0) return;
  const existing = await findExisting(tx, ids);
  const missing = ids.filter((id) => !existing.includes(id));
  if (missing.length > 0) throw invalid(`${field} must name existing animals; there is no animal with id ${missing.join(' or ')}.`);
}

/** The day is the same for both, and does not matter. */
const isSame = (one: StoredProfile, other: StoredProfile) => profileJson(one, '2000-01-01') === profileJson(other, '2000-01-01');

async function externalIdTaken(db: Db, petId: bigint, externalId: string, cause: unknown): Promise<AppError> {
  const other = await findExternalId(db, petId, externalId);
  const owner = other ? `${other.name} (id ${other.id}) of shelter ${other.shelterId}` : 'Another animal of the shelter';
  const message = `${owner} already has the externalId ${show(externalId)}. Change it there or here first.`;
  return new AppError('external_id_taken', message, { cause });
}
