import type { Command } from 'commander';
import { endAdopterLinks, isReached } from '../../adoption/applications/adopter-links.ts';
import { rerunning } from '../../adoption/applications/application-errors.ts';
import type { NamedApplication } from '../../adoption/applications/application-queries.ts';
import { ApplicationNoteSchema, DeclineSchema } from '../../adoption/applications/application-schemas.ts';
import { actOnApplication, setNote } from '../../adoption/applications/applications.ts';
import {
  bulkHeldSeconds,
  countToEnd,
  findBulkEndForStaff,
  listBulkEnds,
  type NamedBulkEnd,
  startBulkEnd,
  takeBulkEndBack,
} from '../../adoption/applications/bulk-ends.ts';
import { countOfPet } from '../../adoption/applications/count-queries.ts';
import type { Dependencies } from '../../dependencies.ts';
import { theService } from '../../domain/actor.ts';
import { type ApplicationCallerAction, allowsApplicationAction, applicationCallerActions } from '../../domain/application-states.ts';
import type { ReadConfig } from '../../platform/config.ts';
import type { Db } from '../../platform/db/handles.ts';
import { getClientByName } from '../access/clients.ts';
import { checkBySchema } from '../terminal/checked-options.ts';
import {
  commandAuthor,
  type JournalOptions,
  openCommandJournal,
  reportMissingLine,
  withoutJournalOption,
} from '../terminal/command-records.ts';
import { type ConfirmOptions, confirm, named, printTable, UsageError } from '../terminal/output.ts';
import { type CommandResult, onStore, parseId, printsArray, yesOption } from '../terminal/store-command.ts';
import { adopterOf, applicationWithActions, clientOf, getNamedApplication, petOf } from './named.ts';

interface ActOptions extends ConfirmOptions {
  readonly message?: string;
}

const descriptions: Readonly<Record<ApplicationCallerAction, string>> = {
  review: 'note that staff consider an application',
  accept: 'choose the adopter of an application: an approved order reserves the animal, and other applications stay open',
  decline: 'decline an application',
  reopen: 'consider an application again that was declined or closed, or withdrawn by a link of its adopter in the last 7 days',
  withdraw: 'withdraw an application, as its adopter has asked; if it is accepted, its order is cancelled',
};

/** The adopter is told, or an animal reserved or released. */
const confirmedActions: readonly ApplicationCallerAction[] = ['accept', 'decline', 'withdraw'];

export function addApplicationActionCommands(applications: Command, config: ReadConfig): void {
  for (const name of applicationCallerActions) {
    const command = applications.command(name).description(descriptions[name]).argument('<id>', 'the application', parseId);
    if (name === 'decline') command.option('--message <text>', 'what the adopter is told');
    if (confirmedActions.includes(name)) command.option(...yesOption);
    onStore(command, config, (id: bigint, options: ActOptions) => {
      if (options.message !== undefined) {
        checkBySchema({ type: 'object', properties: { '--message': DeclineSchema.properties.message } }, { '--message': options.message });
      }
      return async (dependencies) => act(dependencies, await getNamedApplication(dependencies.db, id), name, options);
    });
  }

  const note = applications
    .command('note')
    .description('add a note that only staff see; without a text, remove the newest that a command has added')
    .argument('<id>', 'the application', parseId)
    .argument('[text]', 'the note');
  onStore(note, config, (id: bigint, text: string | undefined) => {
    checkBySchema(ApplicationNoteSchema, { note: text ?? null });
    return async ({ db }) => {
      await getNamedApplication(db, id);
      await db.transaction((tx) => setNote(tx, id, text ?? null, theService), theService);
      const done = text === undefined ? `Removed the note of application ${id}.` : `Added the note to application ${id}.`;
      return { json: applicationWithActions(await getNamedApplication(db, id)), text: done };
    };
  });
}

/** The same operation as the API's, done as the store's staff. */
async function act(
  { db, catalogue, config }: Dependencies,
  application: NamedApplication,
  name: ApplicationCallerAction,
  { message, ...options }: ActOptions,
): Promise<CommandResult> {
  const { id } = application;
  // What is not allowed fails without a question.
  if (confirmedActions.includes(name) && allowsApplicationAction(application, name)) {
    const what = `Application ${id} of ${clientOf(application)}: ${adopterOf(application)} for ${petOf(application)}, ${application.status}`;
    await confirm(what, `${await consequence(db, application, name)}${capitalised(name)} it?`, options);
  }
  const { orderExpirySeconds } = config;
  await rerunning(catalogue).transaction((tx) => actOnApplication(tx, id, name, theService, { message, orderExpirySeconds }), theService);
  const changed = await getNamedApplication(db, id);
  return {
    json: applicationWithActions(changed),
    text: [`Application ${id} is ${changed.status}.`, ...(await effects(db, changed, application))],
  };
}

/** Said before the question. */
async function consequence(db: Db, application: NamedApplication, name: ApplicationCallerAction): Promise<string> {
  if (name === 'withdraw') return application.status === 'accepted' ? `Order ${application.orderId} is cancelled with it. ` : '';
  if (name !== 'accept') return '';
  return `An approved order reserves the animal. ${await describeOthers(db, application)}`;
}

