import type { Command } from 'commander';
import type { Client } from '../../access/clients/client-queries.ts';
import { boundsOf } from '../../access/rate-limit/plans.ts';
import { settleApplications } from '../../adoption/applications/settling.ts';
import { findNamedOrder, findOpenOrdersOfPets, type NamedOrder, selectNamedOrders } from '../../adoption/orders/order-queries.ts';
import { NewAdopterSchema, type NewOrder, type Order } from '../../adoption/orders/order-schemas.ts';
import { actOnOrder, cancelOpenOrders, placeOrder } from '../../adoption/orders/orders.ts';
import { findPet } from '../../animals/pets/pet-queries.ts';
import type { Dependencies } from '../../dependencies.ts';
import { theService } from '../../domain/actor.ts';
import { type CallerAction, callerActions, type OrderStatus, orderActions, orderStatuses } from '../../domain/order-states.ts';
import type { ReadConfig } from '../../platform/config.ts';
import { AppError } from '../../platform/errors.ts';
import { getClientByName } from '../access/clients.ts';
import { checkBySchema } from '../terminal/checked-options.ts';
import { type ConfirmOptions, confirm, drawCount, endProgress, named, printLines, printRecord, UsageError } from '../terminal/output.ts';
import { addListAction, type CommandResult, choiceOption, onStore, parseId, yesOption } from '../terminal/store-command.ts';
import { addErasureCommand } from './erasure.ts';
import { clientOf, findBond, getNamedOrder, nextOrderCommands, orderWithActions, petOf } from './named.ts';

export function addOrderCommands(program: Command, config: ReadConfig): void {
  const orders = program
    .command('orders')
    .description("list and show orders, place, approve, complete, cancel and return them, and erase adopters' data");
  addOrderListCommands(orders, config);
  addOrderActionCommands(orders, config);
  addErasureCommand(orders, config);
}

