// What is stored about one adopter, as a file, and its erasure: for an admin, in the own shelter.
import { beforeAll, expect, test } from 'vitest';
import { Staff } from './adoption-site.ts';
import { addShelter } from './console-steps.ts';
import { hiddenOf, openTestConsole, type TestBrowser, wordsOf } from './test-console.ts';

const lines: Array<Readonly<Record<string, unknown>>> = [];
const site = await openTestConsole({ onLog: (line) => lines.push(line) });
const { store } = site;
const shelterId = await addShelter(site, 'Danube Shelter', 'Europe/Vienna');
const otherId = await addShelter(site, 'Alps Shelter', 'Europe/Zurich');
const path = `/shelters/${shelterId}/adopter`;
let admin: TestBrowser;
let ids: { open: bigint; ended: bigint; elsewhere: bigint };
const email = 'ada@example.org';

beforeAll(async () => {
  const arrived = await site.arrive({ role: 'admin', shelterId });
  admin = arrived;
  const [here, there] = [
    new Staff(site, arrived.person),
    new Staff(site, (await site.arrive({ role: 'staff', shelterId: otherId })).person),
  ];
  const open = (await here.apply((await here.addPet()).id)).id;
  const ended = (await here.apply((await here.addPet('Moose')).id)).id;
  const elsewhere = (await there.apply((await there.addPet('Elsewhere')).id)).id;
  await here.decide(ended, 'decline');
  await store.write(`insert into application_notes (application_id, text) values ($1, 'She has two cats.')`, ended);
  ids = { open, ended, elsewhere };
  await store.write(`update applications set adopter_email = $1, adopter_address = $1, note = 'Called: has a garden.'`, email);
});

const form = async () => hiddenOf((await admin.get(path)).text, `${path}/file`);
const ask = async (values: Record<string, string>) => admin.post(`${path}/file`, { ...(await form()), ...values });

test('an admin gets all that is stored about an address in the own shelter, as a file, which is in the audit and in the log', async () => {
  const { status, headers, text } = await ask({ email: ' ADA@example.org ' });
  expect([status, headers.get('content-disposition')]).toEqual([
    200,
    expect.stringMatching(/^attachment; filename="adopter-[\d-]+\.json"$/),
  ]);
  const file = JSON.parse(text);
  expect(file).toMatchObject({ email, shelterId: Number(shelterId), isComplete: true, orders: [] });
  expect(file.applications.map(({ id }: { id: number }) => BigInt(id))).toEqual([ids.open, ids.ended]);
  expect(file.applications[1]).toMatchObject({
    animal: { name: 'Moose' },
    status: 'declined',
    name: 'Ada Lovelace',
    phone: '+43 1 555 01 23',
    notesOfStaff: [{ text: 'She has two cats.' }, { text: 'Called: has a garden.' }],
    history: [{ to: 'submitted' }, { from: 'submitted', to: 'declined' }],
  });
  expect(text).not.toContain('Elsewhere');
  const [row] = await store.read(
    `select act, shelter_id as "shelterId", after from audit where act = 'adopter.disclosed' order by id desc limit 1`,
  );
  expect(row).toEqual({ act: 'adopter.disclosed', shelterId, after: { applications: [String(ids.open), String(ids.ended)], orders: [] } });
  expect(JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? String(value) : value))).not.toContain('ada');
  await expect.poll(() => lines.findLast((line) => JSON.stringify(line).includes('/adopter/file'))).toMatchObject({ showsAdopter: true });
});

test('of an address that nobody has, there is nothing; without the token of the page, or for others, no file', async () => {
  expect(JSON.parse((await ask({ email: 'nobody@example.org' })).text)).toMatchObject({ applications: [], orders: [] });
  expect((await ask({ email: 'no address' })).status).toBe(422);
  expect((await ask({ _token: 'x', email })).status).toBe(403);
  expect((await admin.post(`/shelters/${otherId}/adopter/file`, { ...(await form()), email })).status).toBe(404);
  for (const role of ['staff', 'volunteer'] as const) {
    const browser = await site.arrive({ role, shelterId });
    expect([role, (await browser.get(path)).status, (await browser.post(`${path}/file`, { email })).status]).toEqual([role, 403, 403]);
  }
  expect((await (await site.arrive({ role: 'staff' })).get(path)).status).toBe(403);
});

test('it is erased once the admin was asked, from what is not open here, and nowhere else', async () => {
  const asked = await admin.submit(path, `${path}/ask`, { email });
  expect(wordsOf(asked.text)).toContain(`Erase everything of ${email} here?`);
  expect(await store.read('select from applications where adopter_email = $1', email)).toHaveLength(3);
  const sent = await admin.post(`${path}/erase`, hiddenOf(asked.text, `${path}/erase`));
  const said = wordsOf((await admin.open(sent.location ?? '')).text);
  expect(said).toContain('Erased from 1 application and 0 orders.');
  expect(said).toContain(`Open applications stay: ${ids.open}.`);
  const left = await store.read<{ id: bigint }>('select id from applications where adopter_email = $1 order by id', email);
  expect(left.map(({ id }) => id)).toEqual([ids.open, ids.elsewhere]);
  const [row] = await store.read(
    `select shelter_id as "shelterId", after from audit where act = 'adopter.erased' order by id desc limit 1`,
  );
  expect(row).toEqual({ shelterId, after: { orders: [], applications: [String(ids.ended)] } });
});
