import { describe, expect, test } from 'vitest';
import { createManager, type PetBody, placeOrder, readPet } from '../adoption-steps.ts';
import { countLockWaits, holdLocks } from '../lock-waits.ts';
import { everything, nothingKnown, writeProfile } from '../profile-steps.ts';
import { openTestStore } from '../test-store.ts';
import { homeward, homewardJson } from './homeward-command.ts';

interface ShownPet extends PetBody {
  readonly category: string | null;
}

const store = await openTestStore();
const { env } = store;
const manager = await createManager(store, { client: 'Happy Tails' });

const add = (name: string, ...more: string[]) =>
  homewardJson<ShownPet>(['pets', 'add', '--name', name, '--category', 'Dogs', ...more], env);

describe('pets add', () => {
  test('adds an animal to a category that is given by its name, whatever its case; the API lists it at once', async () => {
    // Cached before, so that a stale page would be served.
    const before = await store.call<PetBody[]>('GET', '/v1/pets?limit=100', { key: manager.key });
    const { status, stdout } = await homeward(['pets', 'add', '--name', 'Biscuit', '--category', 'dogs'], { env });
    const id = Number(/\d+/.exec(stdout)?.[0]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: `Added Biscuit (${id}) to Dogs (1). It is available.\n` });
    const after = await store.call<PetBody[]>('GET', '/v1/pets?limit=100', { key: manager.key });
    expect(after.json).toEqual([...before.json, { id, name: 'Biscuit', categoryId: 1, status: 'available' }]);
  });

  test('records the history and the event that the API records, without a client', async () => {
    const { id } = await add('Waffles', '--status', 'sold');
    const history = await rows('select client_id, key_id, from_status, to_status, why from history where pet_id = $1', id);
    expect(history).toEqual([{ client_id: null, key_id: null, from_status: null, to_status: 'sold', why: 'added' }]);
    expect(await rows('select type, data from outbox where pet_id = $1', id)).toEqual([
      { type: 'pet.created', data: `{"pet":{"id":${id},"name":"Waffles","categoryId":1,"status":"sold"}}` },
    ]);
  });

  test('registers a new category, and prints its id exactly', async () => {
    const args = ['pets', 'add', '--name', 'Smaug', '--category', '9223372036854775807'];
    const { stdout } = await homeward([...args, '--json'], { env });
    expect(stdout).toMatch(/^\{"id":\d+,"name":"Smaug","categoryId":9223372036854775807,"status":"available","category":null\}\n$/);
    const { stdout: words } = await homeward(args, { env });
    expect(words).toMatch(/^Added Smaug \(\d+\) to category 9223372036854775807, which has no name yet\. It is available\.\n$/);
    const listed = await homeward(['pets', 'list', '--category', '9223372036854775807', '--limit', '1', '--json'], { env });
    expect(listed.stdout).toContain('"categoryId":9223372036854775807');
  });

  test('a name that two categories have is rejected with 2 and their ids', async () => {
    await store.write("insert into categories (id, name) values (21, 'Parrots'), (22, 'parrots')");
    const { status, stderr } = await homeward(['pets', 'add', '--name', 'Polly', '--category', 'Parrots'], { env });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: 'homeward: Several categories have the name "Parrots". Give the id of one: 21, 22.\n',
    });
  });

  test('with a closed list of categories, an unknown id is rejected with 2 and what exists, and nothing is stored', async () => {
    const closed = { ...env, HOMEWARD_CATEGORIES: 'closed' };
    const { status, stderr } = await homeward(['pets', 'add', '--name', 'Nobody', '--category', '4711'], { env: closed });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringContaining('There is no category 4711. There are Dogs (1), Cats (2),'),
    });
    expect(await rows("select from pets where name = 'Nobody'")).toEqual([]);
  });
});

describe('pets list', () => {
  test('shows category and open order by name and id, filters, and says how to go on', async () => {
    const [hazel, clover] = [await addRabbit('Hazel'), await addRabbit('Clover')];
    const order = await placeOrder(store, manager, clover.id);
    const args = ['pets', 'list', '--category', 'rabbits'];
    const { stdout } = await homeward(args, { env });
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['id', 'name', 'status', 'category', 'order'],
      [String(hazel.id), 'Hazel', 'available', 'Rabbits (3)', '-'],
      [String(clover.id), 'Clover', 'pending', 'Rabbits (3)', String(order.id)],
      [''],
    ]);
    const first = await homeward([...args, '--limit', '1'], { env });
    expect(first.stdout).toContain(`\n\nMore follow: homeward pets list --category 3 --after ${hazel.id}\n`);
    const shown = { ...clover, status: 'pending', category: 'Rabbits', orderId: order.id };
    expect(await homewardJson([...args, '--after', String(hazel.id)], env)).toEqual([shown]);
    expect(await homewardJson([...args, '--status', 'pending'], env)).toEqual([shown]);
    expect(await homewardJson([...args, '--status', 'sold'], env)).toEqual([]);
    expect((await homeward([...args, '--status', 'sold'], { env })).stdout).toBe('No animals match.\n');
  });

  const addRabbit = async (name: string) => {
    const { category: _, ...pet } = await homewardJson<ShownPet>(['pets', 'add', '--name', name, '--category', '3'], env);
    return pet;
  };
});

