import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../testkit/temporary-folder.ts';
import { addPet, createManager, readPet } from '../adoption-steps.ts';
import { type ApplicationBody, decideAll, readApplication, submit } from '../application-steps.ts';
import { writeProfile } from '../profile-steps.ts';
import { openTestStore } from '../test-store.ts';
import { homeward, homewardJson } from './homeward-command.ts';

interface ShownApplication extends ApplicationBody {
  readonly pet: string;
  readonly client: string;
  readonly shelter: string;
  readonly actions: string[];
}

const store = await openTestStore();
const { env } = store;
const manager = await createManager(store, { client: 'Happy Tails' });

async function applicationFor(name: string, ...actions: string[]): Promise<ApplicationBody> {
  const { id } = await addPet(store, manager, { name });
  const submitted = await submit(store, manager, id);
  await decideAll(store, manager, submitted.id, ...actions);
  return submitted;
}

const anotherFor = (petId: number, name: string) =>
  submit(store, manager, petId, { adopter: { name, email: `${name}.${petId}@example.org`.toLowerCase() } });

const run = (...args: string[]) => homeward(['applications', ...args], { env });
const runJson = <T = ShownApplication>(...args: string[]) => homewardJson<T>(['applications', ...args], env);

describe('applications show', () => {
  test('shows animal, shelter, adopter and client by name, and the commands that are possible next', async () => {
    const { id, petId, adopter, createdAt } = await applicationFor('Biscuit');
    expect((await run('show', String(id))).stdout).toBe(`application  ${id}
status       submitted
animal       Biscuit (${petId})
shelter      Main shelter (1)
adopter      Ada Lovelace <${adopter?.email}>
client       Happy Tails (${manager.clientId})
submitted    ${createdAt}

Next:
  homeward applications review ${id}
  homeward applications accept ${id}
  homeward applications decline ${id}
  homeward applications withdraw ${id}
`);
  });

  test('and orders show name the animals that this one is bonded with', async () => {
    const [pip, squeak] = [await addPet(store, manager, { name: 'Pip' }), await addPet(store, manager, { name: 'Squeak' })];
    await writeProfile(store, manager, 'PUT', pip.id, { bondedWith: [squeak.id] });
    const { id } = await submit(store, manager, pip.id);
    const bond = `\nanimal       Pip (${pip.id})\nbonded with  Squeak (${squeak.id})\n`;
    expect((await run('show', String(id))).stdout).toContain(bond);
    await run('accept', String(id));
    const { orderId } = await readApplication(store, manager, id);
    expect((await homeward(['orders', 'show', String(orderId)], { env })).stdout).toContain(bond);
  });

  test('shows the order, the message, the note, why it was closed and the answers', async () => {
    const { id, petId } = await applicationFor('Zoe', 'accept');
    const accepted = await readApplication(store, manager, id);
    expect((await run('show', String(id))).stdout).toContain(`\norder        ${accepted.orderId}\n`);
    await store.call('POST', `/v1/store/orders/${accepted.orderId}/cancel`, { key: manager.key });
    await run('note', String(id), 'Has a garden.');
    const answers = [
      { question: 'garden', text: 'Do you have a garden?', answer: true },
      { question: 'others', text: 'Other animals?', answer: ['a cat', 'a dog'] },
    ];
    await store.asOwner('update applications set answers = $2 where id = $1', id, JSON.stringify(answers));
    const { stdout } = await run('show', String(id));
    expect(stdout).toContain('\nreason       The adoption that had been agreed on was called off.\n');
    expect(stdout).toContain('\nnote         Has a garden.\n');
    expect(stdout).toContain('\n\nDo you have a garden?\n  Yes\n\nOther animals?\n  a cat, a dog\n');
    expect(stdout).toMatch(/\nNext:\n {2}homeward applications reopen \d+\n$/);
    const declined = await anotherFor(petId, 'Bob');
    await run('decline', String(declined.id), '--message', 'Needs a garden.');
    expect((await run('show', String(declined.id))).stdout).toContain('\nmessage      Needs a garden.\n');
  });

  test('with --json prints the application, the names and the actions', async () => {
    const application = await applicationFor('Milo');
    const names = { pet: 'Milo', clientId: Number(manager.clientId), client: 'Happy Tails', shelter: 'Main shelter' };
    const actions = ['review', 'accept', 'decline', 'withdraw'];
    expect(await runJson('show', String(application.id))).toEqual({
      ...application,
      ...names,
      actions,
      answers: [],
      note: null,
      mailFailures: [],
    });
  });

  test('of one that does not exist, or that its adopter has not confirmed, is rejected with 2', async () => {
    const { id } = await applicationFor('Shy');
    await store.asOwner("update applications set status = 'unconfirmed' where id = $1", id);
    for (const absent of [id, 4_711]) {
      expect(await run('show', String(absent))).toMatchObject({
        status: 2,
        stderr: `homeward: There is no application ${absent}. 'homeward applications list' lists all.\n`,
      });
    }
  });
});

