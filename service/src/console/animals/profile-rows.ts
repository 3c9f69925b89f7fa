import { type TObject, type TSchema, Type } from 'typebox';
import { ProfileChangesSchema } from '../../animals/profiles/profile-schemas.ts';
import { type ProfileChanges, profileFields, type StoredProfile } from '../../domain/profile-fields.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import type { Initial } from '../forms/fields.ts';
import { readForm } from '../forms/form-values.ts';
import { FormError } from '../screens/page-error.ts';
import { birthDateOf } from './animal-age.ts';
import { amountOf, amountText } from './animal-words.ts';

type Json = Readonly<Record<string, unknown>>;
type Name = keyof StoredProfile;

/** How a field of a profile is in the form: its own fields there, what they show, and what they say. */
interface Row<Value, Change> {
  readonly fields: Readonly<Record<string, TSchema>>;
  readonly show: (value: Value) => Readonly<Record<string, Initial>>;
  /** `today` is that of the shelter. */
  readonly read: (sent: Json, current: Value, today: string) => Change | null;
}

const schemas = ProfileChangesSchema.properties as unknown as Readonly<Record<Name, TSchema>>;
const partsOf = (name: Name) => (schemas[name] as unknown as TObject).properties;

/** One field, which a form has as the store has it. */
const same = <Of extends Name>(name: Of) => ({
  fields: { [name]: schemas[name] },
  show: (value: StoredProfile[Of]) => ({ [name]: value as Initial }),
  read: (sent: Json) => (sent[name] ?? null) as Exclude<ProfileChanges[Of], undefined>,
});

const typed = (lengthMax: number) => Type.Optional(Type.Union([Type.String({ maxLength: lengthMax }), Type.Null()]));
const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/** What stands between commas, each once. */
const partsOfText = (value: unknown): string[] => [
  ...new Set(
    textOf(value)
      .split(',')
      .map((text) => text.trim())
      .filter((text) => text !== ''),
  ),
];

/** Several texts in one field, with commas between them: checked one by one, as the store does. */
const listed = <Of extends 'colors' | 'tags'>(name: Of, lengthMax: number) => ({
  fields: { [name]: typed(lengthMax) },
  show: (values: StoredProfile[Of]) => ({ [name]: values.join(', ') }),
  read: (sent: Json) => {
    const different = partsOfText(sent[name]);
    const schema = Type.Object({ [name]: schemas[name] });
    const result = readForm(schema, new URLSearchParams(different.map((text): [string, string] => [name, text])));
    if (result.errors.size > 0) throw new FormError(result.errors.get(name) ?? 'Check how it is written.', name);
    return result.values[name] as Exclude<ProfileChanges[Of], undefined>;
  },
});

