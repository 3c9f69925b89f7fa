import { describe, expect, test } from 'vitest';
import { createManager, type PetBody, placeOrder, readPet } from '../adoption-steps.ts';
import { submit } from '../application-steps.ts';
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
  const shown = {
    shelter: { id: 1, name: 'Main shelter' },
    order: null,
    hold: null,
    openApplications: 0,
    profile: nothingKnown,
    photos: [],
  };
  const show = (id: number) => homewardJson(['pets', 'show', String(id)], env);

  test('shows the animal with the name of its category, its shelter and its open order', async () => {
    const pet = await add('Pretzel');
    const without = await homeward(['pets', 'show', String(pet.id)], { env });
    expect(without.stdout).toBe(
      `animal    Pretzel (${pet.id})\ncategory  Dogs (1)\nstatus    available\nshelter   Main shelter (1)\nphotos    none\n`,
    );
    expect(await show(pet.id)).toEqual({ ...pet, ...shown });

    const order = await placeOrder(store, manager, pet.id);
    const { stdout } = await homeward(['pets', 'show', String(pet.id)], { env });
    expect(stdout).toContain(`${order.id}, placed ${order.createdAt} by Happy Tails (${manager.clientId})`);
    expect(stdout).toContain(`\nSee also:\n  homeward orders show ${order.id}\n`);
    const names = { pet: 'Pretzel', clientId: Number(manager.clientId), client: 'Happy Tails' };
    expect(await show(pet.id)).toEqual({ ...pet, ...shown, status: 'pending', order: { ...order, ...names } });
  });

  test('shows what is known of its profile, with the animals that it belongs to', async () => {
    const [pet, friend] = [await add('Pretzel'), await add('Bagel')];
    const externalId = `P-${pet.id}`;
    const { status } = await writeProfile(store, manager, 'PUT', pet.id, { ...everything, externalId, bondedWith: [friend.id] });
    expect(status).toBe(200);
    const { stdout } = await homeward(['pets', 'show', String(pet.id)], { env });
    expect(stdout.split('\n').map((line) => line.split(/(?<=\S) {2,}/))).toEqual([
      ['animal', `Pretzel (${pet.id})`],
      ['category', 'Dogs (1)'],
      ['status', 'available'],
      ['shelter', 'Main shelter (1)'],
      ['breeds', 'primary Labrador Retriever, secondary Poodle, mixed yes'],
      ['birth date', '2015-05-01'],
      ['age', 'senior'],
      ['sex', 'male'],
      ['size', 'extra_large'],
      ['weight grams', '24500'],
      ['colors', 'brown, white, black'],
      ['coat', 'curly'],
      ['good with', 'children yes, dogs no'],
      ['spayed neutered', 'yes'],
      ['house trained', 'no'],
      ['vaccinated', 'yes'],
      ['special needs', 'no'],
      ['tags', 'playful, calm indoors'],
      ['video url', 'https://video.example/biscuit?t=1#start'],
      ['arrived on', '2024-02-29'],
      ['external id', externalId],
      ['adoption fee', '€120.00'],
      ['bonded with', `Bagel (${friend.id})`],
      ['photos', 'none'],
      [''],
      ['Loves long walks.'],
      ['Shy with strangers.'],
      [''],
      ['Attributes:'],
      ['  Zodiac: Taurus'],
      ['  Favourite toy: a red ball'],
      ['  Empty: '],
      [''],
    ]);
    expect(await show(pet.id)).toMatchObject({ profile: { ...everything, externalId, bondedWith: [friend.id] } });
  });

  test('says how many apply for it', async () => {
    const { id } = await add('Waffle');
    await submit(store, manager, id);
    const { stdout } = await homeward(['pets', 'show', String(id)], { env });
    expect(stdout).toMatch(/\nopen applications +1\n/);
    expect(stdout).toContain(`  homeward applications list --pet ${id}\n`);
    expect(await show(id)).toMatchObject({ openApplications: 1 });
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

describe('pets outcome', () => {
  test('records how an animal has left, shows it, and undoes it', async () => {
    const { id } = await add('Crumpet');
    const recorded = await homeward(['pets', 'outcome', String(id), '--type', 'transferred'], { env });
    expect(recorded).toMatchObject({
      status: 0,
      stdout: `Crumpet (${id}) is on no list any more: transferred. To undo it: homeward pets outcome ${id} --undo\n`,
    });
    expect(await readPet(store, manager, id)).toBeUndefined();
    const shown = await homeward(['pets', 'outcome', String(id)], { env });
    expect(shown.stdout).toMatch(new RegExp(`^Animal ${id}: transferred, recorded \\S+Z\\. It can be undone until \\S+Z\\.\n$`));
    const json = await homewardJson<{ petId: number }>(['pets', 'outcome', String(id)], env);
    expect(json).toEqual({ petId: id, type: 'transferred', recordedAt: expect.any(String), undoableUntil: expect.any(String) });
    const undone = await homeward(['pets', 'outcome', String(id), '--undo'], { env });
    expect(undone.stdout).toBe(`Crumpet (${id}) is listed again, and pending.\n`);
    expect((await readPet(store, manager, id))?.status).toBe('pending');
  });

  test('says what is wrong with 2: another one before, both options, no outcome, an unknown type', async () => {
    const { id } = await add('Scone');
    const fails = async (...args: string[]) => {
      const { status, stderr } = await homeward(['pets', 'outcome', String(id), ...args], { env });
      expect(status).toBe(2);
      return stderr;
    };
    expect(await fails()).toBe(`homeward: Scone (id ${id}) has no outcome: it is listed, and available.\n`);
    expect(await fails('--type', 'died', '--undo')).toBe('homeward: --type and --undo exclude each other.\n');
    expect(await fails('--type', 'adopted')).toContain('--type must be one of transferred,');
    await homeward(['pets', 'outcome', String(id), '--type', 'escaped'], { env });
    expect(await fails('--type', 'died')).toContain('has the outcome escaped already');
    const { status, stderr } = await homeward(['pets', 'show', String(id)], { env });
    expect([status, stderr]).toEqual([2, `homeward: Animal ${id} has left the store: escaped. 'homeward pets outcome ${id}' says more.\n`]);
  });
});
