import { describe, expect, test } from 'vitest';
import { act, actAll, addPet, adopterOf, createManager, type OrderBody, placeOrder, readPet } from '../adoption-steps.ts';
import { countLockWaits, holdLocks } from '../lock-waits.ts';
import { openTestStore } from '../test-store.ts';
import { homeward, homewardJson } from './homeward-command.ts';

interface ShownOrder extends OrderBody {
  readonly pet: string;
  readonly clientId: number;
  readonly client: string;
  readonly actions: string[];
}

const store = await openTestStore();
const { env } = store;
const manager = await createManager(store, { client: 'Happy Tails' });

async function orderFor(name: string): Promise<OrderBody> {
  const { id } = await addPet(store, manager, { name });
  return placeOrder(store, manager, id);
}

const run = (...args: string[]) => homeward(args, { env });

describe('orders show', () => {
  test('shows animal, adopter and client by name, and the commands that are legal next', async () => {
    const order = await orderFor('Biscuit');
    const { stdout } = await run('orders', 'show', String(order.id));
    expect(stdout).toBe(`order    ${order.id}
status   placed
animal   Biscuit (${order.petId})
adopter  Ada Lovelace <${adopterOf(order.petId).email}>
client   Happy Tails (${manager.clientId})
placed   ${order.createdAt}
expires  ${order.expiresAt}

Next:
  homeward orders approve ${order.id}
  homeward orders cancel ${order.id}
`);
    await actAll(store, manager, order.id, 'approve', 'complete');
    const completed = await run('orders', 'show', String(order.id));
    expect(completed.stdout).toMatch(/\ncompleted {2}\d{4}-\S+Z\n\nNext:\n {2}homeward orders return \d+\n$/);
    await actAll(store, manager, order.id, 'return');
    expect((await run('orders', 'show', String(order.id))).stdout).not.toContain('Next:');
  });

  test('with --json prints the order, the names and the actions; an erased adopter is null', async () => {
    const order = await orderFor('Zoe');
    const names = { pet: 'Zoe', clientId: Number(manager.clientId), client: 'Happy Tails' };
    expect(await homewardJson(['orders', 'show', String(order.id)], env)).toEqual({ ...order, ...names, actions: ['approve', 'cancel'] });
    await run('orders', 'erase', String(order.id));
    expect(await homewardJson(['orders', 'show', String(order.id)], env)).toMatchObject({ adopter: null });
    expect((await run('orders', 'show', String(order.id))).stdout).toContain('\nadopter  erased\n');
  });
});

describe('orders list', () => {
  test('shows names beside ids, filters by status and animal, and says how to go on', async () => {
    const first = await orderFor('Hazel');
    await actAll(store, manager, first.id, 'cancel');
    const second = await placeOrder(store, manager, first.petId);
    const args = ['orders', 'list', '--pet', String(first.petId)];
    const { stdout } = await run(...args);
    const common = [`Hazel (${first.petId})`, 'Ada Lovelace', `Happy Tails (${manager.clientId})`];
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['id', 'status', 'animal', 'adopter', 'client', 'placed'],
      [String(first.id), 'cancelled', ...common, first.createdAt],
      [String(second.id), 'placed', ...common, second.createdAt],
      [''],
    ]);
    expect((await run(...args, '--limit', '1')).stdout).toContain(
      `\n\nMore follow: homeward orders list --pet ${first.petId} --after ${first.id}\n`,
    );
    expect(await homewardJson([...args, '--after', String(first.id)], env)).toMatchObject([{ id: second.id, pet: 'Hazel' }]);
    expect(await homewardJson([...args, '--status', 'cancelled'], env)).toMatchObject([{ id: first.id, actions: [] }]);
    expect((await run(...args, '--status', 'sold')).status).toBe(2);
    expect((await run(...args, '--status', 'returned')).stdout).toBe('No orders match.\n');
  });

  test('lists the order of an animal that was removed since', async () => {
    const order = await orderFor('Gone');
    await actAll(store, manager, order.id, 'cancel');
    await run('pets', 'remove', String(order.petId));
    expect(await homewardJson(['orders', 'list', '--pet', String(order.petId)], env)).toMatchObject([{ pet: 'Gone' }]);
  });
});

