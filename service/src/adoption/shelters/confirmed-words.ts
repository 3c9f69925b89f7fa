import { type KeyRights, staffReach } from '../../domain/actor.ts';
import { type ShelterWords, type WordField, wordFields } from '../../domain/shelters.ts';
import type { ShelterChanges, ShelterValues } from './shelter-schemas.ts';

/** Those who work for the store as a whole: what they write of a shelter is confirmed at once. */
export const isStoreStaff = (key: KeyRights): boolean => staffReach(key, 'manageShelters') === 'all';

/** What is confirmed once store staff have written these values. */
export const confirmedByWriting = (confirmed: ShelterWords, changes: ShelterChanges, values: ShelterValues): ShelterWords => ({
  ...confirmed,
  ...wordsOf(
    values,
    wordFields.filter((field) => changes[field] !== undefined),
  ),
});

/** What the shelter says, and nobody has confirmed. What it no longer says needs no confirmation: mail leaves that out. */
export const waitingFields = (values: ShelterWords, confirmed: ShelterWords, { mails }: { readonly mails: boolean }): WordField[] =>
  wordFields.filter((field) => values[field] !== null && values[field] !== confirmed[field] && (field !== 'email' || mails));

export const wordsOf = (values: ShelterWords, fields: readonly WordField[]): Partial<ShelterWords> =>
  Object.fromEntries(fields.map((field) => [field, values[field]]));

export const isSameWords = (one: ShelterWords, other: ShelterWords): boolean => wordFields.every((field) => one[field] === other[field]);
