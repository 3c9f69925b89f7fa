import type { Command } from 'commander';
import { Type } from 'typebox';
import { requireEtag } from '../../access/admission/admission-hook.ts';
import { type Question, QuestionSchema, ShelterQuestionsSchema } from '../../adoption/questions/question-schemas.ts';
import { getQuestions, setQuestions } from '../../adoption/questions/questions.ts';
import { OpeningHoursSchema, openingHoursSchemas } from '../../adoption/shelters/opening-hours-schemas.ts';
import { shelterEtag } from '../../adoption/shelters/shelter-json.ts';
import { selectShelters } from '../../adoption/shelters/shelter-queries.ts';
import {
  type NewShelter,
  NewShelterSchema,
  type Shelter,
  type ShelterChanges,
  ShelterChangesSchema,
} from '../../adoption/shelters/shelter-schemas.ts';
import {
  type ConfirmedShelter,
  changeShelter,
  confirmShelter,
  createShelter,
  getShelter,
  getWaiting,
  listWaitingShelters,
  type WaitingShelter,
} from '../../adoption/shelters/shelters.ts';
import { changeSiteSettings, getSiteSettings } from '../../adoption/shelters/site.ts';
import { type SiteSettings, SiteSettingsChangesSchema, siteFields } from '../../adoption/shelters/site-schemas.ts';
import { theService } from '../../domain/actor.ts';
import { type Opening, type OpeningHours, weekdays } from '../../domain/opening-hours.ts';
import { defaultScopes, scopesOfBoundKeys } from '../../domain/scopes.ts';
import { adoptionModes } from '../../domain/shelters.ts';
import type { ReadConfig } from '../../platform/config.ts';
import { Ref } from '../../platform/http/schemas.ts';
import { checkBySchema, readJsonFile } from '../terminal/checked-options.ts';
import { commandAuthor } from '../terminal/command-records.ts';
import { type ConfirmOptions, confirm, named, printTable, UsageError } from '../terminal/output.ts';
import { addListAction, choiceOption, onStore, parseId, yesOption } from '../terminal/store-command.ts';

