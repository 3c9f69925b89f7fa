import { type Static, type TSchema, Type } from 'typebox';
import { controls, controlsButLineBreaks, reorderings } from '../characters.ts';
import { ageBands, coats, companions, sexes, sizes, triStates } from '../domain/profile-values.ts';
import { closedBody } from '../http/closed-body.ts';
import { Int64, StringEnum } from '../http/schemas.ts';

export const attributesMax = 50;
const colorsMax = 3;
const tagsMax = 20;
const bondedMax = 10;
const descriptionLengthMax = 8_000;
const lineLengthMax = 100;
const labelLengthMax = 40;
const valueLengthMax = 1_000;
const urlLengthMax = 2_000;
const weightGramsMax = 10_000_000;
const feeMax = 1_000_000_000_000;

const [rejectedInLine, rejectedInText] = [controls + reorderings, controlsButLineBreaks + reorderings];
const withoutControls = 'without control characters, lone surrogates or bidirectional overrides';
const words = (count: number) => count.toLocaleString('en');

/** One line of text, not blank. */
const Line = (lengthMax: number, description?: string, examples?: string[]) =>
  Type.String({
    ...(description && { description }),
    minLength: 1,
    maxLength: lengthMax,
    // Linear time: spaces, one character that is not a space, then anything that is not rejected.
    pattern: `^[\\p{Zs}\\u2028\\u2029\\ufeff]*[^\\s${rejectedInLine}][^${rejectedInLine}]*$`,
    'x-must-not-contain': rejectedInLine,
    'x-must-be': `a string of 1–${words(lengthMax)} characters, not blank, ${withoutControls}`,
    ...(examples && { examples }),
  });

const Day = (description: string, example: string) =>
  Type.String({ description, pattern: '^\\d{4}-\\d{2}-\\d{2}$', 'x-must-be': `a date such as ${example}`, examples: [example] });

const OneOf = <T extends string>(values: readonly T[], description: string) => StringEnum(values, { description });

const TriStateOf = (description: string) => OneOf(triStates, description);

