import { type Static, type TString, Type } from 'typebox';
import { colourPattern, contrastMin } from '../../domain/site-colours.ts';
import { closedBody, PlainText } from '../../platform/http/schemas.ts';

const textLengthMax = 20_000;
const examples = {
  accentLight: '#a83f1f',
  accentDark: '#f4a27e',
  imprint: 'Riverside Animals, Handelskai 1, 1020 Vienna, Austria',
  privacy: 'We store what you write in an application until it has ended for 90 days.',
};

const colour = (scheme: string, example: string) =>
  Type.String({
    description: `The colour of links and buttons in a ${scheme} scheme, with a contrast of at least ${contrastMin} to its ground.`,
    pattern: colourPattern,
    'x-must-be': `a colour such as ${example}`,
    examples: [example],
  });

const values = {
  accentLight: colour('light', examples.accentLight),
  accentDark: colour('dark', examples.accentDark),
  imprint: PlainText('Who runs the site, as plain text: an empty line between two paragraphs.', [examples.imprint], textLengthMax),
  privacy: PlainText('What becomes of the data of adopters, in the same way.', [examples.privacy], textLengthMax),
};

/** Null is accepted too: it removes the value. */
const orNull = <T extends TString>(schema: T) =>
  Type.Union([schema, Type.Null()], { 'x-must-be': `${(schema as unknown as { 'x-must-be': string })['x-must-be']}, or null` });

export const SiteSettingsSchema = Type.Object(
  {
    accentLight: shown(values.accentLight),
    accentDark: shown(values.accentDark),
    imprint: shown(values.imprint),
    privacy: shown(values.privacy),
  },
  {
    $id: 'SiteSettings',
    description: 'What the store wants the sites of its adopters to look like and to say. A value that is not known is null.',
    examples: [examples],
  },
);
export type SiteSettings = Static<typeof SiteSettingsSchema>;
export const siteFields = Object.keys(SiteSettingsSchema.properties) as Array<keyof SiteSettings>;

/** Without constraints: what was stored under earlier rules is still shown. */
function shown(schema: TString) {
  const { description = '', examples: given = [] } = schema as { readonly description?: string; readonly examples?: string[] };
  return Type.Union([Type.String({ description, examples: given }), Type.Null()]);
}

const changes = {
  accentLight: Type.Optional(orNull(values.accentLight)),
  accentDark: Type.Optional(orNull(values.accentDark)),
  imprint: Type.Optional(orNull(values.imprint)),
  privacy: Type.Optional(orNull(values.privacy)),
};

export const SiteSettingsChangesSchema = closedBody(
  Type.Object(changes, {
    $id: 'SiteSettingsChanges',
    description: 'A JSON merge patch: what is left out does not change, and null removes a value.',
    anyOf: Object.keys(changes).map((field) => ({ required: [field] })),
    'x-must-be': `an object with at least one of ${Object.keys(changes).join(', ')}`,
    examples: [{ accentLight: examples.accentLight }],
  }),
  SiteSettingsSchema,
);
export type SiteSettingsChanges = Static<typeof SiteSettingsChangesSchema>;

export const siteSchemas = [SiteSettingsSchema, SiteSettingsChangesSchema];
