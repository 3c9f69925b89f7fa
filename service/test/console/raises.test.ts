// A colleague who was never there: who has opened somebody's invitation must not get the rights that are later given to that person.
import { afterEach, expect, test } from 'vitest';
import { startMailServer } from '../../../testkit/mail-server.ts';
import { findPersonOf, type Person } from '../../src/access/people/people.ts';
import { peopleMailKinds, readingPeopleMail } from '../../src/changes/mail/people-mail.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { Letters, openMailSender, sendAll } from '../mail-steps.ts';
import { addPasskeyRow, addShelter } from './console-steps.ts';
import { openTestConsole, type TestBrowser, wordsOf } from './test-console.ts';

const server = disposeAfterAll(await startMailServer());
const site = await openTestConsole({
  env: {
    HOMEWARD_SMTP_URL: server.url,
    HOMEWARD_MAIL_FROM: 'no-reply@store.example',
    HOMEWARD_PUBLIC_URL: 'https://store.example',
  },
});
const { store } = site;
const { db } = store.dependencies;
const { sender } = openMailSender(store, server, new Letters(), {
  kinds: peopleMailKinds,
  read: readingPeopleMail(db, { consoleUrl: site.url, language: 'en' }, async () => undefined),
});
const danube = await addShelter(site, 'Danube', 'Europe/Vienna');
const boss = await site.arrive({ role: 'admin' });
afterEach(() => {
  server.accepted.length = 0;
});

const linkTo = (address: string) => {
  const { raw = '' } = server.accepted.findLast(({ to }) => to.includes(address)) ?? {};
  return /\/link\/new-role\/[\w-]{43}/.exec(raw.replaceAll('=\r\n', ''))?.[0] ?? '';
};
const pageOf = ({ id }: Person) => `/people/${id}`;
const raise = (by: TestBrowser, person: Person, to: Record<string, string> = { role: 'admin', reach: 'store', shelter: '' }) =>
  by.submit(pageOf(person), `${pageOf(person)}/change`, { name: person.name, ...to });
const opens = async (browser: TestBrowser) => (await browser.get('/me')).status === 200;
const find = async ({ email }: Person) => {
  const found = await findPersonOf(db, email);
  if (!found) throw new Error('nobody');
  return found;
};
const rowsOf = ({ id }: Person) =>
  store.read(
    `select (select count(*) from sessions where person_id = $1) as sessions, (select count(*) from passkeys where person_id = $1) as passkeys,
      (select count(*) from identities where person_id = $1) as identities, (select count(*) from person_links where person_id = $1) as links`,
    id,
  );

test('whoever has joined in the name of a colleague has no part in what that colleague is made later', async () => {
  // Somebody else has a session, a passkey, an account and a link in her name.
  const dora = await site.arrive({ role: 'staff', shelterId: danube, email: 'dora@example.org' });
  const { person } = dora;
  await addPasskeyRow(site, person.id);
  await store.write(`insert into identities (issuer, subject, person_id) values ('https://id.example', 'mallory', $1)`, person.id);
  const link = await site.link('sign_in', person);

  const answer = await raise(boss, person);
  const page = wordsOf((await boss.open(answer.location ?? '')).text);
  expect(page).toContain('Admin, Whole store takes effect when dora follows the link mailed to dora@example.org');
  expect((await boss.open(answer.location ?? '')).text).not.toContain('/new-role/');
  expect(await find(person)).toMatchObject({ role: 'staff', shelterId: danube });
  expect((await dora.get('/people')).status).toBe(403);

  await sendAll(sender);
  const mailed = linkTo('dora@example.org');
  const real = site.browser();
  expect(wordsOf((await real.get(mailed)).text)).toContain('You become admin of the whole store');
  expect(await find(person)).toMatchObject({ role: 'staff' });
  expect((await real.post(mailed)).status).toBe(303);

  expect(await find(person)).toMatchObject({ role: 'admin', shelterId: null, raise: null });
  expect((await real.get('/people')).status).toBe(200);
  expect(await opens(dora)).toBe(false);
  expect((await site.browser().post(link)).status).toBe(403);
  expect(await rowsOf(person)).toEqual([{ sessions: 1n, passkeys: 0n, identities: 0n, links: 0n }]);
  expect((await site.browser().post(mailed)).status).toBe(403);
  const acts = await store.read(
    `select act, person_id from audit where target_id = $1 and act like 'person.%' order by id desc limit 2`,
    person.id,
  );
  expect(acts).toEqual([
    { act: 'person.changed', person_id: person.id },
    { act: 'person.raise_offered', person_id: boss.person.id },
  ]);
});