/** Said afterwards. */
async function effects(db: Db, application: NamedApplication, before: NamedApplication): Promise<string[]> {
  const { orderId, petId, status } = application;
  if (status === 'accepted') {
    return [
      `Order ${orderId} reserves ${petOf(application)} for ${adopterOf(application)}. ${await describeOthers(db, application)}`.trimEnd(),
      '',
      'Next:',
      `  homeward orders complete ${orderId}`,
      `  homeward applications list --pet ${petId}`,
    ];
  }
  return before.status === 'accepted' ? [`Order ${orderId} is cancelled, and ${petOf(application)} is available.`] : [];
}

/** Of an open application. */
async function describeOthers(db: Db, { petId }: NamedApplication): Promise<string> {
  const others = (await countOfPet(db, petId)) - 1;
  if (others <= 0) return '';
  const [count, stay, are] =
    others === 1 ? ['1 other application', 'stays', 'It is'] : [`${others} other applications`, 'stay', 'They are'];
  return `${count} for the animal ${stay} open. ${are} closed when the order is completed. `;
}

const capitalised = (text: string) => `${text[0]?.toUpperCase()}${text.slice(1)}`;

interface EndOptions extends ConfirmOptions {
  readonly client: string;
  readonly pet?: bigint;
}

const shownMax = 100;
const heldMinutes = bulkHeldSeconds / 60;

/** Ending all applications of one client, such as those that a program has made up, and taking that back. */
export function addApplicationEndCommands(applications: Command, config: ReadConfig): void {
  const end = applications
    .command('end-all')
    .description(
      `end all applications of a client that nobody has decided on; the worker does, and mails their adopters ${heldMinutes} minutes later`,
    )
    .requiredOption('--client <name>', 'the client that has sent them')
    .option('--pet <id>', 'only those for this animal', parseId)
    .option(...yesOption);
  onStore(end, config, ({ client: name, pet, ...options }: EndOptions) => async ({ db }) => {
    const { id: clientId } = await getClientByName(db, name);
    const asked = { clientId, petId: pet ?? null };
    const { submitted, reviewing, accepted } = await countToEnd(db, theService, asked);
    const stay = accepted === 0 ? '' : ` ${accepted} accepted ones stay.`;
    if (submitted + reviewing > 0) {
      const what = `${submitted + reviewing} open applications of ${named(name, clientId)}${pet === undefined ? '' : ` for animal ${pet}`}`;
      await confirm(what, `They are closed, and their adopters told ${heldMinutes} minutes after the last one.${stay} End them?`, options);
    }
    const id = await db.transaction((tx) => startBulkEnd(tx, theService, commandAuthor(), asked), theService);
    return {
      json: await findBulkEndForStaff(db, theService, id),
      text: [
        `Job ${id} ends ${submitted + reviewing} applications of ${name}.${stay}`,
        `No adopter is told before ${heldMinutes} minutes after the last one.`,
        '',
        'Next:',
        '  homeward applications ends',
        `  homeward applications take-back ${id}`,
      ],
    };
  });

  const list = applications.command('ends').description('list jobs that end all applications of a client, and how far they are');
  onStore(
    list,
    config,
    () =>
      async ({ db }) => {
        const jobs = await listBulkEnds(db, theService, shownMax);
        return { json: jobs, text: () => printTable(jobs.map(columnsOf), 'There are no such jobs.', { leastImportant: ['asked for'] }) };
      },
    printsArray,
  );

  const back = applications
    .command('take-back')
    .description('reopen what such a job has ended, as far as that is possible; adopters of what is reopened get no mail')
    .argument('<job>', 'the job', parseId);
  onStore(back, config, (id: bigint) => async ({ db }) => {
    await db.transaction((tx) => takeBulkEndBack(tx, theService, commandAuthor(), id), theService);
    return { json: await findBulkEndForStaff(db, theService, id), text: `Job ${id} is taken back: the worker reopens what it has ended.` };
  });
}

const columnsOf = ({ id, client, petId, state, found, ended, reopened, person, createdAt }: NamedBulkEnd) => ({
  job: id,
  client,
  animal: petId,
  state,
  ended: `${ended} of ${found}`,
  reopened,
  'asked for': createdAt,
  by: person ?? 'a command',
});

interface EndLinkOptions extends JournalOptions, ConfirmOptions {
  readonly mail?: boolean;
}

export function addEndLinkCommand(applications: Command, config: ReadConfig): void {
  const end = applications
    .command('end-link')
    .description("end the links to the adopter's page of an application, which may have been posted or passed on; those in e-mails end too")
    .argument('<id>', 'the application', parseId)
    .option('--mail', 'mail the new link to the address, which the adopter must have confirmed')
    .option(...withoutJournalOption)
    .option(...yesOption);
  onStore(end, config, (id: bigint, { mail: mails = false, ...options }: EndLinkOptions) => async (dependencies) => {
    const { db, config: settings } = dependencies;
    const journal = await openCommandJournal(dependencies, options);
    const application = await getNamedApplication(db, id);
    if (mails && !isReached(application))
      throw new UsageError(`No link can be mailed: nobody has confirmed the address of application ${id}.`);
    await confirm(
      `Application ${id} of ${adopterOf(application)} for ${petOf(application)}`,
      "End the links to the adopter's page?",
      options,
    );
    const ended = await db.transaction((tx) => endAdopterLinks(tx, id, theService, { journal, by: commandAuthor(), mails }), theService);
    if (!ended.isJournaled) reportMissingLine(settings);
    return {
      json: { id, ended: true, mailed: ended.isMailed },
      text: `The links to the page of application ${id} have ended.${ended.isMailed ? ' The new one is mailed to its adopter.' : ''}`,
    };
  });
}
