import { type Static, type TOptional, type TSchema, type TUnsafe, Type } from 'typebox';
import {
  type FieldRow,
  fieldRows,
  type PartRow,
  type PlainKind,
  type PlainRow,
  type Profile,
  type ProfileChanges,
  type RowOf,
  storedParts,
  storedRows,
} from '../../domain/profile-fields.ts';
import { controls, controlsButLineBreaks, reorderings } from '../../platform/characters.ts';
import { closedBody, Int64, StringEnum } from '../../platform/http/schemas.ts';

const lineLengthMax = 100;
const labelLengthMax = 40;
const valueLengthMax = 1_000;
const urlLengthMax = 2_000;

const [rejectedInLine, rejectedInText] = [controls + reorderings, controlsButLineBreaks + reorderings];
const withoutControls = 'without control characters, lone surrogates or bidirectional overrides';
const words = (count: number) => count.toLocaleString('en');

/** One line of text, not blank. */
const Line = (lengthMax: number, row?: { readonly about: string; readonly example: string }) =>
  Type.String({
    ...(row && { description: row.about }),
    minLength: 1,
    maxLength: lengthMax,
    // Linear time: spaces, one character that is not a space, then anything that is not rejected.
    pattern: `^[\\p{Zs}\\u2028\\u2029\\ufeff]*[^\\s${rejectedInLine}][^${rejectedInLine}]*$`,
    'x-must-not-contain': rejectedInLine,
    'x-must-be': `a string of 1–${words(lengthMax)} characters, not blank, ${withoutControls}`,
    ...(row && { examples: [row.example] }),
  });

const checks = /^(x-must-.*|pattern|min.*|max.*|uniqueItems|propertyNames)$/;

/** For a response: without what only a request is checked against. */
const withoutChecks = <T extends TSchema>(schema: T): T =>
  JSON.parse(JSON.stringify(schema), (name, value) => (checks.test(name) ? undefined : value));

/** The schema, or null. */
const OrNull = <T extends TSchema>(schema: T) => {
  const { type, enum: values, 'x-must-be': mustBe } = schema as { type?: string; enum?: string[]; 'x-must-be'?: string };
  return Type.Unsafe<Static<T> | null>({
    ...schema,
    type: [type, 'null'],
    ...(values && { enum: [...values, null] }),
    ...(mustBe && { 'x-must-be': `${mustBe}, or null` }),
  });
};

/** The schema for the values of each kind that are not null. */
const valueSchemas: { readonly [Kind in PlainKind]: (row: RowOf<Kind>) => TSchema } = {
  text: ({ about, lengthMax, example }) =>
    Type.String({
      description: about,
      minLength: 1,
      maxLength: lengthMax,
      pattern: `^[\\n\\r\\p{Zs}\\u2028\\u2029\\ufeff]*[^\\s${rejectedInText}][^${rejectedInText}]*$`,
      'x-must-not-contain': rejectedInText,
      'x-must-be': `a string of 1–${words(lengthMax)} characters, not blank, without control characters other than line breaks, lone surrogates or bidirectional overrides`,
      examples: [example],
    }),
  line: (row) => Line(lineLengthMax, row),
  day: ({ about, example }) =>
    Type.String({
      description: about,
      pattern: '^\\d{4}-\\d{2}-\\d{2}$',
      'x-must-be': `a date such as ${example}`,
      examples: [example],
    }),
  url: ({ about, example }) =>
    Type.String({
      description: about,
      maxLength: urlLengthMax,
      pattern: `^https://[^\\s${controls}]+$`,
      'x-must-be': `an https URL of at most ${words(urlLengthMax)} characters`,
      examples: [example],
    }),
  currency: ({ about, example }) =>
    Type.String({
      description: about,
      pattern: '^[A-Z]{3}$',
      'x-must-be': `three capital letters, such as ${example}`,
      examples: [example],
    }),
  integer: ({ about, min, max, example }) => Type.Integer({ description: about, minimum: min, maximum: max, examples: [example] }),
  flag: ({ about }) => Type.Boolean({ description: about, 'x-must-be': 'true or false' }),
  choice: ({ about, values }) => StringEnum(values, { description: about }),
  labels: ({ about, countMax, example }) =>
    Type.Array(Line(labelLengthMax), {
      description: about,
      maxItems: countMax,
      uniqueItems: true,
      'x-must-be': `a list of at most ${countMax} different strings of 1–${labelLengthMax} characters`,
      examples: [example],
    }),
  animals: ({ about, countMax, example }) =>
    Type.Array(Int64(), {
      description: about,
      maxItems: countMax,
      'x-must-be': `a list of at most ${countMax} ids of animals`,
      examples: [example],
    }),
  pairs: (row) => Type.Unsafe({ type: 'object', ...pairs(row, pairValue) }),
};