const Labels = (countMax: number, description: string, examples: string[][]) =>
  Type.Array(Line(labelLengthMax), {
    description,
    maxItems: countMax,
    uniqueItems: true,
    'x-must-be': `a list of at most ${countMax} different strings of 1–${labelLengthMax} characters`,
    examples,
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

const description = Type.String({
  description: 'What adopters should know, as plain text.',
  minLength: 1,
  maxLength: descriptionLengthMax,
  pattern: `^[\\n\\r\\p{Zs}\\u2028\\u2029\\ufeff]*[^\\s${rejectedInText}][^${rejectedInText}]*$`,
  'x-must-not-contain': rejectedInText,
  'x-must-be': `a string of 1–${words(descriptionLengthMax)} characters, not blank, without control characters other than line breaks, lone surrogates or bidirectional overrides`,
  examples: ['Biscuit loves long walks.\nHe is shy with strangers.'],
});
const breed = {
  primary: Line(lineLengthMax, 'The breed, as free text.', ['Labrador Retriever']),
  secondary: Line(lineLengthMax, 'A second breed.', ['Poodle']),
};
const mixed = TriStateOf('Whether the animal is a mix of breeds.');
const birthDate = Day('The birth date, which may be an estimate. Not in the future.', '2024-05-01');
const birthDateIsExact = Type.Boolean({
  description: 'Whether the birth date is known exactly. Always false without a birthDate.',
  'x-must-be': 'true or false',
});
const sex = OneOf(sexes, 'The sex.');
const size = OneOf(sizes, 'The size when fully grown.');
const weightGrams = Type.Integer({
  description: 'The weight in grams.',
  minimum: 1,
  maximum: weightGramsMax,
  examples: [24_500],
});
const colors = Labels(colorsMax, 'The colors, the main one first.', [['brown', 'white']]);
const coat = OneOf(coats, 'The coat.');
const goodWith = Object.fromEntries(
  companions.map((companion) => [companion, TriStateOf(`Whether the animal gets along with ${companion}.`)]),
) as Record<(typeof companions)[number], ReturnType<typeof TriStateOf>>;
const facts = {
  spayedNeutered: TriStateOf('Whether the animal is spayed or neutered.'),
  houseTrained: TriStateOf('Whether the animal is house-trained.'),
  vaccinated: TriStateOf('Whether the animal has its vaccinations.'),
  specialNeeds: TriStateOf('Whether the animal needs special care.'),
};
const fee = {
  amount: Type.Integer({
    description: 'In minor units of the currency: cents.',
    minimum: 0,
    maximum: feeMax,
    examples: [12_000],
  }),
  currency: Type.String({
    description: 'The code of the currency (ISO 4217).',
    pattern: '^[A-Z]{3}$',
    'x-must-be': 'three capital letters, such as EUR',
    examples: ['EUR'],
  }),
};
const bondedWith = Type.Array(Int64(), {
  description: 'Ids of animals that should be adopted together with this one. Removed animals are left out.',
  maxItems: bondedMax,
  'x-must-be': `a list of at most ${bondedMax} ids of animals`,
  examples: [[2]],
});
const tags = Labels(tagsMax, 'Words to find or group animals by.', [['playful', 'calm indoors']]);
const videoUrl = Type.String({
  description: 'A video of the animal. The service never opens it.',
  maxLength: urlLengthMax,
  pattern: `^https://[^\\s${controls}]+$`,
  'x-must-be': `an https URL of at most ${words(urlLengthMax)} characters`,
  examples: ['https://video.example/biscuit'],
});
const arrivedOn = Day('When the animal came to the shelter. Not in the future.', '2026-10-20');
const externalId = Line(lineLengthMax, "The shelter's own id of the animal, unique within the shelter.", ['A-4711']);
const attributes = (value: TSchema) => ({
  description: `Whatever else the shelter says, as at most ${attributesMax} pairs of strings. They are returned as they were sent, in the same order; names that are whole numbers come first.`,
  maxProperties: attributesMax,
  propertyNames: Line(lineLengthMax),
  additionalProperties: value,
  'x-must-be': `an object of at most ${attributesMax} strings of at most ${words(valueLengthMax)} characters, with names of 1–${lineLengthMax} characters, all ${withoutControls}`,
  examples: [{ 'Favourite toy': 'a red ball' }],
});
const attributeValue = Type.String({
  maxLength: valueLengthMax,
  pattern: `^[^${rejectedInText}]*$`,
  'x-must-not-contain': rejectedInText,
  'x-must-be': `a string of at most ${words(valueLengthMax)} characters, without control characters other than line breaks, lone surrogates or bidirectional overrides`,
});

export const ProfileSchema = withoutChecks(
  Type.Object(
    {
      description: OrNull(description),
      breeds: Type.Object({
        primary: OrNull(breed.primary),
        secondary: OrNull(breed.secondary),
        mixed,
        unknown: Type.Boolean({ description: 'True if neither breed is given. Read-only.' }),
      }),
      birthDate: OrNull(birthDate),
      birthDateIsExact,
      age: OrNull(
        OneOf(ageBands, 'The age today, by the birth date: under 1, 3 or 8 years, or older. Null without a birthDate. Read-only.'),
      ),
      sex,
      size: OrNull(size),
      weightGrams: OrNull(weightGrams),
      colors,
      coat: OrNull(coat),
      goodWith: Type.Object(goodWith),
      ...facts,
      adoptionFee: OrNull(Type.Object(fee, { description: 'What an adopter pays.' })),
      bondedWith,
      tags,
      videoUrl: OrNull(videoUrl),
      arrivedOn: OrNull(arrivedOn),
      externalId: OrNull(externalId),
      attributes: Type.Unsafe<Record<string, string>>({ type: 'object', ...attributes(attributeValue) }),
    },
    { $id: 'Profile', description: 'What adopters choose an animal by. Every field is present; what is not known is null or unknown.' },
  ),
);
export type Profile = Static<typeof ProfileSchema>;

const { attributes: _, ...listed } = ProfileSchema.properties;
/** Without attributes, which nobody searches by: with them a page of a hundred animals could have 25 MB. */
export const ListedProfileSchema = Type.Object(listed, {
  $id: 'ListedProfile',
  description: 'What adopters choose an animal by. Every field is present; what is not known is null or unknown.',
});

/** A field that may be left out; null removes its value. */
const Change = <T extends TSchema>(schema: T) => Type.Optional(OrNull(schema));

const changesOf = <T extends Record<string, TSchema>>(fields: T) =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, Change(schema)])) as {
    [Name in keyof T]: ReturnType<typeof Change<T[Name]>>;
  };

export const ProfileChangesSchema = closedBody(
  Type.Object(
    {
      ...changesOf({ description }),
      breeds: Change(Type.Object(changesOf({ ...breed, mixed }))),
      ...changesOf({ birthDate, birthDateIsExact, sex, size, weightGrams, colors, coat }),
      goodWith: Change(Type.Object(changesOf(goodWith))),
      ...changesOf(facts),
      adoptionFee: Change(Type.Object(changesOf(fee), { description: 'What an adopter pays: both fields or neither.' })),
      ...changesOf({ bondedWith, tags, videoUrl, arrivedOn, externalId }),
      attributes: Type.Optional(
        Type.Unsafe<Record<string, string | null> | null>({ type: ['object', 'null'], ...attributes(OrNull(attributeValue)) }),
      ),
    },
    {
      $id: 'ProfileChanges',
      description: 'Fields of a profile. Null removes a value. Read-only fields are ignored.',
      'x-must-be': 'an object with fields of the profile',
      examples: [{ description: 'Biscuit loves long walks.', sex: 'male', goodWith: { children: 'yes' } }],
    },
  ),
  ProfileSchema,
);
export type ProfileChanges = Static<typeof ProfileChangesSchema>;

export const profileSchemas = [ProfileSchema, ListedProfileSchema, ProfileChangesSchema];