describe('applications list', () => {
  test('shows names beside ids, filters by status, animal and shelter, and says how to go on', async () => {
    const first = await applicationFor('Hazel', 'review');
    const second = await anotherFor(first.petId, 'Bob');
    const filter = ['--pet', String(first.petId)];
    const { stdout } = await run('list', ...filter);
    const client = `Happy Tails (${manager.clientId})`;
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['id', 'status', 'animal', 'adopter', 'client', 'submitted'],
      [String(first.id), 'reviewing', `Hazel (${first.petId})`, 'Ada Lovelace', client, first.createdAt],
      [String(second.id), 'submitted', `Hazel (${first.petId})`, 'Bob', client, second.createdAt],
      [''],
    ]);
    expect((await run('list', ...filter, '--limit', '1')).stdout).toContain(
      `\n\nMore follow: homeward applications list --pet ${first.petId} --after ${first.id}\n`,
    );
    expect(await runJson<unknown>('list', ...filter, '--shelter', '1', '--status', 'submitted')).toMatchObject([{ id: second.id }]);
    expect((await run('list', '--shelter', '4711')).stdout).toBe('No applications match.\n');
    expect((await run('list', '--status', 'unconfirmed')).status).toBe(2);
  });
});

describe('applications submit', () => {
  const args = (petId: number, ...more: string[]) => [
    'submit',
    ...['--pet', String(petId), '--client', 'Happy Tails'],
    ...['--name', 'Grace Hopper', '--email', `grace.${petId}@example.org`, ...more],
  ];

  test('submits for the client, as staff at the desk: confirmed from the start, and the animal stays available', async () => {
    const pet = await addPet(store, manager, { name: 'Nemo' });
    const submitted = await runJson(...args(pet.id, '--phone', '+43 1 555'));
    expect(submitted).toMatchObject({ petId: pet.id, pet: 'Nemo', client: 'Happy Tails', status: 'submitted' });
    expect(submitted.adopter).toEqual({ name: 'Grace Hopper', email: `grace.${pet.id}@example.org`, phone: '+43 1 555' });
    expect(await readPet(store, manager, pet.id)).toMatchObject({ status: 'available' });
    const rows = await store.read(
      'select by, client_id, key_id, to_status from application_history where application_id = $1',
      submitted.id,
    );
    expect(rows).toEqual([{ by: 'staff', client_id: null, key_id: null, to_status: 'submitted' }]);
    const { stdout } = await run(...args((await addPet(store, manager, { name: 'Rex' })).id));
    expect(stdout).toMatch(
      /^Application \d+ of Grace Hopper for Rex \(\d+\) is submitted\.\n\nNext:\n {2}homeward applications review \d+\n/,
    );
  });

  test('what the API would reject is rejected with 2 and changes nothing', async () => {
    using folder = temporaryFolder('answers');
    const [broken, wrong] = [path.join(folder.path, 'broken.json'), path.join(folder.path, 'wrong.json')];
    writeFileSync(broken, '{');
    writeFileSync(wrong, '["garden"]');
    const pet = await addPet(store, manager);
    const sold = await addPet(store, manager, { name: 'Rex', status: 'sold' });
    await store.createKey({ client: 'Closed' });
    await homeward(['clients', 'suspend', 'Closed'], { env });
    const messages: Array<[args: string[], message: string]> = [
      [args(sold.id), `Rex (id ${sold.id}) is sold.`],
      [args(4_711), 'There is no animal with id 4711.'],
      [args(pet.id, '--email', 'ada'), '--email must be an e-mail address'],
      [args(pet.id, '--phone', '1\u0007'), '--phone must be a string of at most 40 characters'],
      [args(pet.id, '--answers', broken), `${broken} is not JSON:`],
      [args(pet.id, '--answers', wrong), 'answers'],
      [args(pet.id, '--answers', path.join(folder.path, 'none.json')), "can't be read:"],
      [args(pet.id, '--client', 'Nobody'), 'There is no client "Nobody".'],
      [args(pet.id, '--client', 'Closed'), 'is suspended, so no application can be submitted for it.'],
    ];
    for (const [given, message] of messages) {
      expect(await run(...given)).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining(message) });
    }
    expect(await runJson('list', '--pet', String(pet.id))).toEqual([]);
  });
});

