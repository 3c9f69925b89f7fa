import { ageBandOf } from '../domain/profile-values.ts';
import { etagOf } from '../http/etags.ts';
import type { StoredProfile } from './profile-changes.ts';
import { ListedProfileSchema, type Profile, ProfileSchema } from './profile-schemas.ts';

const namesOf = (schema: { properties: object }) => Object.keys(schema.properties) as Array<keyof Profile>;
const [names, listedNames] = [namesOf(ProfileSchema), namesOf(ListedProfileSchema)];

/** The bytes of a profile in every response, which its ETag depends on. `today` is a date, for the age. */
export const profileJson = (stored: StoredProfile, today: string): string => write(profileOf(stored, today), names);

/** The bytes of a profile in a listing. */
export const listedProfileJson = (stored: StoredProfile, today: string): string => write(profileOf(stored, today), listedNames);

const write = (profile: Profile, fields: ReadonlyArray<keyof Profile>) =>
  `{${fields.map((name) => `"${name}":${jsonOf(profile[name])}`).join(',')}}`;

/** A hash of the bytes, so it also changes with the age. */
export const profileEtag = (stored: StoredProfile, today: string): string => etagOf(profileJson(stored, today));

/** With what is computed. */
export function profileOf(stored: StoredProfile, today: string): Profile {
  const { breeds, birthDate } = stored;
  return {
    ...stored,
    breeds: { ...breeds, unknown: breeds.primary === null && breeds.secondary === null },
    age: birthDate === null ? null : ageBandOf(birthDate, today),
  };
}

/** The only bigints are the ids of other animals. */
const jsonOf = (value: unknown) => (Array.isArray(value) && typeof value[0] === 'bigint' ? `[${value.join(',')}]` : JSON.stringify(value));
