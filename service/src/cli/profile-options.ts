// The fields of a profile as options of a command, from the one table of them.

import { type Command, Option } from 'commander';
import { type PlainKind, type PlainRow, type ProfileChanges, type RowOf, storedParts, storedRows } from '../domain/profile-fields.ts';
import { ProfileChangesSchema } from '../store/profiles/profile-schemas.ts';
import { checkBySchema } from './checked-options.ts';
import { parseId } from './option-values.ts';
import { UsageError } from './output.ts';

interface ProfileOption {
  readonly option: Option;
  readonly field: string;
  /** Of a group. */
  readonly part?: string;
  readonly schema: object;
}

type Nested = { readonly [name: string]: object & { readonly properties?: Nested } };

/** How the value of each kind is written. */
const placeholders: { readonly [Kind in PlainKind]: string } = {
  text: 'text',
  line: 'text',
  day: 'date',
  url: 'url',
  currency: 'code',
  integer: 'n',
  flag: 'value',
  choice: 'value',
  labels: 'list',
  animals: 'ids',
  pairs: 'name=value',
};

const hints: { readonly [Kind in PlainKind]?: string } = {
  labels: 'with commas between them',
  animals: 'with commas between them',
  pairs: 'can be repeated; an empty value removes one',
};

/** Adds an option for each field. */
export function addProfileOptions(command: Command): Command {
  for (const { option } of profileOptions()) command.addOption(option);
  return command;
}

/** The changes that the options stand for. An empty value removes what is known. */
export function readProfileOptions(given: Readonly<Record<string, unknown>>): ProfileChanges {
  const changes: Record<string, unknown> = {};
  for (const { option, field, part, schema } of profileOptions()) {
    const typed = given[option.attributeName()];
    if (typed === undefined) continue;
    const value = typed === '' ? null : typed;
    checkBySchema({ type: 'object', properties: { [option.long ?? '']: schema } }, { [option.long ?? '']: value });
    changes[field] = part === undefined ? value : { ...(changes[field] as object | undefined), [part]: value };
  }
  return changes as ProfileChanges;
}

function profileOptions(): ProfileOption[] {
  const schemas = ProfileChangesSchema.properties as unknown as Nested;
  return storedRows.flatMap(([field, row]): ProfileOption[] => {
    const schema = schemas[field] ?? {};
    if (!('fields' in row)) return [{ option: optionOf([field], row), field, schema }];
    return storedParts(row).map(([part, partRow]) => ({
      option: optionOf([field, part], partRow),
      field,
      part,
      schema: schema.properties?.[part] ?? {},
    }));
  });
}

function optionOf(names: readonly string[], row: PlainRow): Option {
  const long = `--${names.join('-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const option = new Option(`${long} <${placeholders[row.kind]}>`, [firstSentence(row.about), hints[row.kind]].filter(Boolean).join('; '));
  const choices = row.kind === 'flag' ? ['true', 'false'] : row.kind === 'choice' ? row.values : undefined;
  if (choices) option.choices([...choices]);
  return option.argParser((text, before) => parse(row, text, { long, choices, before }));
}

/** In the style of other options. */
const firstSentence = (text: string) => `${text[0]?.toLowerCase()}${text.slice(1)}`.split(/\.(?: |$)/)[0] ?? '';

interface Context {
  readonly long: string;
  readonly choices: readonly string[] | undefined;
  /** The value of the same option before. */
  readonly before: unknown;
}

function parse(row: PlainRow, text: string, { long, choices, before }: Context): unknown {
  if (row.kind === 'pairs') return { ...(before as object | undefined), ...readPair(row, long, text) };
  if (text === '') return text;
  if (choices && !choices.includes(text)) throw new UsageError(`${long} must be one of ${choices.join(', ')}; got "${text}".`);
  if (row.kind === 'flag') return text === 'true';
  // Anything else is rejected by the schema, which says what it must be.
  if (row.kind === 'integer') return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  const parts = () => text.split(',').map((part) => part.trim());
  if (row.kind === 'labels') return parts();
  return row.kind === 'animals' ? parts().map(parseId) : text;
}

function readPair({ example }: RowOf<'pairs'>, long: string, text: string): Record<string, string | null> {
  const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name !== '') return { [name]: value === '' ? null : value };
  const [sample = ''] = Object.entries(example).map((pair) => pair.join('='));
  throw new UsageError(`${long} must be a name and a value, such as '${sample}'; got "${text}".`);
}
