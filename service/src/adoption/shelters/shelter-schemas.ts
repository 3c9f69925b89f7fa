import { type Static, type TSchema, type TString, Type } from 'typebox';
import { type AdoptionMode, adoptionDefault, adoptionModes } from '../../domain/shelters.ts';
import { controls, reorderings } from '../../platform/characters.ts';
import { pageQuery } from '../../platform/http/paging.ts';
import { closedBody, EmailText, Int64, PlainName, PlainText, StringEnum } from '../../platform/http/schemas.ts';
import { GivenOpeningHours, openingHoursSchemas } from './opening-hours-schemas.ts';

const example = {
  name: 'Danube Shelter',
  description: 'Dogs and cats, open on weekends.',
  email: 'hello@danube.example',
  phone: '+43 1 555 01 23',
  website: 'https://danube.example/',
  address: 'Handelskai 1, 1020 Vienna, Austria',
  town: 'Vienna',
  postcode: '1020',
  country: 'AT',
  latitude: 48.22,
  longitude: 16.4,
  timezone: 'Europe/Vienna',
};
const mailExamples = {
  received: 'We reply on Tuesdays and Fridays.',
  accepted: 'Bring your identity card, and a carrier or a lead.',
};
const noteExample = 'We look for homes with a garden. Our staff reply within a week.';

/** In characters. */
export const lengthsMax = {
  description: 8_000,
  phone: 40,
  website: 2_000,
  address: 500,
  town: 100,
  postcode: 20,
  timezone: 64,
  applicationNote: 2_000,
  mailReceived: 1_000,
  mailAccepted: 1_000,
};
const applicationsMaxMax = 500;
/** Where nothing else is given. */
export const shelterDefaults = { adoption: adoptionDefault, applicationsMax: 100, newAnimalsHeld: false } as const;

/** One line of text. */
const line = (description: string, lengthMax: number, sample: string) =>
  Type.String({
    description,
    maxLength: lengthMax,
    pattern: `^[^${controls}${reorderings}]*$`,
    'x-must-not-contain': controls + reorderings,
    'x-must-be': `a string of at most ${lengthMax.toLocaleString('en')} characters, without control characters, lone surrogates or bidirectional overrides`,
    examples: [sample],
  });

const degrees = (description: string, max: number, sample: number) =>
  Type.Number({ description, minimum: -max, maximum: max, 'x-must-be': `a number from -${max} to ${max}`, examples: [sample] });

const given = {
  description: PlainText('About the shelter, as plain text.', [example.description], lengthsMax.description),
  email: EmailText("The shelter's public e-mail address.", example.email),
  phone: line("The shelter's public telephone number.", lengthsMax.phone, example.phone),
  website: line("The shelter's website: an http or https URL.", lengthsMax.website, example.website),
  address: PlainText('Where visitors find the shelter.', [example.address], lengthsMax.address),
  town: line('The town that the shelter is in or next to. Searches find its animals by it.', lengthsMax.town, example.town),
  postcode: line('The postcode of the shelter. Searches find its animals by it.', lengthsMax.postcode, example.postcode),
  country: Type.String({
    description: 'The country of the shelter, by its code of two letters (ISO 3166).',
    pattern: '^[A-Z]{2}$',
    'x-must-be': 'a code of two capital letters, such as AT',
    examples: [example.country],
  }),
  latitude: degrees('In degrees north. Given together with the longitude.', 90, example.latitude),
  longitude: degrees('In degrees east. Given together with the latitude.', 180, example.longitude),
  timezone: line('The time zone of the shelter, by its name in the IANA database.', lengthsMax.timezone, example.timezone),
  applicationNote: PlainText('What adopters should read before they apply, as plain text.', [noteExample], lengthsMax.applicationNote),
  mailReceived: PlainText(
    'What the message to an adopter adds whose application has come in, as plain text.',
    [mailExamples.received],
    lengthsMax.mailReceived,
  ),
  mailAccepted: PlainText('The same of an application that is accepted.', [mailExamples.accepted], lengthsMax.mailAccepted),
};

/** Null is accepted too: it removes the value. */
const orNull = <T extends TString | ReturnType<typeof degrees>>(schema: T) =>
  Type.Optional(
    Type.Union([schema, Type.Null()], { 'x-must-be': `${(schema as unknown as { 'x-must-be': string })['x-must-be']}, or null` }),
  );

const openingHours = Type.Optional(
  Type.Union([GivenOpeningHours, Type.Null()], {
    'x-must-be':
      'an object with weekly, which has times such as {"from":"09:30","to":"17:00"} by weekday, and exceptions, which has days with date and hours, or null',
  }),
);

const optional = Object.fromEntries(Object.entries(given).map(([field, schema]) => [field, orNull(schema)])) as {
  [Name in keyof typeof given]: ReturnType<typeof orNull<(typeof given)[Name]>>;
};

const name = PlainName("The shelter's name.", [example.name]);