describe('applications review, accept, decline, reopen, withdraw and note', () => {
  test('accept names the order, and says what becomes of the others; the order names its application', async () => {
    const { id, petId } = await applicationFor('Juno');
    await anotherFor(petId, 'Bob');
    const { stdout } = await run('accept', String(id));
    const { orderId } = await readApplication(store, manager, id);
    expect(stdout).toBe(`Application ${id} is accepted.
Order ${orderId} reserves Juno (${petId}) for Ada Lovelace. 1 other application for the animal stays open. It is closed when the order is completed.

Next:
  homeward orders complete ${orderId}
  homeward applications list --pet ${petId}
`);
    expect((await homeward(['orders', 'show', String(orderId)], { env })).stdout).toContain(`\napplication  ${id}\n`);
    expect((await run('withdraw', String(id))).stdout).toBe(
      `Application ${id} is withdrawn.\nOrder ${orderId} is cancelled, and Juno (${petId}) is available.\n`,
    );
  });

  test.each([
    ['review', [], 'reviewing'],
    ['decline', ['review'], 'declined'],
    ['reopen', ['decline'], 'reviewing'],
    ['withdraw', ['review'], 'withdrawn'],
  ])('%s after %j makes the application %s, as the service', async (action, before, status) => {
    const { id } = await applicationFor('Olive', ...before);
    expect(await run(action, String(id))).toMatchObject({ status: 0, stdout: `Application ${id} is ${status}.\n`, stderr: '' });
    const text = 'select by, client_id, to_status from application_history where application_id = $1 order by id desc limit 1';
    expect(await store.read(text, id)).toEqual([{ by: 'staff', client_id: null, to_status: status }]);
  });

  test('an act that the status does not allow is rejected with 2 and what is possible', async () => {
    const { id } = await applicationFor('Pip', 'withdraw');
    expect(await run('accept', String(id))).toMatchObject({
      status: 2,
      stdout: '',
      stderr: `homeward: Application ${id} is already withdrawn, so it can't be accepted. No further action is possible.\n`,
    });
  });

  test('note adds a note of staff, and without a text removes it', async () => {
    const { id } = await applicationFor('Finn');
    expect((await run('note', String(id), 'Called twice.')).stdout).toBe(`Added the note to application ${id}.\n`);
    expect(await readApplication(store, manager, id)).toMatchObject({ note: 'Called twice.' });
    expect((await run('note', String(id))).stdout).toBe(`Removed the note of application ${id}.\n`);
    expect(await readApplication(store, manager, id)).toMatchObject({ note: null });
    expect((await run('note', String(id), 'x'.repeat(2_001))).status).toBe(2);
  });
});