const namesOfPairs = `with names of 1–${lineLengthMax} characters, all ${withoutControls}`;
const pairs = ({ about, countMax, example }: RowOf<'pairs'>, value: TSchema) => ({
  description: about,
  maxProperties: countMax,
  propertyNames: Line(lineLengthMax),
  additionalProperties: value,
  'x-must-be': `an object of at most ${countMax} strings of at most ${words(valueLengthMax)} characters, ${namesOfPairs}`,
  examples: [example],
});
const pairValue = Type.String({
  maxLength: valueLengthMax,
  pattern: `^[^${rejectedInText}]*$`,
  'x-must-not-contain': rejectedInText,
  'x-must-be': `a string of at most ${words(valueLengthMax)} characters, without control characters other than line breaks, lone surrogates or bidirectional overrides`,
});

const valueSchema = (row: PlainRow) => (valueSchemas[row.kind] as (row: PlainRow) => TSchema)(row);
const orEmpty = (row: PlainRow) => (row.empty === null ? OrNull(valueSchema(row)) : valueSchema(row));

const mapped = <Row>(rows: ReadonlyArray<readonly [name: string, row: Row]>, schemaOf: (row: Row) => TSchema) =>
  Object.fromEntries(rows.map(([name, row]) => [name, schemaOf(row)]));

function responseSchema(row: FieldRow): TSchema {
  if (row.kind === 'group') return Type.Object(mapped(Object.entries(row.fields), orEmpty));
  if (row.kind === 'fee') return OrNull(Type.Object(mapped(Object.entries(row.fields), valueSchema), { description: row.about }));
  return orEmpty(row);
}

const asResponses = (rows: typeof fieldRows) => mapped(rows, responseSchema) as { [Name in keyof Profile]: TUnsafe<Profile[Name]> };

export const ProfileSchema = withoutChecks(
  Type.Object(asResponses(fieldRows), {
    $id: 'Profile',
    description: 'What adopters choose an animal by. Every field is present; what is not known is null or unknown.',
  }),
);

export const ListedProfileSchema = withoutChecks(
  Type.Object(asResponses(fieldRows.filter(([, { isListed }]) => isListed)), {
    $id: 'ListedProfile',
    description: 'What adopters choose an animal by. Every field is present; what is not known is null or unknown.',
  }),
);

/** A field that may be left out; null removes its value. */
const Change = (schema: TSchema) => Type.Optional(OrNull(schema));

const partsChange = (row: RowOf<'group' | 'fee'>) => mapped(storedParts(row), (part: PartRow) => Change(valueSchema(part)));

function changeSchema(row: FieldRow): TSchema {
  if (row.kind === 'group') return Change(Type.Object(partsChange(row)));
  if (row.kind === 'fee') return Change(Type.Object(partsChange(row), { description: `${row.about} Both fields or neither.` }));
  if (row.kind === 'pairs') return Type.Optional(Type.Unsafe({ type: ['object', 'null'], ...pairs(row, OrNull(pairValue)) }));
  return Change(valueSchema(row));
}

export const ProfileChangesSchema = closedBody(
  Type.Object(
    mapped(storedRows, changeSchema) as { [Name in keyof ProfileChanges]-?: TOptional<TUnsafe<NonNullable<ProfileChanges[Name]> | null>> },
    {
      $id: 'ProfileChanges',
      description: 'Fields of a profile. Null removes a value. Read-only fields are ignored.',
      'x-must-be': 'an object with fields of the profile',
      examples: [{ description: 'Biscuit loves long walks.', sex: 'male', goodWith: { children: 'yes' } }],
    },
  ),
  ProfileSchema,
);

export const profileSchemas = [ProfileSchema, ListedProfileSchema, ProfileChangesSchema];
