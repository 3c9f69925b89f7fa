import type { Command } from 'commander';
import type { ReadConfig } from '../config.ts';
import { openDependencies } from '../dependencies.ts';
import { defaultScopes, scopesOfBoundKeys } from '../domain/scopes.ts';
import { createValidatorCompiler } from '../http/validation.ts';
import { selectShelters } from '../shelters/shelter-queries.ts';
import { type NewShelter, NewShelterSchema, type Shelter, type ShelterChanges, ShelterChangesSchema } from '../shelters/shelter-schemas.ts';
import { changeShelter, createShelter } from '../shelters/shelters.ts';
import { addListOptions, type ListOptions, printNextPageHint, readListOptions } from './list-options.ts';
import { named } from './names.ts';
import { parseId, printJson, printLines, printTable, UsageError } from './output.ts';
import { asUsageError } from './rejections.ts';

type ValueOptions = Partial<Record<keyof Omit<Shelter, 'id'>, string>> & { readonly json?: boolean };

export function addShelterCommands(program: Command, config: ReadConfig): void {
  const shelters = program.command('shelters').description('list, create and update shelters');

  addListOptions(shelters.command('list').description('list shelters'), 'shelters').action(async (options: ListOptions) => {
    const { afterId, limit } = readListOptions(options);
    await using dependencies = await openDependencies(config());
    const found = await selectShelters(dependencies.db, { afterId, limit: limit + 1 });
    const rows = found.slice(0, limit);
    if (options.json) return printJson(rows);
    printTable(
      rows.map(({ id, name, email, phone, address, timezone }) => ({ id, name, email, phone, address, timezone })),
      'No shelters match.',
      { leastImportant: ['timezone', 'phone', 'address'] },
    );
    printNextPageHint('homeward shelters list', rows, found);
  });

  addValueOptions(shelters.command('create').description('create a shelter').requiredOption('--name <name>', 'its name')).action(
    async ({ json, ...options }: ValueOptions) => {
      const input = readValues(NewShelterSchema, options) as NewShelter;
      await using dependencies = await openDependencies(config());
      const created = await dependencies.db.transaction((tx) => createShelter(tx, input)).catch(asUsageError);
      if (json) printJson(created);
      else
        printLines(
          `Created ${named(created.name, created.id)}.`,
          `A key for its staff: homeward keys create --client NAME --plan PLAN --shelter ${created.id} --scopes ${[...defaultScopes, ...scopesOfBoundKeys].join()}`,
        );
    },
  );

  addValueOptions(
    shelters
      .command('update')
      .description('change values of a shelter; an empty value removes it')
      .argument('<id>', 'the shelter')
      .option('--name <name>', 'its name'),
  ).action(async (id: string, { json, ...options }: ValueOptions) => {
    const shelterId = parseId(id);
    const changes = readValues(ShelterChangesSchema, options) as ShelterChanges;
    await using dependencies = await openDependencies(config());
    const changed = await changeShelter(dependencies.catalogue, shelterId, changes, () => {}).catch(asUsageError);
    if (json) printJson(changed);
    else printLines(`Updated ${named(changed.name, changed.id)}.`);
  });
}

const addValueOptions = (command: Command): Command =>
  command
    .option('--description <text>', 'about the shelter')
    .option('--email <address>', 'its public e-mail address')
    .option('--phone <number>', 'its public telephone number')
    .option('--website <url>', 'its website')
    .option('--address <text>', 'where visitors find it')
    .option('--latitude <degrees>', 'degrees north, with --longitude')
    .option('--longitude <degrees>', 'degrees east, with --latitude')
    .option('--timezone <name>', 'its time zone, such as Europe/Vienna')
    .option('--json', 'print one JSON object');

/** Checks the options by the schema of the API's body, so that a command stores only what a request may contain too. */
function readValues(schema: object, options: Omit<ValueOptions, 'json'>): object {
  const body = Object.fromEntries(Object.entries(options).map(([name, text]) => [name, readValue(name, text)]));
  const validate = createValidatorCompiler([])({ schema, httpPart: 'body', method: '', url: '' });
  const { error } = validate(body) as { error?: Error };
  if (error) throw new UsageError(error.message);
  return body;
}

function readValue(name: string, text: string): string | number | null {
  if (text === '' && name !== 'name') return null;
  return name === 'latitude' || name === 'longitude' ? Number(text) : text;
}