function addOrderListCommands(orders: Command, config: ReadConfig): void {
  const list = orders
    .command('list')
    .description('list orders of all clients, with their animals and adopters')
    .addOption(choiceOption('--status <status>', 'only orders with this status', orderStatuses))
    .option('--pet <id>', 'only orders for this animal', parseId);
  addListAction(list, config, {
    what: 'orders',
    find: async ({ db }, page, { status, pet }: { status?: OrderStatus; pet?: bigint }) => ({
      found: (await selectNamedOrders(db, { status, petId: pet }, page)).map(orderWithActions),
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
    return { json: orderWithActions(order), text: () => showOrder(order, bond) };
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
  const next = nextOrderCommands(order);
  if (next.length > 0) printLines('', 'Next:', ...next.map((command) => `  ${command}`));
}

const batchSizeMax = 100;

interface PlaceOptions {
  readonly adopter: string;
  readonly email: string;
  readonly client: string;
}

interface CancelOptions extends ConfirmOptions {
  readonly client?: string;
  readonly email?: string;
}

function addOrderActionCommands(orders: Command, config: ReadConfig): void {
  const placeCommand = orders
    .command('place')
    .description('place an order for a client: reserves an available animal for an adopter')
    .argument('<pet>', 'the id of the animal', parseId)
    .requiredOption('--adopter <name>', "the adopter's name")
    .requiredOption('--email <address>', "the adopter's e-mail address")
    .requiredOption('--client <name>', 'the client that the order belongs to; its limits apply');
  onStore(placeCommand, config, (petId: bigint, { adopter: name, email, client }: PlaceOptions) => {
    const { name: nameSchema, email: emailSchema } = NewAdopterSchema.properties;
    const schema = { type: 'object', properties: { '--adopter': nameSchema, '--email': emailSchema } };
    checkBySchema(schema, { '--adopter': name, '--email': email });
    return async (dependencies) => {
      const { db } = dependencies;
      const { id } = await place(dependencies, await getClientByName(db, client), { petId, adopter: { name, email } });
      const placed = await getNamedOrder(db, id);
      const next = nextOrderCommands(placed).map((command) => `  ${command}`);
      return { json: orderWithActions(placed), text: [`Order ${id} reserves ${petOf(placed)} for ${name}.`, '', 'Next:', ...next] };
    };
  });

  for (const name of callerActions) {
    if (name === 'cancel') addCancelCommand(orders, config);
    else addActionCommand(orders, config, name);
  }
}

function addCancelCommand(orders: Command, config: ReadConfig): void {
  const cancel = orders
    .command('cancel')
    .description(
      'cancel one order, or every open order of a client, of an adopter, or of an adopter with one client; their animals become available again',
    )
    .argument('[id]', 'the order', parseId)
    .option('--client <name>', 'orders that this client placed')
    .option('--email <address>', 'orders for the adopter with this e-mail address')
    .option(...yesOption);
  onStore(cancel, config, (id: bigint | undefined, options: CancelOptions) => {
    if ((id !== undefined) === (options.client !== undefined || options.email !== undefined)) {
      throw new UsageError('Give the id of an order, or --client, --email, or both.');
    }
    return (dependencies) => (id === undefined ? cancelAll(dependencies, options) : cancelOne(dependencies, id, options));
  });
}

function addActionCommand(orders: Command, config: ReadConfig, name: Exclude<CallerAction, 'cancel'>): void {
  const { from, pet } = orderActions[name];
  const command = orders
    .command(name)
    .description(`${name} an order that is ${from.join(' or ')}${pet ? `; its animal becomes ${pet.to}` : ''}`)
    .argument('<id>', 'the order', parseId);
  onStore(command, config, (id: bigint) => async (dependencies) => act(dependencies, await getNamedOrder(dependencies.db, id), name));
}

async function cancelOne(dependencies: Dependencies, id: bigint, asked: ConfirmOptions): Promise<CommandResult> {
  const order = await getNamedOrder(dependencies.db, id);
  const adopter = order.adopter ? ` for ${order.adopter.name}` : '';
  await confirm(`Order ${id} of ${clientOf(order)}: ${petOf(order)}${adopter}, ${order.status}`, 'Cancel it?', asked);
  return act(dependencies, order, 'cancel');
}

/** The same operation as the API's, done as the store's staff. */
async function act({ db, catalogue }: Dependencies, order: NamedOrder, name: CallerAction): Promise<CommandResult> {
  const changed = await catalogue.transaction((tx) => actOnOrder(tx, order.id, name, theService, settleApplications), theService);
  const pet = await findPet(db, order.petId);
  const status = pet ? `${petOf(order)} is ${pet.status}.` : `${petOf(order)} was removed before.`;
  return { json: orderWithActions({ ...order, ...changed }), text: `Order ${order.id} is ${changed.status}. ${status}` };
}

async function cancelAll({ db, catalogue }: Dependencies, { client: name, email, ...asked }: CancelOptions): Promise<CommandResult> {
  const client = name === undefined ? undefined : await getClientByName(db, name);
  const whose = `${client ? ` of ${named(client.name, client.id)}` : ''}${email === undefined ? '' : ` for ${email}`}`;
  await confirm(`Every open order${whose}`, 'Cancel them?', asked);
  const cancelled = await cancelOpenOrders(
    db,
    catalogue,
    { clientId: client?.id, email },
    { batchSizeMax, progress: drawCount, settleApplications },
  );
  endProgress();
  return { json: { cancelled }, text: `Cancelled orders: ${cancelled}.` };
}

async function place({ db, catalogue, config }: Dependencies, client: Client, order: NewOrder): Promise<Order> {
  if (client.suspendedAt) {
    throw new UsageError(
      `${named(client.name, client.id)} is suspended, so no order can be placed for it. 'homeward clients resume' ends that.`,
    );
  }
  const terms = { client: { clientId: client.id, bounds: boundsOf(client) }, expiresInSeconds: config.orderExpirySeconds };
  try {
    return await catalogue.transaction((tx) => placeOrder(tx, order, theService, terms), theService);
  } catch (error) {
    if (error instanceof AppError && error.code === 'pet_not_available') throw await explainUnavailable(db, order.petId, error);
    throw error;
  }
}

/** Names the order that reserves the animal, if there is one. */
async function explainUnavailable(db: Dependencies['db'], petId: bigint, error: AppError): Promise<UsageError> {
  const [pet, orders] = [await findPet(db, petId), await findOpenOrdersOfPets(db, [petId])];
  const orderId = orders.get(petId);
  const order = orderId === undefined ? undefined : await findNamedOrder(db, orderId);
  if (order) return new UsageError(`${petOf(order)} is already reserved by order ${order.id}. See it: homeward orders show ${order.id}`);
  return new UsageError(pet ? `${named(pet.name, petId)} is ${pet.status}. Only an available animal can be ordered.` : error.message);
}