type ValueOptions = Partial<Record<keyof Omit<Shelter, 'id' | 'openingHours'>, string>> & { readonly json?: boolean };

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
      const scopes = [...defaultScopes, ...scopesOfBoundKeys].join();
      const text = [
        `Created ${named(created.name, created.id)}.`,
        `A key for its staff: homeward keys create --client NAME --plan PLAN --shelter ${created.id} --scopes ${scopes}`,
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
  addHoursCommand(shelters, config);
  addSiteCommand(shelters, config);
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
    .option('--application-note <text>', 'what adopters should read before they apply')
    .addOption(choiceOption('--new-animals-held <whether>', 'whether new animals begin with a hold, until staff end it', ['true', 'false']))
    .option('--mail-received <text>', 'what mail adds when an application has come in')
    .option('--mail-accepted <text>', 'what mail adds when an application is accepted');

function readValues(schema: object, { json: _, ...options }: ValueOptions): object {
  const body = Object.fromEntries(Object.entries(options).map(([name, text]) => [name, readValue(name, text)]));
  checkBySchema(schema, body, openingHoursSchemas);
  return body;
}

const numbers = ['latitude', 'longitude', 'applicationsMax'];
/** They have no null, so the schema rejects an empty text. */
const alwaysKnown = ['name', 'applicationsMax'];

function readValue(name: string, text: string): string | number | boolean | null {
  if (name === 'newAnimalsHeld') return text === 'true';
  if (text === '') return alwaysKnown.includes(name) ? text : null;
  return numbers.includes(name) ? Number(text) : text;
}

interface QuestionsOptions {
  readonly file?: string;
}

function addQuestionsCommand(shelters: Command, config: ReadConfig): void {
  const questions = shelters
    .command('questions')
    .description('show what a shelter asks those who apply for its animals, or replace it by what a file has')
    .argument('<id>', 'the shelter', parseId)
    .option('--file <file>', 'the new questions, as --json prints them; - is standard input');
  onStore(questions, config, async (id: bigint, { file }: QuestionsOptions) => {
    const given = file === undefined ? undefined : await readQuestions(file);
    return async ({ db }) => {
      const access = { key: theService, by: commandAuthor(), expect: () => {} };
      const asked = given ? await setQuestions(db, id, given, access) : await getQuestions(db, id);
      return { json: { questions: asked }, text: () => printTable(asked.map(rowOf), `Shelter ${id} asks nothing.`, { leastImportant }) };
    };
  });
}

const readQuestions = async (file: string): Promise<readonly Question[]> => {
  const options = { shared: [QuestionSchema], ifEmpty: 'To remove all questions, it must have {"questions":[]}.' };
  const { questions } = (await readJsonFile(file, ShelterQuestionsSchema, options)) as { questions: readonly Question[] };
  return questions;
};

type SiteOptions = Partial<Record<keyof SiteSettings, string>> & { readonly json?: boolean };

function addSiteCommand(shelters: Command, config: ReadConfig): void {
  const site = shelters
    .command('site')
    .description('show the colours and texts of the sites of adopters, or change them; an empty value removes one')
    .option('--accent-light <colour>', 'of links and buttons in a light scheme, such as #a83f1f')
    .option('--accent-dark <colour>', 'the same in a dark scheme, such as #f4a27e')
    .option('--imprint <text>', 'who runs the site')
    .option('--privacy <text>', 'what becomes of the data of adopters');
  onStore(site, config, ({ json: _, ...options }: SiteOptions) => {
    const changes = Object.fromEntries(Object.entries(options).map(([name, text]) => [name, text === '' ? null : text]));
    const isChange = Object.keys(changes).length > 0;
    if (isChange) checkBySchema(SiteSettingsChangesSchema, changes);
    return async ({ db }) => {
      const access = { key: theService, by: commandAuthor(), expect: () => {} };
      const settings = isChange ? await changeSiteSettings(db, changes, access) : await getSiteSettings(db);
      return { json: settings, text: siteFields.map((field) => `${field}: ${settings[field] ?? 'not given'}`) };
    };
  });
}

interface HoursOptions {
  readonly file?: string;
}

function addHoursCommand(shelters: Command, config: ReadConfig): void {
  const hours = shelters
    .command('hours')
    .description('show when visitors may come, or replace it by what a file has')
    .argument('<id>', 'the shelter', parseId)
    .option('--file <file>', 'the new opening hours, as --json prints them; - is standard input');
  onStore(hours, config, async (id: bigint, { file }: HoursOptions) => {
    const given = file === undefined ? undefined : await readHours(file);
    return async ({ db, catalogue, config: { mail } }) => {
      const access = { key: theService, by: commandAuthor(), expect: () => {}, mails: mail !== undefined };
      const { openingHours } = given ? await changeShelter(catalogue, id, given, access) : await getShelter(db, id);
      return { json: { openingHours }, text: () => printTable(rowsOfHours(openingHours), `Shelter ${id} has not said when it is open.`) };
    };
  });
}

const hoursFile = Type.Object({ openingHours: Ref(OpeningHoursSchema) }, { additionalProperties: false });

/** Without a day, the shelter says nothing of when it is open. */
async function readHours(file: string): Promise<Pick<ShelterChanges, 'openingHours'>> {
  const ifEmpty = 'To remove the opening hours, it must have {"openingHours":{"weekly":{},"exceptions":[]}}.';
  const { openingHours } = (await readJsonFile(file, hoursFile, { shared: openingHoursSchemas, ifEmpty })) as {
    openingHours: OpeningHours;
  };
  const isNothing = openingHours.exceptions.length === 0 && Object.keys(openingHours.weekly).length === 0;
  return { openingHours: isNothing ? null : openingHours };
}

function rowsOfHours(hours: Shelter['openingHours']) {
  const text = (openings: readonly Opening[]) => openings.map(({ from, to }) => `${from}-${to}`).join(', ') || 'closed';
  if (hours === null) return [];
  return [
    ...weekdays.map((day) => ({ day: day as string, open: text(hours.weekly[day] ?? []) })),
    ...hours.exceptions.map(({ date, hours: openings }) => ({ day: date, open: text(openings) })),
  ];
}

const leastImportant = ['options', 'only if', 'required'];

const rowOf = ({ id, text, type, options = [], required, onlyIf }: Question) => ({
  id,
  type,
  text,
  options: options.join(', ') || null,
  required: required ? 'yes' : 'no',
  'only if': onlyIf ? `${onlyIf.question} is ${onlyIf.is}` : null,
});

interface ConfirmShelterOptions extends ConfirmOptions {
  readonly all?: boolean;
}

const pageSize = 1_000;

/** For store staff: what shelters say of themselves, and mail and searches for places don't have yet. */
function addConfirmCommand(shelters: Command, config: ReadConfig): void {
  const command = shelters
    .command('confirm')
    .description('list what shelters have changed of their names, contact details and places, or let it into mail and searches')
    .argument('[ids...]', 'the shelters')
    .option('--all', 'all that is listed')
    .option(...yesOption);
  onStore(command, config, (given: readonly string[], { all, yes, json }: ConfirmShelterOptions) => {
    const ids = given.map(parseId);
    if (all && ids.length > 0) throw new UsageError('--all and ids contradict each other; give one.');
    return async ({ db, catalogue, config: { mail } }) => {
      const mails = mail !== undefined;
      const read = async () => {
        const found: WaitingShelter[] = [];
        for (let page: WaitingShelter[] = []; found.length === 0 || page.length === pageSize; found.push(...page)) {
          page = await listWaitingShelters(db, { afterId: found.at(-1)?.shelter.id ?? 0n, limit: pageSize, mails });
          if (page.length === 0) break;
        }
        return found;
      };
      const listed = ids.length > 0 ? await Promise.all(ids.map((id) => getWaiting(db, id, { mails }))) : await read();
      if (!all && ids.length === 0) {
        return { json: listed.map(jsonOf), text: () => printTable(listed.flatMap(rowsOf), 'Nothing waits.') };
      }
      const confirmed: ConfirmedShelter[] = [];
      for (const one of listed) {
        const { shelter } = one;
        const said = rowsOf(one).map(
          ({ field, says, confirmed: before }) => `${field}: ${says}${before === null ? '' : ` (before: ${before})`}`,
        );
        if (said.length > 0) await confirm(`${named(shelter.name, shelter.id)}: ${said.join('; ')}`, 'Confirm this?', { yes, json });
        const expect = (now: typeof shelter) => requireEtag(shelterEtag(shelter), shelterEtag(now), named(now.name, now.id));
        confirmed.push(await confirmShelter(catalogue, shelter.id, { key: theService, by: commandAuthor(), mails, expect }));
      }
      return {
        json: confirmed.map(({ shelter, ...rest }) => ({ id: shelter.id, name: shelter.name, ...rest })),
        text: confirmed.flatMap(linesOf),
      };
    };
  });
}

const jsonOf = ({ shelter, confirmed, waiting }: WaitingShelter) => ({
  id: shelter.id,
  name: shelter.name,
  waiting: waiting.map((field) => ({ field, says: shelter[field], confirmed: confirmed[field] })),
});

const rowsOf = ({ shelter, confirmed, waiting }: WaitingShelter) =>
  waiting.map((field) => ({ id: shelter.id, shelter: shelter.name, field, says: shelter[field], confirmed: confirmed[field] }));

function linesOf({ shelter, confirmed, asksByMail }: ConfirmedShelter): string[] {
  const who = named(shelter.name, shelter.id);
  const mailed = asksByMail ? [`${shelter.email} counts once the link is followed that is mailed there now.`] : [];
  if (confirmed.length === 0) return mailed.length > 0 ? mailed : [`Nothing of ${who} waits.`];
  return [`Confirmed of ${who}: ${confirmed.join(', ')}.`, ...mailed];
}
