// Forms on slow lines: of people they are waited for, and strangers are told in words.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { changePerson, removePerson } from '../../src/access/people/people.ts';
import { charge } from '../../src/access/rate-limit/limiter.ts';
import { addressQuotas } from '../../src/access/rate-limit/plans.ts';
import { openLimiter } from '../../src/dependencies.ts';
import { theService } from '../../src/domain/actor.ts';
import { addressSubject } from '../../src/platform/caller-addresses.ts';
import { operator } from '../people-steps.ts';
import { Staff } from './adoption-site.ts';
import { addShelter } from './console-steps.ts';
import { createTestConsole, hiddenOf, openTestConsole, type TestBrowser, type TestConsole } from './test-console.ts';

const formMsMax = 14_000;
const site = await openTestConsole({ formMsMax });

interface SlowForm {
  readonly socket: Socket;
  /** All that was received until the console has closed the connection. */
  readonly ended: Promise<string>;
}

/** Sends the headers and the first half of a form, and then nothing. */
function begin(at: TestConsole, path: string, { cookies }: TestBrowser, body: string): SlowForm & { readonly rest: string } {
  const { port } = new URL(at.url);
  const socket = connect(Number(port), '127.0.0.1');
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    'Sec-Fetch-Site: same-origin',
    `Cookie: session=${cookies.get('session') ?? ''}`,
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  const half = Math.floor(body.length / 2);
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, half)}`);
  const ended = new Promise<string>((resolve) => {
    let received = '';
    socket.setEncoding('utf8').on('data', (text) => (received += text));
    socket.on('error', () => {}).on('close', () => resolve(received));
  });
  return { socket, ended, rest: body.slice(half) };
}

async function invitation(admin: TestBrowser, email: string): Promise<string> {
  const hidden = hiddenOf((await admin.open('/people/invite')).text, '/people/invite');
  return new URLSearchParams({ ...hidden, email, name: 'Slow', role: 'staff', reach: 'store', shelter: '' }).toString();
}

test.concurrent('a form of somebody who is signed in is carried out when it takes 12 s', { timeout: 40_000 }, async () => {
  const admin = await site.arrive({ role: 'admin' });
  const { socket, ended, rest } = begin(site, '/people/invite', admin, await invitation(admin, 'slow@example.org'));
  await sleep(12_000);
  socket.write(rest);
  expect(await ended).toMatch(/^HTTP\/1\.1 303 /);
});

test.concurrent('a form that does not arrive in its time is a page that says so', { timeout: 40_000 }, async () => {
  const admin = await site.arrive({ role: 'admin' });
  const text = await begin(site, '/people/invite', admin, await invitation(admin, 'never@example.org')).ended;
  expect(text).toMatch(/^HTTP\/1\.1 408 /);
  expect(text).toContain('<h1>The form did not arrive in time</h1>');
  expect(text).toContain(`After ${formMsMax / 1_000} s`);
  expect(await readRemaining(site)).toBe(60);
});

test.concurrent('more slow forms of a person than it may have have the time of any request', { timeout: 40_000 }, async () => {
  const admin = await site.arrive({ role: 'admin' });
  const body = await invitation(admin, 'many@example.org');
  const beganAtMs = performance.now();
  const forms = Array.from({ length: 5 }, () => begin(site, '/people/invite', admin, body));
  const tookMs = await Promise.all(forms.map(({ ended }) => ended.then(() => performance.now() - beganAtMs)));
  expect(tookMs.filter((ms) => ms < formMsMax)).toHaveLength(1);
});

test.concurrent('a form of a stranger is cut after 10 s by a page that says so, and is not counted against the address', {
  timeout: 40_000,
}, async () => {
  const beganAtMs = performance.now();
  const text = await begin(site, '/sign-in/mail', site.browser(), 'email=somebody%40example.org').ended;
  expect(performance.now() - beganAtMs).toBeLessThan(formMsMax);
  expect(text).toMatch(/^HTTP\/1\.1 408 /);
  expect(text).toMatch(/\r\ncontent-type: text\/html; charset=utf-8\r\n/i);
  expect(text).toMatch(/\r\ncontent-security-policy: default-src 'none'/i);
  expect(text).toContain('<h1>That took too long</h1>');
  expect(await readRemaining(site)).toBe(60);
});

const shelterId = await addShelter(site, 'Danube Shelter', 'Europe/Vienna');
const { db } = site.store.dependencies;
const ends = {
  'is removed': (id: bigint) => db.transaction((tx) => removePerson(tx, () => true, operator, id), theService),
  'gets another role': (id: bigint) =>
    db.transaction((tx) => changePerson(tx, () => true, operator, id, { role: 'volunteer', shelterId }), theService),
};

/** Somebody with the page of an adopter, on which `writeNote` writes afterwards. */
async function arriveAtAdopter() {
  const browser = await site.arrive({ role: 'staff', shelterId });
  const staff = new Staff(site, browser.person);
  const { id } = await staff.apply((await staff.addPet()).id, { name: 'Ada Lovelace' });
  const page = `/applications/${id}`;
  const writeNote = () => site.store.write(`update applications set note = 'Written afterwards' where id = $1`, id);
  expect((await browser.get(page)).text).toContain('Ada Lovelace');
  return { browser, page, writeNote };
}

test.concurrent.each([
  ['is removed', 'review', {}, 401],
  ['is removed', 'decline/preview', { message: 'No.' }, 401],
  ['gets another role', 'review', {}, 403],
] as const)('who %s while a form arrives, to %s, is shown no page of an adopter', async (how, action, values, status) => {
  const { browser, page, writeNote } = await arriveAtAdopter();
  const me = hiddenOf((await browser.get('/me')).text, '/me/sign-out');
  // What is previewed is accepted; anything else is shown again.
  const token = action === 'review' ? 'wrong' : (me['_token'] ?? '');
  const { socket, ended, rest } = begin(site, `${page}/${action}`, browser, String(new URLSearchParams({ _token: token, ...values })));
  // Until the console has read who sends it.
  await sleep(500);
  await ends[how](browser.person.id);
  await writeNote();
  socket.write(rest);
  const text = await ended;
  expect(text).toContain(`HTTP/1.1 ${status} `);
  expect(text).toMatch(status === 401 ? /You are signed out/ : /Your role was changed/);
  expect(text).not.toMatch(/Ada Lovelace|adopter-|Written afterwards/);
});

test('who is removed while pages wait for their turns is shown none of them', async () => {
  const { browser, page, writeNote } = await arriveAtAdopter();
  const pages = Array.from({ length: 100 }, () => browser.get(page));
  await Promise.race(pages);
  await ends['is removed'](browser.person.id);
  await writeNote();
  const answers = await Promise.all(pages);
  expect(answers.filter(({ text }) => text.includes('Written afterwards'))).toHaveLength(0);
  expect(answers.filter(({ status }) => status === 401).length).toBeGreaterThan(0);
});

test('the console stops while a form arrives, which is told so', { timeout: 40_000 }, async () => {
  await using stopping = await createTestConsole({ formMsMax: 60_000 });
  const admin = await stopping.arrive({ role: 'admin' });
  const { ended } = begin(stopping, '/people/invite', admin, await invitation(admin, 'stopped@example.org'));
  await sleep(500);
  const beganAtMs = performance.now();
  await stopping.app.server.close();
  expect(performance.now() - beganAtMs).toBeLessThan(12_000);
  expect(await ended).toContain('The console is starting again');
});

/** What is left to the address of the connections in this minute. */
const readRemaining = async ({ store }: TestConsole) =>
  addressQuotas.signIn.perMinute -
  (await charge(openLimiter(store.dependencies), { address: addressSubject('127.0.0.1'), purpose: 'signIn' }, 0)).inMinute;
