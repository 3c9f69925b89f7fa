import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { addPet, createManager } from '../adoption-steps.ts';
import { addShelter, type ShelterBody, shelterOf } from '../shelter-steps.ts';
import { createTestStore, openTestStore } from '../test-store.ts';
import { homeward, homewardJson } from './homeward-command.ts';

const store = await openTestStore();
const { env } = store;

const folder = mkdtempSync(path.join(tmpdir(), 'homeward-'));
afterAll(() => rmSync(folder, { recursive: true }));

const createKey = (...args: string[]) => homeward(['keys', 'create', '--client', 'Danube', '--plan', 'pro', ...args], { env });

describe('homeward shelters', () => {
  test('create, update and list', async () => {
    const created = await homeward(['shelters', 'create', '--name', 'Danube', '--latitude', '48.2', '--longitude', '16.4'], { env });
    const id = Number(/Created Danube \((\d+)\)/.exec(created.stdout)?.[1]);
    expect(created).toMatchObject({ status: 0, stdout: expect.stringContaining(`--shelter ${id}`) });
    const update = ['shelters', 'update', String(id), '--phone', '123', '--latitude', '', '--longitude', ''];
    await homeward([...update, '--adoption', 'application', '--applications-max', '20', '--application-note', 'Read this.'], { env });
    const updated = await homewardJson<ShelterBody>([...update, '--application-note', ''], env);
    expect(updated).toMatchObject({ id, name: 'Danube', phone: '123', latitude: null, longitude: null });
    expect(updated).toMatchObject({ adoption: 'application', applicationsMax: 20, applicationNote: null });
    expect(await homewardJson<ShelterBody[]>(['shelters', 'list', '--after', '1'], env)).toEqual([updated]);
    const { stdout } = await homeward(['shelters', 'list', '--limit', '1'], { env });
    expect(stdout).toContain('Main shelter');
    expect(stdout).toContain('More follow: homeward shelters list --after 1');
  });

  test.each([
    [['create', '--name', ' '], 'name must be'],
    [['create', '--name', 'A', '--timezone', 'Nowhere'], 'timezone must be a name of the IANA database'],
    [['create', '--name', 'A', '--latitude', 'north', '--longitude', '1'], 'latitude must be a number from -90 to 90'],
    [['update', '1', '--name', ''], 'name must be'],
    [['update', '1', '--applications-max', ''], 'applicationsMax must be an integer from 1 to 500'],
    [['update', '1', '--applications-max', '501'], 'applicationsMax must be an integer from 1 to 500'],
    [['update', '1', '--adoption', 'lottery'], 'order, application'],
    [['update', '1'], 'at least one of name'],
    [['update', '4711', '--phone', '1'], 'There is no shelter with id 4711.'],
  ])('%j is rejected with 2, in words', async (args, words) => {
    expect(await homeward(['shelters', ...args], { env })).toMatchObject({ status: 2, stderr: expect.stringContaining(words) });
  });
});

describe('homeward shelters hours', () => {
  test('shows when visitors may come, and replaces it by what a file has', async () => {
    const id = String(await addShelter(store, 'Lake Shelter'));
    const none = await homeward(['shelters', 'hours', id], { env });
    expect(none.stdout).toContain(`Shelter ${id} has not said when it is open.`);
    const openingHours = { weekly: { saturday: [{ from: '10:00', to: '17:00' }] }, exceptions: [{ date: '2026-12-26', hours: [] }] };
    const file = path.join(folder, 'hours.json');
    writeFileSync(file, JSON.stringify({ openingHours }));
    expect(await homewardJson(['shelters', 'hours', id, '--file', file], env)).toEqual({ openingHours });
    const { stdout } = await homeward(['shelters', 'hours', id], { env });
    expect(stdout).toMatch(/saturday\s+10:00-17:00/);
    expect(stdout).toMatch(/2026-12-26\s+closed/);
    writeFileSync(file, JSON.stringify({ openingHours: { weekly: { saturday: [{ from: '10', to: '17' }] }, exceptions: [] } }));
    const wrong = await homeward(['shelters', 'hours', id, '--file', file], { env });
    expect(wrong).toMatchObject({ status: 2, stderr: expect.stringContaining('must be a time such as 09:30') });
  });

  test('new animals and what mail adds are values of a shelter like the others', async () => {
    const id = await addShelter(store, 'Held Shelter');
    const values = ['--new-animals-held', 'true', '--mail-received', 'We answer on Tuesdays.', '--mail-accepted', 'Bring a lead.'];
    const updated = await homewardJson<ShelterBody>(['shelters', 'update', String(id), ...values], env);
    expect(updated).toMatchObject({ newAnimalsHeld: true, mailReceived: 'We answer on Tuesdays.', mailAccepted: 'Bring a lead.' });
  });
});

