import { once } from 'node:events';
import { get, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { changePerson, findPersonOf, removePerson } from '../../src/access/people/people.ts';
import { endAllSessions } from '../../src/access/people/sessions.ts';
import { theService } from '../../src/domain/actor.ts';
import { actAs, operator } from '../people-steps.ts';
import { countRows } from './console-steps.ts';
import { hiddenOf, openTestConsole, wordsOf } from './test-console.ts';

const site = await openTestConsole();
const { db } = site.store.dependencies;
const strict = /^session=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/;

test('a link signs in once, by POST only, and gives the browser a new session', async () => {
  const { person } = await site.arrive();
  const path = await site.link('sign_in', person);
  const browser = site.browser();
  for (let looks = 0; looks < 3; looks += 1) expect((await browser.get(path)).status).toBe(200);
  expect(browser.cookies.size).toBe(0);
  const used = await browser.post(path);
  expect(used.status).toBe(303);
  expect(used.headers.getSetCookie().find((line) => line.startsWith('session='))).toMatch(strict);
  expect((await browser.get('/')).status).toBe(200);
  expect((await site.browser().post(path)).status).toBe(403);
  expect(wordsOf((await site.browser().get(path)).text)).toContain('This link has ended');
});

test('an invitation is accepted once', async () => {
  const path = await site.invite({ email: 'eve@example.org', name: 'Eve' });
  expect(wordsOf((await site.browser().get(path)).text)).toContain('Welcome, Eve');
  const answers = await Promise.all(Array.from({ length: 5 }, () => site.browser().post(path)));
  expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  expect((await site.browser().post(path)).status).toBe(403);
});

test('signing in gives a new id, whatever the browser had before, and ends that session', async () => {
  const { person } = await site.arrive();
  const planted = await site.enter(person);
  const before = planted.cookies.get('session') ?? '';
  await planted.post(await site.link('sign_in', person));
  expect(planted.cookies.get('session')).not.toBe(before);
  const attacker = site.browser();
  attacker.cookies.set('session', before);
  expect((await attacker.get('/me')).status).toBe(303);
  expect((await planted.get('/me')).status).toBe(200);
});

test('a session holds no longer than its person, and its rights are those of now', async () => {
  const admin = await site.arrive({ role: 'admin' });
  const before = { ...hiddenOf((await admin.open('/people/invite')).text, '/people/invite'), email: 'late@example.org', role: 'staff' };
  await site.arrive({ role: 'admin' });
  await db.transaction((tx) => changePerson(tx, () => true, operator, admin.person.id, { role: 'staff' }), theService);
  expect((await admin.get('/people')).status).toBe(403);
  expect((await admin.post('/people/invite', before)).status).toBe(403);
  await db.transaction((tx) => removePerson(tx, () => true, operator, admin.person.id), theService);
  expect((await admin.get('/')).location).toBe('/sign-in');
  expect((await admin.post('/people/invite', before)).status).toBe(401);
});

test.each<readonly [string, number, (id: bigint) => Promise<unknown>]>([
  ['is removed', 401, (id) => db.transaction((tx) => removePerson(tx, () => true, operator, id), theService)],
  ['gets another role', 403, (id) => db.transaction((tx) => changePerson(tx, () => true, operator, id, { role: 'staff' }), theService)],
  [
    'ends the session elsewhere',
    401,
    async (id) => db.transaction(async (tx) => endAllSessions(tx, await actAs(site.store, { id })), theService),
  ],
])('what somebody sends slowly who meanwhile %s is not done', async (_, status, meanwhile) => {
  const admin = await site.arrive({ role: 'admin' });
  const hidden = hiddenOf((await admin.open('/people/invite')).text, '/people/invite');
  const body = String(new URLSearchParams({ ...hidden, email: 'slow@example.org', role: 'admin', reach: 'store' }));
  const sending = request(new URL('/people/invite', site.url.replace('localhost', '127.0.0.1')), {
    method: 'POST',
    headers: {
      cookie: `session=${admin.cookies.get('session')}`,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': body.length,
    },
  });
  const responded = once(sending, 'response');
  sending.write(body.slice(0, -5));
  // Until the console has read who sends it.
  await sleep(500);
  await meanwhile(admin.person.id);
  sending.end(body.slice(-5));
  const [response] = (await responded) as [IncomingMessage];
  expect(response.statusCode).toBe(status);
  expect(wordsOf(await text(response))).toContain('Nothing was changed.');
  expect(await findPersonOf(db, 'slow@example.org')).toBeUndefined();
});

test('people list their sessions, end one of them, and all at once', async () => {
  const first = await site.arrive();
  const second = await site.enter(first.person);
  const third = await site.enter(first.person);
  const page = (await first.get('/me')).text;
  const [, action = ''] = /action="(\/me\/sessions\/\d+\/end)"/.exec(page) ?? [];
  await first.post(action, hiddenOf(page, action));
  expect([(await second.get('/me')).status, (await third.get('/me')).status].sort()).toEqual([200, 303]);
  await first.submit('/me', '/me/sessions/end');
  for (const browser of [first, second, third]) expect((await browser.get('/me')).location).toMatch(/^\/sign-in/);
});

test("nobody ends another's session", async () => {
  const victim = await site.arrive();
  const attacker = await site.arrive();
  const [session] = await site.store.read<{ id: bigint }>('select id from sessions where person_id = $1', victim.person.id);
  const form = hiddenOf((await attacker.get('/me')).text, '/me/sign-out');
  await attacker.post(`/me/sessions/${session?.id}/end`, form);
  expect((await victim.get('/me')).status).toBe(200);
});

test('what needs a new sign-in asks for one ten minutes later, and keeps what was typed', async () => {
  const admin = await site.arrive({ role: 'admin' });
  const form = { ...hiddenOf((await admin.open('/people/invite')).text, '/people/invite'), email: 'typed@example.org', role: 'staff' };
  await site.store.write(`update sessions set signed_in_at = now() - interval '11 minutes' where person_id = $1`, admin.person.id);
  expect((await admin.get('/people/invite')).location).toBe('/sign-in/again?to=%2Fpeople%2Finvite');
  const answer = await admin.post('/people/invite', form);
  expect(answer.status).toBe(403);
  expect(answer.text).toContain('value="typed@example.org"');
  expect(answer.text).toContain('/sign-in/again');
});

test('a page that another site leads to goes on by itself, once', async () => {
  const visitor = await site.arrive();
  const crossing = { headers: { 'sec-fetch-site': 'cross-site' } };
  const onward = await site.browser().get('/people?x=1', crossing);
  expect(onward.status).toBe(200);
  expect(onward.text).toContain('http-equiv="refresh" content="0;url=/people?x=1"');
  // An address of another site, as a path of this one.
  for (const path of ['//evil.example/', '/.//evil.example/'])
    expect(await openFromElsewhere(path)).toContain('http-equiv="refresh" content="0;url=/"');
  // From that page the browser sends its cookie; and if it has none, it gets to the sign-in and no further page of this kind.
  expect((await visitor.get('/', { headers: { 'sec-fetch-site': 'same-origin' } })).status).toBe(200);
  expect((await site.browser().get('/people', { headers: { 'sec-fetch-site': 'same-origin' } })).location).toMatch(/^\/sign-in/);
});

/** `fetch` would go to the other site itself. */
const openFromElsewhere = (path: string) =>
  new Promise<string>((resolve, reject) => {
    const { port } = new URL(site.url);
    const headers = { 'sec-fetch-site': 'cross-site', 'x-forwarded-for': '10.255.0.1' };
    get({ host: '127.0.0.1', port, path, headers }, (response) => resolve(text(response))).once('error', reject);
  });

test('a sign-in leads back to paths of the console only', async () => {
  const visitor = await site.arrive();
  for (const [to, expected] of [
    ['/people', '/people'],
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['https://evil.example/', '/'],
    ['/sign-in/again', '/'],
    ['/.//evil.example', '/'],
    ['/x/..//evil.example', '/'],
    ['/%2e//evil.example', '/'],
    ['/a\nb', '/'],
  ] as const)
    expect((await visitor.get(`/sign-in?to=${encodeURIComponent(to)}`)).location).toBe(expected);
});

test('what strangers send is counted by address, and stored nowhere', async () => {
  const before = await countRows(site);
  const statuses = new Map<number, number>();
  const count = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const stranger = site.browser();
  const invented = 'A'.repeat(43);
  const bodies = [
    () => stranger.post(`/link/${invented}`),
    () => stranger.post(`/invitation/${invented}`),
    () => stranger.post('/sign-in/passkey/options'),
    () =>
      stranger.send('/sign-in/passkey', {
        method: 'POST',
        body: '{"response":{"id":"x"}}',
        headers: { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
      }),
    () => stranger.get('/me', { headers: { cookie: `session=${invented}.${'B'.repeat(24)}` } }),
  ];
  for (let i = 0; i < 300; i += 1) count((await bodies[i % bodies.length]?.())?.status ?? 0);
  // Each window is a minute of the clock: at most two of them.
  expect(300 - (statuses.get(429) ?? 0)).toBeLessThanOrEqual(120);
  expect(await countRows(site)).toEqual(before);
});
