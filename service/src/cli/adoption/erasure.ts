import type { Command } from 'commander';
import { findNamedApplicant, type NamedApplicant } from '../../adoption/applications/applicant-queries.ts';
import { type ErasedByEmail, eraseApplicant, eraseByEmail, eraseOrderAndApplicant } from '../../adoption/applications/applicants.ts';
import type { Dependencies } from '../../dependencies.ts';
import { isOpenApplication, unconfirmed } from '../../domain/application-states.ts';
import type { ReadConfig } from '../../platform/config.ts';
import type { Journal } from '../../platform/journal/journal.ts';
import { commandAuthor, type JournalOptions, openCommandJournal, withoutJournalOption } from '../terminal/command-records.ts';
import { type ConfirmOptions, confirm, named, UsageError } from '../terminal/output.ts';
import { type CommandResult, onStore, parseId, yesOption } from '../terminal/store-command.ts';
import { getNamedOrder, petOf } from './named.ts';

const batchSizeMax = 100;

interface EraseOptions extends JournalOptions, ConfirmOptions {
  readonly email?: string;
}

export function addErasureCommand(orders: Command, config: ReadConfig): void {
  const erase = orders
    .command('erase')
    .description(
      "erase an adopter's data from one order and its application, or from every order and application that is not open; the orders and applications stay",
    )
    .argument('[id]', 'the order', parseId)
    .option(
      '--email <address>',
      'every order and application of the adopter with this e-mail address; open ones are listed and not erased, unconfirmed ones are deleted',
    )
    .option(...withoutJournalOption)
    .option(...yesOption);
  onStore(erase, config, (id: bigint | undefined, options: EraseOptions) => {
    const { email = '' } = options;
    if ((id === undefined) === (options.email === undefined)) throw new UsageError('Give the id of an order, or --email.');
    return async (dependencies) => {
      const parts = { db: dependencies.db, journal: await openCommandJournal(dependencies, options) };
      return id === undefined ? eraseEmail(parts, email, options) : eraseOrder(parts, id, options);
    };
  });
}

const backups = "Backups still contain the data until they are overwritten. After restoring one, run 'homeward restore-check'.";

type ErasureParts = Pick<Dependencies, 'db'> & { readonly journal: Journal };

async function eraseOrder({ db, journal }: ErasureParts, id: bigint, asked: ConfirmOptions): Promise<CommandResult> {
  const order = await getNamedOrder(db, id);
  const whose = order.adopter ? `${order.adopter.name} <${order.adopter.email}>` : 'already erased';
  const { applicationId } = order;
  const question =
    applicationId === null ? 'Erase name and address?' : `Erase name and address, and the data of application ${applicationId}?`;
  await confirm(`The adopter of order ${id} for ${petOf(order)}: ${whose}`, question, asked);
  const erased = await eraseOrderAndApplicant(db, journal, commandAuthor(), id);
  if (!erased) throw new UsageError(`There is no order ${id}.`);
  const kept = erased.keptApplicationId;
  // A script must notice that some data was not erased.
  if (kept !== undefined) process.exitCode = 1;
  const also = erased.applicationId === undefined ? '' : ` and of application ${erased.applicationId}`;
  const text = `Erased the adopter of order ${id}${also}, also from ${countOf(erased.responses, 'stored response')}. ${backups}`;
  const notErased = `Not erased: application ${kept}, which the order was placed for, has gone on since. Erase it too: homeward applications erase ${kept}`;
  const applications = erased.applicationId === undefined ? [] : [erased.applicationId];
  return {
    json: { id, erased: true, answers: erased.responses, applications, keptApplications: kept === undefined ? [] : [kept] },
    text: kept === undefined ? text : [text, notErased],
  };
}

async function eraseEmail({ db, journal }: ErasureParts, email: string, asked: ConfirmOptions): Promise<CommandResult> {
  await confirm(`${email} in every order and application that is not open`, "Erase the adopter's data?", asked);
  const erased = await eraseByEmail(db, journal, commandAuthor(), email, batchSizeMax);
  const { orders, responses, openOrders, openApplications, ...ofApplications } = erased;
  // A script must notice that some were not erased.
  if (openOrders.length + openApplications.length > 0) process.exitCode = 1;
  return {
    json: { orders, answers: responses, open: openOrders, ...ofApplications, openApplications },
    text: [describeErased(erased), ...describeKept(erased)],
  };
}

function describeErased({ orders, applications, deleted, responses }: ErasedByEmail): string {
  const parts = [countOf(orders, 'order'), countOf(applications, 'application'), countOf(responses, 'stored response')];
  const unconfirmed = deleted > 0 ? `, and deleted ${countOf(deleted, 'unconfirmed application')}` : '';
  return `Erased the adopter from ${parts[0]}, ${parts[1]} and ${parts[2]}${unconfirmed}. ${backups}`;
}

function describeKept({ openOrders, openApplications, otherSpellings }: ErasedByEmail): string[] {
  const orders = `Not erased, because these orders are still open: ${openOrders.join(', ')}. Cancel or complete them, then erase again: homeward orders cancel --email …`;
  const applications = `Not erased, because these applications are still open: ${openApplications.join(', ')}. To withdraw and erase one: homeward applications erase ${openApplications[0]}`;
  const others = `Not erased: applications of ${otherSpellings.join(', ')}. If that is the same person, erase them with --email too.`;
  return [
    ...(openOrders.length > 0 ? [orders] : []),
    ...(openApplications.length > 0 ? [applications] : []),
    ...(otherSpellings.length > 0 ? [others] : []),
  ];
}

const countOf = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

export function addApplicantErasureCommand(applications: Command, config: ReadConfig): void {
  const erase = applications
    .command('erase')
    .description(
      "erase an adopter's data from one application and its orders; an open one is withdrawn first, an unconfirmed one is deleted, and of a completed one the order has to be erased",
    )
    .argument('<id>', 'the application', parseId)
    .option(...withoutJournalOption)
    .option(...yesOption);
  onStore(erase, config, (id: bigint, options: JournalOptions & ConfirmOptions) => async (dependencies) => {
    const journal = await openCommandJournal(dependencies, options);
    return eraseOne(dependencies, journal, id, options);
  });
}

async function eraseOne(dependencies: Dependencies, journal: Journal, id: bigint, asked: ConfirmOptions): Promise<CommandResult> {
  const found = await findNamedApplicant(dependencies.db, id);
  if (!found) throw new UsageError(`There is no application ${id}.`);
  const { status, pet, petId, adopter, orderId } = found;
  if (status === 'completed') {
    throw new UsageError(`Application ${id} is completed. Erase its adopter with that of its order: homeward orders erase ${orderId}`);
  }
  const whose = adopter ? `${adopter.name} <${adopter.email}>` : 'already erased';
  await confirm(`Application ${id} for ${named(pet, petId)}, ${status}: ${whose}`, questionOf(found), asked);
  const { deleted, responses } = await eraseApplicant(dependencies, journal, id, commandAuthor());
  const what = deleted > 0 ? `Deleted application ${id}, which was unconfirmed` : `Erased the adopter of application ${id} and its orders`;
  return {
    json: { id, erased: true, deleted: deleted > 0, answers: responses },
    text: `${what}, also from ${countOf(responses, 'stored response')}. ${backups}`,
  };
}

function questionOf({ status }: NamedApplicant): string {
  if (status === unconfirmed) return 'Delete it?';
  if (status === 'accepted') return 'Withdraw it, cancel its order, and erase the adopter from both?';
  return `${isOpenApplication(status) ? 'Withdraw it, and erase' : 'Erase'} the adopter, also from its orders?`;
}