describe('homeward shelters confirm', () => {
  const change = async (values: string) => {
    const id = await addShelter(store, 'Lake Shelter');
    await store.write(`update shelters set ${values} where id = $1`, id);
    return id;
  };
  const confirmedOf = (id: number) => store.read('select phone, town from confirmed_shelters where shelter_id = $1', id);

  test('lists what waits, before and after, and lets what is named into mail and searches', async () => {
    const [id, other] = [await change(`phone = '+43 1', town = 'Gaming'`), await change(`phone = '+43 2'`)];
    const listed = await homewardJson<Array<{ id: number; waiting: unknown }>>(['shelters', 'confirm'], env);
    expect(listed.filter((one) => one.id === id || one.id === other)).toEqual([
      {
        id,
        name: 'Lake Shelter',
        waiting: [
          { field: 'phone', says: '+43 1', confirmed: null },
          { field: 'town', says: 'Gaming', confirmed: null },
        ],
      },
      { id: other, name: 'Lake Shelter', waiting: [{ field: 'phone', says: '+43 2', confirmed: null }] },
    ]);
    expect(await homeward(['shelters', 'confirm', String(id)], { env })).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(`Confirmed of Lake Shelter (${id}): phone, town.`),
    });
    expect([await confirmedOf(id), await confirmedOf(other)]).toEqual([
      [{ phone: '+43 1', town: 'Gaming' }],
      [{ phone: null, town: null }],
    ]);
    expect(await homeward(['shelters', 'confirm', '--all'], { env })).toMatchObject({ status: 0 });
    expect(await homeward(['shelters', 'confirm'], { env })).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('Nothing waits.'),
    });
  });

  test.each([
    [['confirm', 'x'], '"x" is not an id'],
    [['confirm', '1', '--all'], '--all and ids contradict each other'],
    [['confirm', '4711'], 'There is no shelter with id 4711.'],
  ])('%j is rejected with 2, in words', async (args, words) => {
    expect(await homeward(['shelters', ...args], { env })).toMatchObject({ status: 2, stderr: expect.stringContaining(words) });
  });
});

describe('homeward shelters questions', () => {
  const asked = {
    questions: [
      { id: 'home', text: 'Where do you live?', type: 'choice', options: ['flat', 'house'], required: true },
      { id: 'floor', text: 'On which floor?', type: 'line', required: false, onlyIf: { question: 'home', is: 'flat' } },
    ],
  };
  const write = (name: string, text: string) => {
    const file = path.join(folder, name);
    writeFileSync(file, text);
    return file;
  };

  test('replaces them by those of a file, and shows them in a form that can be a file again', async () => {
    const id = String(await addShelter(store));
    expect((await homeward(['shelters', 'questions', id], { env })).stdout).toBe(`Shelter ${id} asks nothing.\n`);
    const set = ['shelters', 'questions', id, '--file'];
    const { stdout } = await homeward([...set, write('questions.json', JSON.stringify(asked))], { env });
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['id', 'type', 'text', 'options', 'required', 'only if'],
      ['home', 'choice', 'Where do you live?', 'flat, house', 'yes', '-'],
      ['floor', 'line', 'On which floor?', '-', 'no', 'home is flat'],
      [''],
    ]);
    const printed = (await homeward(['shelters', 'questions', id, '--json'], { env })).stdout;
    expect(JSON.parse(printed)).toEqual(asked);
    expect(await homewardJson([...set, write('printed.json', printed)], env)).toEqual(asked);
    expect(await homewardJson([...set, write('none.json', '{"questions":[]}')], env)).toEqual({ questions: [] });
  });

  test.each([
    ['no JSON', '{', 'wrong.json is not valid JSON'],
    ['nothing', '', 'wrong.json is empty.'],
    ['a list', '[]', 'wrong.json must be'],
    ['a misspelt field', '{"question":[]}', 'Did you mean questions?'],
    ['a wrong type', JSON.stringify({ questions: [{ ...asked.questions[0], type: 'number' }] }), 'questions[0].type must be one of line'],
    ['no options', JSON.stringify({ questions: [{ ...asked.questions[0], options: undefined }] }), 'questions[0].options is required'],
  ])('with %s in the file is rejected with 2, and changes nothing', async (_, text, words) => {
    const id = String(await addShelter(store));
    const result = await homeward(['shelters', 'questions', id, '--file', write('wrong.json', text)], { env });
    expect(result).toMatchObject({ status: 2, stderr: expect.stringContaining(words) });
    expect(await homewardJson(['shelters', 'questions', id], env)).toEqual({ questions: [] });
  });

  test.each([
    [['4711'], 'There is no shelter with id 4711.'],
    [['1', '--file', '/nowhere/questions.json'], "/nowhere/questions.json can't be read"],
  ])('%j is rejected with 2, in words', async (args, words) => {
    expect(await homeward(['shelters', 'questions', ...args], { env })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(words),
    });
  });
});

