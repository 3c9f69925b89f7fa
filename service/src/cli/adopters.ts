import type { Command } from 'commander';
import type { ReadConfig } from '../config.ts';
import type { Transactor } from '../db/handles.ts';
import { openDependencies } from '../dependencies.ts';
import type { Journal } from '../journal/journal.ts';
import { eraseAdopterByEmail, eraseAdopterOf } from '../orders/adopters.ts';
import { type JournalOptions, openCommandJournal, withoutJournalOption } from './command-journal.ts';
import { getNamedOrder, petOf } from './named-orders.ts';
import { confirm, parseId, printJson, printLines, UsageError } from './output.ts';

const batchSizeMax = 100;

interface EraseOptions extends JournalOptions {
  readonly email?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function addErasureCommand(orders: Command, config: ReadConfig): void {
  orders
    .command('erase')
    .description("erase an adopter's name and e-mail address from one order, or from every order that is not open; the orders stay")
    .argument('[id]', 'the order')
    .option('--email <address>', 'every order for the adopter with this e-mail address; open orders are listed and not erased')
    .option(...withoutJournalOption)
    .option('--yes', 'do not ask on a terminal')
    .option('--json', 'print one JSON object')
    .action(async (id: string | undefined, options: EraseOptions) => {
      const { email } = options;
      if ((id === undefined) === (email === undefined)) throw new UsageError('Give the id of an order, or --email.');
      await using dependencies = await openDependencies(config());
      const parts = { db: dependencies.db, journal: await openCommandJournal(dependencies, options) };
      // Awaited here: a returned promise would be awaited after the connections are closed.
      if (email !== undefined) await eraseEmail(parts, email, options);
      else await eraseOrder(parts, parseId(id ?? ''), options);
    });
}

const backups = "Backups still contain the data until they are overwritten. After restoring one, run 'homeward restore-check'.";

interface ErasureParts {
  readonly db: Transactor;
  readonly journal: Journal;
}

async function eraseOrder({ db, journal }: ErasureParts, id: bigint, { yes, json }: EraseOptions): Promise<void> {
  const order = await getNamedOrder(db, id);
  const whose = order.adopter ? `${order.adopter.name} <${order.adopter.email}>` : 'already erased';
  await confirm({ target: `The adopter of order ${id} for ${petOf(order)}: ${whose}`, question: 'Erase name and address?', yes, json });
  const erased = await eraseAdopterOf(db, journal, id);
  if (!erased) throw new UsageError(`There is no order ${id}.`);
  if (json) printJson({ id, erased: true, answers: erased.responses });
  else printLines(`Erased the adopter of order ${id}, also from ${responses(erased.responses)}. ${backups}`);
}

async function eraseEmail({ db, journal }: ErasureParts, email: string, { yes, json }: EraseOptions): Promise<void> {
  await confirm({ target: `${email} in every order that is not open`, question: 'Erase name and address?', yes, json });
  const { orders, responses: stored, open } = await eraseAdopterByEmail(db, journal, email, batchSizeMax);
  // A script must notice that some orders were not erased.
  if (open.length > 0) process.exitCode = 1;
  if (json) return printJson({ orders, answers: stored, open });
  printLines(`Erased the adopter from ${orders} ${orders === 1 ? 'order' : 'orders'} and ${responses(stored)}. ${backups}`);
  if (open.length > 0) {
    printLines(
      `Not erased, because they are still open: ${open.join(', ')}. Cancel or complete them, then erase again: homeward orders cancel --email …`,
    );
  }
}

const responses = (count: number) => `${count} stored ${count === 1 ? 'response' : 'responses'}`;