describe('orders place', () => {
  const place = (petId: number, client = 'Happy Tails') => [
    'orders',
    'place',
    String(petId),
    '--adopter',
    'Grace Hopper',
    '--email',
    `grace.${petId}@example.org`,
    '--client',
    client,
  ];

  test('reserves the animal for the client, as the store: the client sees the order, the history names nobody', async () => {
    const pet = await addPet(store, manager, { name: 'Nemo' });
    const placed = await homewardJson<ShownOrder>(place(pet.id), env);
    expect(placed).toMatchObject({ petId: pet.id, pet: 'Nemo', client: 'Happy Tails', status: 'placed', actions: ['approve', 'cancel'] });
    expect(placed.adopter).toEqual({ name: 'Grace Hopper', email: `grace.${pet.id}@example.org` });
    expect(await readPet(store, manager, pet.id)).toMatchObject({ status: 'pending' });
    const seen = await store.call('GET', `/v1/store/orders/${placed.id}`, { key: manager.key });
    expect(seen).toMatchObject({ status: 200, json: { id: placed.id } });
    expect(await historyOf(placed.id)).toEqual([{ client_id: null, key_id: null, to_status: 'placed' }]);
    const text = 'select client_id from outbox where pet_id = $1 and type = $2';
    const rows = await store.read(text, pet.id, 'order.placed');
    expect(rows).toEqual([{ client_id: manager.clientId }]);
  });

  test('an animal that another order reserves is rejected with 2 and that order', async () => {
    const order = await orderFor('Taken');
    const { status, stderr } = await run(...place(order.petId));
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: `homeward: Taken (${order.petId}) is already reserved by order ${order.id}. See it: homeward orders show ${order.id}\n`,
    });
  });

  test('an animal that is sold, an unknown animal, an unknown and a suspended client are rejected with 2', async () => {
    const sold = await addPet(store, manager, { name: 'Rex', status: 'sold' });
    const available = await addPet(store, manager);
    await store.createKey({ client: 'Closed' });
    await run('clients', 'suspend', 'Closed');
    const messages: Array<[args: string[], message: string]> = [
      [place(sold.id), `Rex (${sold.id}) is sold. Only an available animal can be ordered.`],
      [place(9_999), 'There is no animal with id 9999.'],
      [place(available.id, 'Nobody'), `There is no client "Nobody". 'homeward clients list' lists all.`],
      [place(available.id, 'Closed'), 'is suspended, so no order can be placed for it.'],
    ];
    for (const [args, message] of messages) {
      expect(await run(...args)).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining(message) });
    }
    expect(await readPet(store, manager, available.id)).toMatchObject({ status: 'available' });
  });

  test("the client's limit of open orders applies", async () => {
    await store.createKey({ client: 'Small', plan: { perMinute: 60, perDay: 1_000, openOrdersMax: 1 } });
    const [one, other] = [await addPet(store, manager), await addPet(store, manager)];
    expect(await run(...place(one.id, 'Small'))).toMatchObject({ status: 0 });
    const { status, stderr } = await run(...place(other.id, 'Small'));
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('This client has 1 open orders; 1 are allowed.') });
    expect(await readPet(store, manager, other.id)).toMatchObject({ status: 'available' });
  });
});

describe('orders approve, complete, return and cancel', () => {
  test('change the order and its animal, and the API shows both at once', async () => {
    const { id, petId } = await orderFor('Juno');
    const steps = [
      { action: 'approve', order: 'approved', pet: 'pending' },
      { action: 'complete', order: 'completed', pet: 'sold' },
      { action: 'return', order: 'returned', pet: 'available' },
    ];
    for (const { action, order, pet } of steps) {
      const { status, stdout } = await run('orders', action, String(id));
      expect({ status, stdout }).toEqual({ status: 0, stdout: `Order ${id} is ${order}. Juno (${petId}) is ${pet}.\n` });
      expect(await readPet(store, manager, petId)).toMatchObject({ status: pet });
    }
    const history = await historyOf(id);
    expect(history.slice(1)).toEqual(steps.map(({ order }) => ({ client_id: null, key_id: null, to_status: order })));
  });

  test('with --json print the changed order', async () => {
    const order = await orderFor('Olive');
    const approved = await homewardJson<ShownOrder>(['orders', 'approve', String(order.id)], env);
    expect(approved).toMatchObject({
      id: order.id,
      pet: 'Olive',
      client: 'Happy Tails',
      status: 'approved',
      actions: ['complete', 'cancel'],
    });
    const cancelled = await homewardJson<ShownOrder>(['orders', 'cancel', String(order.id)], env);
    expect(cancelled).toMatchObject({ id: order.id, status: 'cancelled', actions: [] });
    expect(cancelled.updatedAt > approved.updatedAt).toBe(true);
  });

  test.each([
    ['complete', [], "is still placed, so it can't be completed yet. Approve or cancel it."],
    ['approve', ['approve'], 'is already approved. Complete or cancel it.'],
    ['cancel', ['approve', 'complete'], "is already completed, so it can't be cancelled. It can only be returned."],
    ['return', ['cancel'], "is already cancelled, so it can't be returned. No further action is possible."],
  ])('%s after %j is rejected with 2 and what is possible', async (action, before, message) => {
    const { id } = await orderFor('Pip');
    await actAll(store, manager, id, ...before);
    const { status, stdout, stderr } = await run('orders', action, String(id));
    expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: '', stderr: `homeward: Order ${id} ${message}\n` });
  });

  test.each([
    ['approve', 'approve'],
    ['approve', 'cancel'],
  ])('%s by command and %s by the API at the same moment: one after the other, and no transition twice', async (byCommand, byApi) => {
    const { id } = await orderFor('Race');
    const lock = await holdLocks(store, 'select from orders where id = $1 for update', [id]);
    const command = run('orders', byCommand, String(id));
    await expect.poll(() => countLockWaits(store), { timeout: 20_000 }).toBe(1n);
    const request = act(store, manager, id, byApi);
    await expect.poll(() => countLockWaits(store)).toBe(2n);
    await lock.release();
    const [{ status, stderr }, response] = [await command, await request];
    // A cancellation that comes after the approval is legal too.
    const expected = byApi === 'cancel' ? [0, 200] : [0, 409];
    expect({ outcome: [status, response.status], stderr }).toEqual({ outcome: expected, stderr: '' });
    const transitions = await historyOf(id);
    expect(transitions.map(({ to_status }) => to_status)).toEqual(['placed', 'approved', ...(byApi === 'cancel' ? ['cancelled'] : [])]);
    expect((await run('verify')).status).toBe(0);
  });

  test('an order that expires before the command acts on it is rejected with 2', async () => {
    const { id } = await orderFor('Late');
    await store.asOwner("update orders set expires_at = now() - interval '1 second' where id = $1", id);
    const { status, stderr } = await run('orders', 'approve', String(id));
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(`Order ${id} is already expired`) });
  });
});

async function historyOf(orderId: number): Promise<Array<{ client_id: bigint | null; key_id: bigint | null; to_status: string }>> {
  const text = 'select client_id, key_id, to_status from history where order_id = $1 order by id';
  const rows = await store.read<{ client_id: bigint | null; key_id: bigint | null; to_status: string }>(text, orderId);
  return rows;
}
