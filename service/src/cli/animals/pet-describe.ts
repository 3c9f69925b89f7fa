import { type Command, Option } from 'commander';
import { dayOf } from '../../animals/profiles/profile-changes.ts';
import { profileOf } from '../../animals/profiles/profile-json.ts';
import { ProfileChangesSchema } from '../../animals/profiles/profile-schemas.ts';
import { writeProfile } from '../../animals/profiles/profiles.ts';
import type { Dependencies } from '../../dependencies.ts';
import { theService } from '../../domain/actor.ts';
import {
  type PlainKind,
  type PlainRow,
  type ProfileChanges,
  type RowOf,
  type StoredProfile,
  storedParts,
  storedRows,
} from '../../domain/profile-fields.ts';
import type { ReadConfig } from '../../platform/config.ts';
import { checkBySchema, readJsonFile } from '../terminal/checked-options.ts';
import { UsageError } from '../terminal/output.ts';
import { onStore, parseId } from '../terminal/store-command.ts';
import { getNamedPet, petName } from './named-pets.ts';
import { fieldWords } from './pet-show.ts';

export function addDescribePetCommand(pets: Command, config: ReadConfig): void {
  const describe = pets
    .command('describe')
    .description('write the profile of an animal: what is given changes, an empty value removes what is known, and the rest stays')
    .argument('<id>', 'the animal', parseId)
    .option('--from <file>', 'a JSON file with fields of a profile, as a request has them; - is standard input. Options win');
  onStore(addProfileOptions(describe), config, async (id: bigint, { from, ...options }: { readonly from?: string }) => {
    const ofOptions = readProfileOptions(options);
    const ofFile = from === undefined ? {} : await readProfileFile(from);
    const changes = merged(ofFile, ofOptions);
    if (Object.keys(changes).length === 0) {
      throw new UsageError("Give what to change, such as --sex male, or a file with --from. 'homeward pets describe --help' lists all.");
    }
    return async (dependencies) => {
      const pet = await getNamedPet(dependencies.db, id);
      const { before, after } = await write(dependencies, id, changes);
      const changed = storedRows.map(([name]) => name).filter((name) => !isSame(before[name], after[name]));
      const what = changed.map(fieldWords).join(', ');
      const text =
        changed.length === 0
          ? `The profile of ${petName(pet)} says so already.`
          : [`Changed the profile of ${petName(pet)}: ${what}.`, `See it: homeward pets show ${id}`];
      return { json: { id, profile: profileOf(after, dayOf(Date.now())) }, text };
    };
  });
}

const readProfileFile = async (file: string): Promise<ProfileChanges> =>
  (await readJsonFile(file, ProfileChangesSchema, { ifEmpty: 'It must have an object with fields of a profile.' })) as ProfileChanges;

/** Of a field that both have parts of, the parts of both are taken. */
function merged(ofFile: ProfileChanges, ofOptions: ProfileChanges): ProfileChanges {
  const isParts = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
  const [file, options] = [ofFile as Record<string, unknown>, ofOptions as Record<string, unknown>];
  const entries = Object.entries(options).map(([name, value]) => {
    const isMerged = isParts(value) && isParts(file[name]);
    return [name, isMerged ? { ...(file[name] as object), ...(value as object) } : value];
  });
  return { ...file, ...Object.fromEntries(entries) };
}

/** The same operation as the API's merge patch, done as the store's staff. */
async function write(
  { db, catalogue }: Dependencies,
  id: bigint,
  changes: ProfileChanges,
): Promise<{ before: StoredProfile; after: StoredProfile }> {
  let before: StoredProfile | undefined;
  const expect = (_: unknown, current: StoredProfile) => {
    before = current;
  };
  const after = await writeProfile({ db, catalogue }, id, theService, { how: 'merge', changes, nowMs: Date.now(), expect });
  return { before: before ?? after, after };
}

const isSame = (one: unknown, other: unknown): boolean => asText(one) === asText(other);
const asText = (value: unknown) => JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one));

// The fields of a profile as options of a command, from the one table of them.

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
function addProfileOptions(command: Command): Command {
  for (const { option } of profileOptions()) command.addOption(option);
  return command;
}

/** The changes that the options stand for. An empty value removes what is known. */
function readProfileOptions(given: Readonly<Record<string, unknown>>): ProfileChanges {
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
