import type { Command } from 'commander';
import { findClientByName } from '../clients/client-queries.ts';
import type { ReadConfig } from '../config.ts';
import { type Dependencies, openDependencies } from '../dependencies.ts';
import { eraseAdopterByEmail, eraseAdopterOf } from '../orders/adopters.ts';
import { cancelOpenOrders } from '../orders/orders.ts';
import { parseId, printJson, printLines, UsageError } from './output.ts';
import { drawCount, endProgress } from './progress.ts';

const batchSizeMax = 100;

export function addOrderCommands(program: Command, config: ReadConfig): void {
  const orders = program.command('orders').description("cancel open orders, and erase adopters' data");

  orders
    .command('cancel')
    .description(
      'cancel every open order of a client, of an adopter, or of an adopter with one client; their animals become available again',
    )
    .option('--client <name>', 'orders that this client placed')
    .option('--email <address>', 'orders for the adopter with this e-mail address')
    .option('--json', 'print one JSON object')
    .action(async ({ client, email, json }: { client?: string; email?: string; json?: boolean }) => {
      if (client === undefined && email === undefined) throw new UsageError('Give --client, --email, or both.');
      await using dependencies = await openDependencies(config());
      const whose = { clientId: await readClient(dependencies, client), email };
      const { db, catalogue } = dependencies;
      const cancelled = await cancelOpenOrders(db, catalogue, whose, { batchSizeMax, progress: drawCount });
      endProgress();
      if (json) printJson({ cancelled });
      else printLines(`Cancelled orders: ${cancelled}.`);
    });

  orders
    .command('erase')
    .description("erase an adopter's name and e-mail address from one order, or from every order that is not open; the orders stay")
    .argument('[id]', 'the order')
    .option('--email <address>', 'every order for the adopter with this e-mail address; open orders are listed and not erased')
    .option('--json', 'print one JSON object')
    .action(async (id: string | undefined, { email, json }: { email?: string; json?: boolean }) => {
      if ((id === undefined) === (email === undefined)) throw new UsageError('Give the id of an order, or --email.');
      await using dependencies = await openDependencies(config());
      // Awaited here: a returned promise would be awaited after the connections are closed.
      if (email !== undefined) await eraseEmail(dependencies, email, json);
      else await eraseOrder(dependencies, parseId(id ?? ''), json);
    });
}

const backups = "Backups still contain the data until they are overwritten. After restoring one, run 'homeward journal apply'.";

async function eraseOrder({ db, journal }: Dependencies, id: bigint, json: boolean | undefined): Promise<void> {
  const erased = await eraseAdopterOf(db, journal, id);
  if (!erased) throw new UsageError(`There is no order ${id}.`);
  if (json) printJson({ id, erased: true, answers: erased.responses });
  else printLines(`Erased the adopter of order ${id}, also from ${responses(erased.responses)}. ${backups}`);
}

async function eraseEmail({ db, journal }: Dependencies, email: string, json: boolean | undefined): Promise<void> {
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

async function readClient({ db }: Dependencies, name: string | undefined): Promise<bigint | undefined> {
  if (name === undefined) return undefined;
  const client = await findClientByName(db, name);
  if (!client) throw new UsageError(`There is no client "${name}".`);
  return client.id;
}
