import type { Command } from 'commander';
import type { ReadConfig } from '../config.ts';
import { openDependencies } from '../dependencies.ts';
import { type OrderStatus, orderStatuses } from '../domain/order-states.ts';
import { type NamedOrder, selectNamedOrders } from '../orders/order-queries.ts';
import { choiceOption } from './choices.ts';
import { addListOptions, type ListOptions, printNextPageHint, readChoice, readListOptions } from './list-options.ts';
import { clientOf, getNamedOrder, nextCommands, petOf, withActions } from './named-orders.ts';
import { parseId, printJson, printLines, printRecord, printTable } from './output.ts';

interface ListOrdersOptions extends ListOptions {
  readonly status?: string;
  readonly pet?: string;
}

export function addOrderListCommands(orders: Command, config: ReadConfig): void {
  addListOptions(
    orders
      .command('list')
      .description('list orders of all clients, with their animals and adopters')
      .addOption(choiceOption('--status <status>', 'only orders with this status', orderStatuses))
      .option('--pet <id>', 'only orders for this animal'),
    'orders',
  ).action(async (options: ListOrdersOptions) => {
    const status = options.status === undefined ? undefined : readChoice('--status', options.status, orderStatuses);
    const petId = options.pet === undefined ? undefined : parseId(options.pet);
    const { afterId, limit } = readListOptions(options);
    await using dependencies = await openDependencies(config());
    const found = await selectNamedOrders(dependencies.db, { status, petId }, { afterId, limit: limit + 1 });
    const rows = found.slice(0, limit);
    if (options.json) return printJson(rows.map(withActions));
    printTable(rows.map(listed), status || petId || afterId ? 'No orders match.' : 'There are no orders.', {
      leastImportant: ['client', 'placed'],
    });
    printNextPageHint(`homeward orders list${filtersOf(status, petId)}`, rows, found);
  });

  orders
    .command('show')
    .description('show an order and the commands that its status allows')
    .argument('<id>', 'the order')
    .option('--json', 'print one JSON object')
    .action(async (id: string, { json }: { json?: boolean }) => {
      const orderId = parseId(id);
      await using dependencies = await openDependencies(config());
      const order = await getNamedOrder(dependencies.db, orderId);
      if (json) printJson(withActions(order));
      else showOrder(order);
    });
}

const listed = (order: NamedOrder) => ({
  id: order.id,
  status: order.status,
  animal: petOf(order),
  adopter: order.adopter?.name,
  client: clientOf(order),
  placed: order.createdAt,
});

const filtersOf = (status: OrderStatus | undefined, petId: bigint | undefined) =>
  `${status === undefined ? '' : ` --status ${status}`}${petId === undefined ? '' : ` --pet ${petId}`}`;

function showOrder(order: NamedOrder): void {
  const { adopter, status, createdAt, updatedAt, expiresAt } = order;
  printRecord({
    order: order.id,
    status,
    animal: petOf(order),
    adopter: adopter ? `${adopter.name} <${adopter.email}>` : 'erased',
    client: clientOf(order),
    placed: createdAt,
    ...(status === 'placed' ? { expires: expiresAt } : { [status]: updatedAt }),
  });
  const next = nextCommands(order);
  if (next.length > 0) printLines('', 'Next:', ...next.map((command) => `  ${command}`));
}
