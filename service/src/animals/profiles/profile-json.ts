import { ageBandOf, fieldRows, type Profile, type ProfileField, type StoredProfile } from '../../domain/profile-fields.ts';
import { etagOf } from '../../platform/http/protocol/representations.ts';

/** The bytes of a profile in every response, which its ETag depends on. `today` is a date, for the age. */
export const profileJson = (stored: StoredProfile, today: string): string => write(stored, today, fields);

/** The bytes of a profile in a listing. */
export const listedProfileJson = (stored: StoredProfile, today: string): string => write(stored, today, listedFields);

/** A hash of the bytes, so it also changes with the age. */
export const profileEtag = (stored: StoredProfile, today: string): string => etagOf(profileJson(stored, today));

/** With what is computed. */
export const profileOf = (stored: StoredProfile, today: string): Profile => ({
  ...stored,
  age: computed.age(stored, today),
  breeds: computed.breeds(stored),
});

/** The fields that are not stored as responses show them. */
type ComputedField = { [Name in ProfileField]: StoredProfile extends Pick<Profile, Name> ? never : Name }[ProfileField];

type Compute = (stored: StoredProfile, today: string) => unknown;

const computed = {
  age: ({ birthDate }, today) => (birthDate === null ? null : ageBandOf(birthDate, today)),
  breeds: ({ breeds }) => ({ ...breeds, unknown: breeds.primary === null && breeds.secondary === null }),
} satisfies { readonly [Name in ComputedField]: (stored: StoredProfile, today: string) => Profile[Name] };

/** JSON.stringify writes no bigint. */
const idsJson = (ids: readonly bigint[]) => `[${ids.join(',')}]`;

const writersOf = (rows: typeof fieldRows) =>
  rows.map(([name, { kind }], i) => ({
    name: name as keyof StoredProfile,
    start: `${i === 0 ? '{' : ','}"${name}":`,
    compute: (computed as Partial<Record<ProfileField, Compute>>)[name],
    valueJson: (kind === 'animals' ? idsJson : JSON.stringify) as (value: unknown) => string,
  }));

const fields = writersOf(fieldRows);
const listedFields = writersOf(fieldRows.filter(([, { isListed }]) => isListed));

function write(stored: StoredProfile, today: string, written: typeof fields): string {
  let json = '';
  for (const { name, start, compute, valueJson } of written) json += start + valueJson(compute ? compute(stored, today) : stored[name]);
  return `${json}}`;
}
