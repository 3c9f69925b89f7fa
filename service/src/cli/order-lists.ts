import type { Command } from 'commander';
import { type OrderStatus, orderStatuses } from '../domain/order-states.ts';
import type { ReadConfig } from '../platform/config.ts';
import { type NamedOrder, selectNamedOrders } from '../store/orders/order-queries.ts';
import { findBond } from './bonds.ts';
import { addListAction } from './list-command.ts';
import { clientOf, getNamedOrder, nextCommands, petOf, withActions } from './named-orders.ts';
import { choiceOption, parseId } from './option-values.ts';
import { printLines, printRecord } from './output.ts';
import { onStore } from './store-command.ts';

export function addOrderListCommands(orders: Command, config: ReadConfig): void {
  const list = orders
    .command('list')
    .description('list orders of all clients, with their animals and adopters')
    .addOption(choiceOption('--status <status>', 'only orders with this status', orderStatuses))
    .option('--pet <id>', 'only orders for this animal', parseId);
  addListAction(list, config, {
    what: 'orders',
    find: async ({ db }, page, { status, pet }: { status?: OrderStatus; pet?: bigint }) => ({
      found: (await selectNamedOrders(db, { status, petId: pet }, page)).map(withActions),
      filters: { status, pet },
    }),
    columns: (order) => ({
      id: order.id,
      status: order.status,
      animal: petOf(order),
      adopter: order.adopter?.name,
      client: clientOf(order),
      placed: order.createdAt,
    }),
    leastImportant: ['client', 'placed'],
  });

  const show = orders
    .command('show')
    .description('show an order and the commands that its status allows')
    .argument('<id>', 'the order', parseId);
  onStore(show, config, (id: bigint) => async ({ db }) => {
    const order = await getNamedOrder(db, id);
    const bond = await findBond(db, order.petId);
    return { json: withActions(order), text: () => showOrder(order, bond) };
  });
}

function showOrder(order: NamedOrder, bond: string | undefined): void {
  const { adopter, status, createdAt, updatedAt, expiresAt } = order;
  printRecord({
    order: order.id,
    status,
    animal: petOf(order),
    'bonded with': bond,
    adopter: adopter ? `${adopter.name} <${adopter.email}>` : 'erased',
    client: clientOf(order),
    application: order.applicationId,
    placed: createdAt,
    ...(status === 'placed' ? { expires: expiresAt } : { [status]: updatedAt }),
  });
  const next = nextCommands(order);
  if (next.length > 0) printLines('', 'Next:', ...next.map((command) => `  ${command}`));
}