/** Every field of a profile: one that is missing does not compile. */
const rows: { readonly [Of in Name]: Row<StoredProfile[Of], Exclude<ProfileChanges[Of], undefined>> } = {
  description: same('description'),
  breeds: {
    fields: {
      breedPrimary: partsOf('breeds')['primary'] as TSchema,
      breedSecondary: partsOf('breeds')['secondary'] as TSchema,
      breedMixed: partsOf('breeds')['mixed'] as TSchema,
    },
    show: ({ primary, secondary, mixed }) => ({ breedPrimary: primary, breedSecondary: secondary, breedMixed: mixed }),
    read: ({ breedPrimary = null, breedSecondary = null, breedMixed = null }) =>
      ({ primary: breedPrimary, secondary: breedSecondary, mixed: breedMixed }) as ProfileChanges['breeds'] & object,
  },
  birthDate: {
    fields: { birthDate: schemas.birthDate, age: typed(40) },
    show: (birthDate) => ({ birthDate, age: null }),
    read: (sent, _, today) => {
      const age = textOf(sent['age']);
      if (age === '') return same('birthDate').read(sent);
      const birthDate = birthDateOf(age, today);
      if (birthDate === undefined) throw new FormError('Write an age, such as 8 weeks, 5 months or 2 years.', 'age');
      return birthDate;
    },
  },
  birthDateIsExact: {
    ...same('birthDateIsExact'),
    // Who writes an age does not know the day.
    read: (sent) => (textOf(sent['age']) === '' ? same('birthDateIsExact').read(sent) : false),
  },
  sex: same('sex'),
  size: same('size'),
  weightGrams: {
    fields: { weight: Type.Optional(Type.Union([Type.Number({ minimum: 0.001, maximum: 10_000 }), Type.Null()])) },
    show: (grams) => ({ weight: grams === null ? null : grams / 1_000 }),
    read: ({ weight }) => (typeof weight === 'number' ? Math.round(weight * 1_000) : null),
  },
  colors: listed('colors', 150),
  coat: same('coat'),
  goodWith: {
    fields: partsOf('goodWith'),
    show: (goodWith) => goodWith,
    read: ({ children = null, dogs = null, cats = null }) => ({ children, dogs, cats }) as ProfileChanges['goodWith'] & object,
  },
  spayedNeutered: same('spayedNeutered'),
  houseTrained: same('houseTrained'),
  vaccinated: same('vaccinated'),
  specialNeeds: same('specialNeeds'),
  adoptionFee: {
    fields: { fee: typed(20), currency: typed(3) },
    show: (fee) => ({ fee: fee && amountText(fee), currency: fee?.currency ?? 'EUR' }),
    read: ({ fee, currency }) => {
      const [amountGiven, code] = [textOf(fee), textOf(currency).toUpperCase()];
      if (amountGiven === '') return null;
      if (!/^[A-Z]{3}$/.test(code)) throw new FormError('Three letters, such as EUR.', 'currency');
      const amount = amountOf(amountGiven, code);
      if (amount === undefined) throw new FormError('Write an amount, such as 120 or 120.50.', 'fee');
      return { amount, currency: code };
    },
  },
  bondedWith: {
    fields: { bondedWith: typed(220) },
    show: (ids) => ({ bondedWith: ids.join(', ') }),
    read: (sent) => {
      const ids = partsOfText(sent['bondedWith']).map((text) => {
        const id = parseInt64(text);
        if (id === undefined) throw new FormError('Write the numbers of animals, such as 12, 15.', 'bondedWith');
        return id;
      });
      const { countMax } = profileFields.bondedWith;
      if (ids.length > countMax) throw new FormError(`At most ${countMax}.`, 'bondedWith');
      return ids;
    },
  },
  tags: listed('tags', 900),
  videoUrl: same('videoUrl'),
  arrivedOn: same('arrivedOn'),
  externalId: same('externalId'),
  attributes: {
    fields: { attributes: typed(60_000) },
    show: (attributes) => ({ attributes: linesOf(attributes) }),
    // What was not touched stays as it is: a name may have a colon.
    read: ({ attributes }, current) => (textOf(attributes) === linesOf(current) ? {} : pairsOf(textOf(attributes), current)),
  },
};

const breakSign = ' ⏎ ';
const linesOf = (pairs: Readonly<Record<string, string>>): string =>
  Object.entries(pairs)
    .map(([name, value]) => `${name}: ${value.replaceAll('\n', breakSign)}`)
    .join('\n')
    .trim();

/** A pair a line. Those that are gone are removed. */
function pairsOf(text: string, current: Readonly<Record<string, string>>): Record<string, string | null> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const pairs = lines.map((line): [string, string] => {
    const [, name, value = ''] = /^\s*([^:]+):(.*)$/.exec(line) ?? [];
    if (name === undefined)
      throw new FormError(`Write a name, a colon and what it is on each line. This line has no colon: ${line.slice(0, 60)}`, 'attributes');
    return [name.trim(), value.trim().replaceAll(breakSign, '\n')];
  });
  const removed = Object.keys(current).map((name): [string, null] => [name, null]);
  return Object.fromEntries([...removed, ...pairs]);
}

const entries = Object.entries(rows) as unknown as ReadonlyArray<readonly [Name, Row<unknown, unknown>]>;

export const profileForm: TObject = Type.Object(Object.fromEntries(entries.flatMap(([, { fields }]) => Object.entries(fields))));

export const shownOf = (profile: StoredProfile): Readonly<Record<string, Initial>> =>
  Object.fromEntries(entries.flatMap(([name, { show }]) => Object.entries(show(profile[name]))));

/** Everything that the form says of the animal. */
export const changesOf = (sent: Json, current: StoredProfile, today: string): ProfileChanges =>
  Object.fromEntries(entries.map(([name, { read }]) => [name, read(sent, current[name], today)])) as ProfileChanges;

/** Reads each field by itself, so that what is wrong with one hides nothing of another. */
export const eachChange = (sent: Json, current: StoredProfile, today: string): ReadonlyArray<() => Partial<ProfileChanges>> =>
  entries.map(([name, { read }]) => () => ({ [name]: read(sent, current[name], today) }));