test.each([
  ['volunteer', danube, { role: 'staff', reach: 'shelter', shelter: String(danube) }],
  ['staff', danube, { role: 'admin', reach: 'shelter', shelter: String(danube) }],
  ['staff', null, { role: 'admin', reach: 'store', shelter: '' }],
  ['admin', danube, { role: 'staff', reach: 'store', shelter: '' }],
] as const)('a %s of %s who is to be %j waits for the link', async (role, shelterId, to) => {
  const { person } = await site.arrive({ role, shelterId });
  await raise(boss, person, to);
  expect(await find(person)).toMatchObject({ role, shelterId, raise: { role: to.role, isOpen: true } });
});

test('a new role may be withdrawn, is taken back by fewer rights, and ends: its link gives nothing then', async () => {
  const ends: ReadonlyArray<(person: Person) => Promise<unknown>> = [
    (person) => boss.submit(pageOf(person), `${pageOf(person)}/withdraw`),
    (person) => raise(boss, person, { role: 'volunteer', reach: 'shelter', shelter: String(danube) }),
    ({ id }) => store.write('update people set raised_until = now() where id = $1', id),
  ];
  for (const end of ends) {
    const { person } = await site.arrive({ role: 'staff', shelterId: danube });
    await raise(boss, person);
    await sendAll(sender);
    const mailed = linkTo(person.email);
    await end(person);
    expect((await site.browser().get(mailed)).status).toBe(404);
    expect((await site.browser().post(mailed)).status).toBe(403);
    expect((await find(person)).role).not.toBe('admin');
  }
});

test('a new role that somebody has given who may do so no more is nobody’s', async () => {
  const other = await site.arrive({ role: 'admin' });
  const { person } = await site.arrive({ role: 'staff', shelterId: danube });
  await raise(other, person);
  await sendAll(sender);
  await raise(boss, other.person, { role: 'staff', reach: 'store', shelter: '' });
  expect((await site.browser().post(linkTo(person.email))).status).toBe(403);
  expect(await find(person)).toMatchObject({ role: 'staff', shelterId: danube });
});

test('sessions and passkeys that are made while the link is followed end with the others, in 20 rounds', async () => {
  for (let round = 0; round < 20; round += 1) {
    const { person } = await site.arrive({ role: 'staff', shelterId: danube });
    await raise(boss, person);
    const mailed = await site.link('raise', person);
    const links = await Promise.all(Array.from({ length: 3 }, () => site.link('sign_in', person)));
    const others = links.map(() => site.browser());
    const real = site.browser();
    await Promise.all([real.post(mailed), ...others.map((browser, i) => browser.post(links[i] ?? ''))]);
    expect(await opens(real)).toBe(true);
    expect(await Promise.all(others.map(opens))).toEqual([false, false, false]);
  }
});

test('removing somebody asks about those whom that person has invited, and removes who is ticked', async () => {
  const chief = await site.arrive({ role: 'admin', shelterId: danube });
  for (const name of ['eve', 'mel', 'kim'])
    await chief.submit('/people/invite', '/people/invite', { email: `${name}@example.org`, role: 'staff' });
  const [eve, mel, kim] = await Promise.all(['eve', 'mel', 'kim'].map((name) => findPersonOf(db, `${name}@example.org`)));
  if (!eve || !mel || !kim) throw new Error('nobody');
  const joined = site.browser();
  await joined.post(await site.link('invitation', eve));
  expect(wordsOf((await boss.open(pageOf(eve))).text)).toContain(`Invited by ${chief.person.name}`);
  const page = (await boss.open(pageOf(chief.person))).text;
  expect(wordsOf(page)).toContain(`Remove also whom ${chief.person.name} has invited`);
  // Who has not joined is ticked.
  expect([eve, mel, kim].map(({ id }) => new RegExp(`value="${id}" checked`).test(page))).toEqual([false, true, true]);
  const { status } = await boss.submit(pageOf(chief.person), `${pageOf(chief.person)}/remove`, { others: String(eve.id) });
  expect(status).toBe(303);
  expect(await opens(joined)).toBe(false);
  expect(await findPersonOf(db, 'mel@example.org')).toMatchObject({ invitedBy: chief.person.id });
  const removed = await store.read(`select target_id from audit where act = 'person.removed' order by id desc limit 2`);
  expect(removed.map(({ target_id }) => target_id).sort()).toEqual([chief.person.id, eve.id].sort());
});

test('only those are removed with somebody whom that person has invited', async () => {
  const { person } = await site.arrive({ role: 'staff', shelterId: danube });
  const { person: other } = await site.arrive({ role: 'staff', shelterId: danube });
  const { status } = await boss.submit(pageOf(person), `${pageOf(person)}/remove`, { others: String(other.id) });
  expect(status).not.toBe(303);
  expect(await find(other)).toMatchObject({ id: other.id });
});
