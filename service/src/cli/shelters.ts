import type { Command } from 'commander';
import { theService } from '../domain/actor.ts';
import { defaultScopes, scopesOfBoundKeys } from '../domain/scopes.ts';
import { adoptionModes } from '../domain/shelters.ts';
import type { ReadConfig } from '../platform/config.ts';
import { selectShelters } from '../store/shelters/shelter-queries.ts';
import {
  type NewShelter,
  NewShelterSchema,
  type Shelter,
  type ShelterChanges,
  ShelterChangesSchema,
} from '../store/shelters/shelter-schemas.ts';
import { changeShelter, createShelter } from '../store/shelters/shelters.ts';
import { checkBySchema } from './checked-options.ts';
import { commandAuthor } from './command-author.ts';
import { addListAction } from './list-command.ts';
import { named } from './names.ts';
import { choiceOption, parseId } from './option-values.ts';
import { addConfirmCommand } from './shelter-confirm.ts';
import { addQuestionsCommand } from './shelter-questions.ts';
import { onStore } from './store-command.ts';

type ValueOptions = Partial<Record<keyof Omit<Shelter, 'id'>, string>> & { readonly json?: boolean };

export function addShelterCommands(program: Command, config: ReadConfig): void {
  const shelters = program.command('shelters').description('list, create and update shelters, and set what they ask applicants');

  addListAction(shelters.command('list').description('list shelters'), config, {
    what: 'shelters',
    find: async ({ db }, page) => ({ found: await selectShelters(db, page) }),
    columns: ({ id, name, email, phone, address, timezone }) => ({ id, name, email, phone, address, timezone }),
    leastImportant: ['timezone', 'phone', 'address'],
  });

  const create = addValueOptions(shelters.command('create').description('create a shelter').requiredOption('--name <name>', 'its name'));
  onStore(create, config, (options: ValueOptions) => {
    const input = readValues(NewShelterSchema, options) as NewShelter;
    return async ({ db }) => {
      const created = await db.transaction((tx) => createShelter(tx, commandAuthor(), input), theService);
      const text = [
        `Created ${named(created.name, created.id)}.`,
        `A key for its staff: homeward keys create --client NAME --plan PLAN --shelter ${created.id} --scopes ${[...defaultScopes, ...scopesOfBoundKeys].join()}`,
      ];
      return { json: created, text };
    };
  });

  const update = addValueOptions(
    shelters
      .command('update')
      .description('change values of a shelter; an empty value removes it')
      .argument('<id>', 'the shelter', parseId)
      .option('--name <name>', 'its name'),
  );
  onStore(update, config, (id: bigint, options: ValueOptions) => {
    const changes = readValues(ShelterChangesSchema, options) as ShelterChanges;
    return async ({ catalogue, config: { mail } }) => {
      const access = { key: theService, by: commandAuthor(), expect: () => {}, mails: mail !== undefined };
      const changed = await changeShelter(catalogue, id, changes, access);
      return { json: changed, text: `Updated ${named(changed.name, changed.id)}.` };
    };
  });

  addQuestionsCommand(shelters, config);
  addConfirmCommand(shelters, config);
}

const addValueOptions = (command: Command): Command =>
  command
    .option('--description <text>', 'about the shelter')
    .option('--email <address>', 'its public e-mail address')
    .option('--phone <number>', 'its public telephone number')
    .option('--website <url>', 'its website')
    .option('--address <text>', 'where visitors find it')
    .option('--town <name>', 'the town that it is in or next to, for searches')
    .option('--postcode <code>', 'its postcode, for searches')
    .option('--country <code>', 'its country, such as AT')
    .option('--latitude <degrees>', 'degrees north, with --longitude')
    .option('--longitude <degrees>', 'degrees east, with --latitude')
    .option('--timezone <name>', 'its time zone, such as Europe/Vienna')
    .addOption(choiceOption('--adoption <how>', 'whether partners order its animals or send applications', Object.keys(adoptionModes)))
    .option('--applications-max <n>', 'how many open applications an animal of it may have')
    .option('--application-note <text>', 'what adopters should read before they apply');

function readValues(schema: object, { json: _, ...options }: ValueOptions): object {
  const body = Object.fromEntries(Object.entries(options).map(([name, text]) => [name, readValue(name, text)]));
  checkBySchema(schema, body);
  return body;
}

const numbers = ['latitude', 'longitude', 'applicationsMax'];
/** They have no null, so the schema rejects an empty text. */
const alwaysKnown = ['name', 'applicationsMax'];

function readValue(name: string, text: string): string | number | null {
  if (text === '') return alwaysKnown.includes(name) ? text : null;
  return numbers.includes(name) ? Number(text) : text;
}