const modes = Object.keys(adoptionModes) as AdoptionMode[];
const aboutModes = modes.map((mode) => `${mode}: ${adoptionModes[mode]}`).join(' ');
/** Always known, so null is not accepted. */
const settings = {
  adoption: StringEnum(modes, { description: `How its animals are adopted. ${aboutModes}`, examples: [shelterDefaults.adoption] }),
  applicationsMax: Type.Integer({
    description:
      'How many open applications of partners an animal of the shelter may have. Where it is 10 or more, a fifth of them, and at least 3, is kept from each client for the others. Staff can enter as many again.',
    minimum: 1,
    maximum: applicationsMaxMax,
    examples: [shelterDefaults.applicationsMax],
  }),
  newAnimalsHeld: Type.Boolean({
    description: 'Whether each new animal begins with a hold of the reason `other`, until staff end it.',
    'x-must-be': 'true or false',
    examples: [shelterDefaults.newAnimalsHeld],
  }),
};
const withDefault = <T extends TSchema>(schema: T, value: unknown) => Type.Optional({ ...schema, default: value } as T);

/** Without constraints: what was stored under earlier rules is still shown. */
const text = (description: string, sample: string) => Type.Union([Type.String({ description, examples: [sample] }), Type.Null()]);
const number = (description: string, sample: number) => Type.Union([Type.Number({ description, examples: [sample] }), Type.Null()]);

export const ShelterSchema = Type.Object(
  {
    id: Int64({ description: 'Unique identifier assigned by the service.', examples: [2] }),
    name: Type.String({ description: "The shelter's name.", examples: [example.name] }),
    description: text('About the shelter, as plain text.', example.description),
    email: text("The shelter's public e-mail address.", example.email),
    phone: text("The shelter's public telephone number.", example.phone),
    website: text("The shelter's website.", example.website),
    address: text('Where visitors find the shelter.', example.address),
    town: text('The town that the shelter is in or next to.', example.town),
    postcode: text('The postcode of the shelter.', example.postcode),
    country: text('By its code of two letters (ISO 3166).', example.country),
    latitude: number('In degrees north.', example.latitude),
    longitude: number('In degrees east.', example.longitude),
    timezone: text('By its name in the IANA database.', example.timezone),
    ...settings,
    applicationNote: text('What adopters should read before they apply, as plain text.', noteExample),
    openingHours: Type.Union([GivenOpeningHours, Type.Null()], { description: 'When visitors may come. Null: nobody has said it.' }),
    mailReceived: text(
      'What the message to an adopter adds whose application has come in, once store staff have confirmed it.',
      mailExamples.received,
    ),
    mailAccepted: text('The same of an application that is accepted.', mailExamples.accepted),
  },
  {
    $id: 'Shelter',
    description: 'Every animal belongs to a shelter. A value that is not known is null.',
    examples: [
      { id: 2, ...example, ...shelterDefaults, applicationNote: null, openingHours: null, mailReceived: null, mailAccepted: null },
    ],
  },
);
export type Shelter = Static<typeof ShelterSchema>;

/** What is given of a shelter. */
export type ShelterValues = Omit<Shelter, 'id'>;
export const shelterFields = Object.keys(ShelterSchema.properties).filter((field) => field !== 'id') as Array<keyof ShelterValues>;

const { adoption, applicationsMax, newAnimalsHeld } = settings;

export const NewShelterSchema = closedBody(
  Type.Object(
    {
      name,
      ...optional,
      adoption: withDefault(adoption, shelterDefaults.adoption),
      applicationsMax: withDefault(applicationsMax, shelterDefaults.applicationsMax),
      newAnimalsHeld: withDefault(newAnimalsHeld, shelterDefaults.newAnimalsHeld),
      openingHours,
    },
    { $id: 'NewShelter', examples: [example] },
  ),
  ShelterSchema,
);
export type NewShelter = Static<typeof NewShelterSchema>;

const changes = {
  name: Type.Optional(name),
  ...optional,
  adoption: Type.Optional(adoption),
  applicationsMax: Type.Optional(applicationsMax),
  newAnimalsHeld: Type.Optional(newAnimalsHeld),
  openingHours,
};

export const ShelterChangesSchema = closedBody(
  Type.Object(changes, {
    $id: 'ShelterChanges',
    description: 'A JSON merge patch: what is left out does not change, and null removes a value.',
    anyOf: Object.keys(changes).map((field) => ({ required: [field] })),
    'x-must-be': `an object with at least one of ${Object.keys(changes).join(', ')}`,
    examples: [{ phone: example.phone }],
  }),
  ShelterSchema,
);
export type ShelterChanges = Static<typeof ShelterChangesSchema>;

export const PetShelterSchema = closedBody(
  Type.Object(
    { shelterId: Int64({ description: 'The shelter that the animal belongs to.', examples: [1] }) },
    { $id: 'PetShelter', examples: [{ shelterId: 1 }] },
  ),
);

export const shelterSchemas = [...openingHoursSchemas, NewShelterSchema, ShelterChangesSchema, ShelterSchema, PetShelterSchema];

export const ListSheltersQuery = Type.Object(pageQuery('shelters'), { additionalProperties: false });
