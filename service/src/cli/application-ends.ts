import type { Command } from 'commander';
import { theService } from '../domain/actor.ts';
import type { ReadConfig } from '../platform/config.ts';
import {
  bulkHeldSeconds,
  countToEnd,
  findBulkEndForStaff,
  listBulkEnds,
  type NamedBulkEnd,
  startBulkEnd,
  takeBulkEndBack,
} from '../store/applications/bulk-ends.ts';
import { getClientByName } from './clients-by-name.ts';
import { commandAuthor } from './command-author.ts';
import { named } from './names.ts';
import { parseId } from './option-values.ts';
import { type Asked, confirm, printTable } from './output.ts';
import { onStore, printsArray, yesOption } from './store-command.ts';

interface EndOptions extends Asked {
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