describe('pets show', () => {
  test('shows the animal with the name of its category, and its open order', async () => {
    const pet = await add('Pretzel');
    const without = await homeward(['pets', 'show', String(pet.id)], { env });
    expect(without.stdout).toBe(`animal    Pretzel (${pet.id})\ncategory  Dogs (1)\nstatus    available\n`);
    expect(await homewardJson(['pets', 'show', String(pet.id)], env)).toEqual({ ...pet, order: null, profile: nothingKnown });

    const order = await placeOrder(store, manager, pet.id);
    const { stdout } = await homeward(['pets', 'show', String(pet.id)], { env });
    expect(stdout).toContain(`${order.id}, placed ${order.createdAt} by Happy Tails (${manager.clientId})`);
    expect(stdout).toContain(`\nSee the order: homeward orders show ${order.id}\n`);
    const names = { pet: 'Pretzel', clientId: Number(manager.clientId), client: 'Happy Tails' };
    expect(await homewardJson(['pets', 'show', String(pet.id)], env)).toEqual({
      ...pet,
      status: 'pending',
      order: { ...order, ...names },
      profile: nothingKnown,
    });
  });

  test('shows what is known of its profile', async () => {
    const pet = await add('Pretzel');
    const externalId = `P-${pet.id}`;
    await writeProfile(store, manager, 'PUT', pet.id, { ...everything, externalId });
    const { stdout } = await homeward(['pets', 'show', String(pet.id)], { env });
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['animal', `Pretzel (${pet.id})`],
      ['category', 'Dogs (1)'],
      ['status', 'available'],
      ['breed', 'Labrador Retriever, Poodle'],
      ['age', 'senior'],
      ['sex', 'male'],
      ['size', 'extra_large'],
      ['external id', externalId],
      [''],
    ]);
    const { profile } = await homewardJson<{ profile: unknown }>(['pets', 'show', String(pet.id)], env);
    expect(profile).toMatchObject({ ...everything, externalId });
  });
});

describe('pets remove', () => {
  test('removes an animal from every list, and keeps its history', async () => {
    const pet = await add('Mistake');
    expect(await readPet(store, manager, pet.id)).toMatchObject({ name: 'Mistake' });
    const { status, stdout } = await homeward(['pets', 'remove', String(pet.id)], { env });
    expect({ status, stdout }).toEqual({ status: 0, stdout: `Removed Mistake (${pet.id}).\n` });
    expect(await readPet(store, manager, pet.id)).toBeUndefined();
    const history = await rows('select client_id, to_status, why from history where pet_id = $1 order by id', pet.id);
    expect(history.at(-1)).toEqual({ client_id: null, to_status: 'removed', why: 'taken back by staff' });
    expect(await rows("select type from outbox where pet_id = $1 and type = 'pet.removed'", pet.id)).toHaveLength(1);
    expect(await homeward(['pets', 'remove', String(pet.id)], { env })).toMatchObject({ status: 2 });
  });

  test('with --json prints one object', async () => {
    const { id } = await add('Twin');
    expect(await homewardJson(['pets', 'remove', String(id)], env)).toEqual({ id, removed: true });
  });

  test('an animal that is changed after it was shown is not removed', async () => {
    const { id } = await add('Otis');
    const change = await holdLocks(store, "update pets set name = 'Otto' where id = $1", [id]);
    const command = homeward(['pets', 'remove', String(id)], { env });
    // The command has read the animal, and waits for its lock.
    await expect.poll(() => countLockWaits(store), { timeout: 20_000 }).toBe(1n);
    await change.release();
    const { stderr } = await command;
    expect(stderr).toBe(`homeward: Otto (${id}) has just been changed. Look at it again: homeward pets show ${id}\n`);
    expect(await readPet(store, manager, id)).toMatchObject({ name: 'Otto' });
  });

  test('an animal with an open order is rejected with 2 and the order to cancel', async () => {
    const { id } = await add('Juno');
    const order = await placeOrder(store, manager, id);
    const { status, stderr } = await homeward(['pets', 'remove', String(id)], { env });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: `homeward: Juno (${id}) is reserved by order ${order.id}, so it can't be removed. Cancel the order first: homeward orders cancel ${order.id}\n`,
    });
    expect(await readPet(store, manager, id)).toMatchObject({ status: 'pending' });
  });
});

async function rows(text: string, ...values: unknown[]): Promise<unknown[]> {
  return await store.write(text, ...values);
}