test('homeward orders place acts as staff, so it places an order where partners send applications', async () => {
  const [shelter, manager] = [await addShelter(store), await createManager(store, { client: 'Happy Tails' })];
  await homeward(['shelters', 'update', String(shelter), '--adoption', 'application'], { env });
  const { id } = await addPet(store, manager);
  await homeward(['pets', 'move', String(id), '--shelter', String(shelter)], { env });
  const args = ['orders', 'place', String(id), '--adopter', 'Ada Lovelace', '--email', 'ada@example.org', '--client', 'Happy Tails'];
  expect(await homeward(args, { env })).toMatchObject({ status: 0, stdout: expect.stringContaining('reserves Biscuit') });
});

describe('homeward keys with --shelter', () => {
  test('creates a bound key, lists its shelter, and keeps it through a rotation', async () => {
    const shelter = await addShelter(store);
    const args = [
      'keys',
      'create',
      '--client',
      'Bound',
      '--plan',
      'pro',
      '--shelter',
      String(shelter),
      '--scopes',
      'shelter:manage,pets:write',
    ];
    const created = await homewardJson<{ id: number; shelterId: number; key: string }>(args, env);
    expect(created.shelterId).toBe(shelter);
    const rotated = await homewardJson<{ id: number; shelterId: number; key: string }>(['keys', 'rotate', String(created.id)], env);
    expect(rotated.shelterId).toBe(shelter);
    const listed = await homewardJson<Array<{ id: number; shelterId: number | null }>>(['keys', 'list', '--client', 'Bound'], env);
    expect(listed.map(({ shelterId }) => shelterId)).toEqual([shelter, shelter]);
    const { id } = await addPet(store, { key: rotated.key, id: 0n, clientId: 0n });
    expect(await shelterOf(store, 'pets', id)).toBe(shelter);
    const { stdout } = await homeward(['keys', 'list', '--client', 'Bound'], { env });
    expect(stdout.split('\n')[0]).toContain('shelter');
  });

  test.each([
    [['--scopes', 'shelter:manage'], 'A key with the scope shelter:manage must be bound to a shelter: give --shelter.'],
    [['--shelter', '4711'], "There is no shelter 4711. 'homeward shelters list' lists all."],
    [['--shelter', 'Danube'], '"Danube" is not an id.'],
  ])('%j is rejected with 2 and creates neither a key nor a client', async (args, words) => {
    expect(await createKey(...args)).toMatchObject({ status: 2, stderr: expect.stringContaining(words) });
    const rows = await store.read(`select from clients where name = 'Danube'`);
    expect(rows).toEqual([]);
  });
});

describe('homeward pets move', () => {
  test('moves an animal, says so, and verify agrees; the other way round it does not', async () => {
    const [shelter, manager] = [await addShelter(store), await createManager(store)];
    const { id } = await addPet(store, manager);
    const move = ['pets', 'move', String(id), '--shelter', String(shelter)];
    expect((await homeward(move, { env })).stdout).toBe(`Moved animal ${id} to shelter ${shelter}.\n`);
    expect((await homeward(move, { env })).stdout).toBe(`Animal ${id} is in shelter ${shelter} already.\n`);
    expect(await shelterOf(store, 'pets', id)).toBe(shelter);
    expect((await homeward(['verify'], { env })).status).toBe(0);
    await store.write('update pets set shelter_id = 1 where id = $1', id);
    const broken = await homeward(['verify'], { env });
    expect(broken.status).toBe(1);
    expect(broken.stdout + broken.stderr).toContain(`it was last moved to shelter ${shelter}, but it is in shelter 1`);
  });

  test.each([
    ['4711', '1', 'There is no animal with id 4711.'],
    ['1', '4711', 'There is no shelter with id 4711.'],
  ])('of animal %s to shelter %s is rejected with 2', async (id, shelter, words) => {
    expect(await homeward(['pets', 'move', id, '--shelter', shelter], { env })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(words),
    });
  });
});

describe('homeward keys create without --shelter', () => {
  test('says where its animals will appear, once there are several shelters', async () => {
    await using own = await createTestStore();
    const create = (...args: string[]) => homeward(['keys', 'create', '--client', 'Paws', '--plan', 'pro', ...args], { env: own.env });
    const where = 'animals that it adds appear in Main shelter (1)';
    expect((await create()).stdout).not.toContain(where);
    await addShelter(own);
    expect((await create()).stdout).toContain(where);
    expect((await create('--shelter', '1')).stdout).not.toContain(where);
    expect((await create('--scopes', 'pets:read')).stdout).not.toContain(where);
  });
});
