import type { Command } from 'commander';
import type { Dependencies } from '../dependencies.ts';
import type { ReadConfig } from '../platform/config.ts';
import type { Journal } from '../platform/journal/journal.ts';
import { eraseAdopterByEmail, eraseAdopterOf } from '../store/orders/adopters.ts';
import { type JournalOptions, openCommandJournal, withoutJournalOption } from './command-journal.ts';
import { getNamedOrder, petOf } from './named-orders.ts';
import { parseId } from './option-values.ts';
import { type Asked, confirm, UsageError } from './output.ts';
import { onStore, type Result, yesOption } from './store-command.ts';

const batchSizeMax = 100;

interface EraseOptions extends JournalOptions, Asked {
  readonly email?: string;
}

export function addErasureCommand(orders: Command, config: ReadConfig): void {
  const erase = orders
    .command('erase')
    .description("erase an adopter's name and e-mail address from one order, or from every order that is not open; the orders stay")
    .argument('[id]', 'the order', parseId)
    .option('--email <address>', 'every order for the adopter with this e-mail address; open orders are listed and not erased')
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

async function eraseOrder({ db, journal }: ErasureParts, id: bigint, asked: Asked): Promise<Result> {
  const order = await getNamedOrder(db, id);
  const whose = order.adopter ? `${order.adopter.name} <${order.adopter.email}>` : 'already erased';
  await confirm(`The adopter of order ${id} for ${petOf(order)}: ${whose}`, 'Erase name and address?', asked);
  const erased = await eraseAdopterOf(db, journal, id);
  if (!erased) throw new UsageError(`There is no order ${id}.`);
  const text = `Erased the adopter of order ${id}, also from ${responses(erased.responses)}. ${backups}`;
  return { json: { id, erased: true, answers: erased.responses }, text };
}

async function eraseEmail({ db, journal }: ErasureParts, email: string, asked: Asked): Promise<Result> {
  await confirm(`${email} in every order that is not open`, 'Erase name and address?', asked);
  const { orders, responses: stored, open } = await eraseAdopterByEmail(db, journal, email, batchSizeMax);
  // A script must notice that some orders were not erased.
  if (open.length > 0) process.exitCode = 1;
  const notErased = `Not erased, because they are still open: ${open.join(', ')}. Cancel or complete them, then erase again: homeward orders cancel --email …`;
  const text = `Erased the adopter from ${orders} ${orders === 1 ? 'order' : 'orders'} and ${responses(stored)}. ${backups}`;
  return { json: { orders, answers: stored, open }, text: open.length > 0 ? [text, notErased] : text };
}

const responses = (count: number) => `${count} stored ${count === 1 ? 'response' : 'responses'}`;
