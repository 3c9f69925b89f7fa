// Who is not signed in, and wants in: each way in is tried with what was used, invented or signed by somebody else.

import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { makePasskey, type SoftPasskey } from '../../../testkit/authenticator.ts';
import { startMailServer } from '../../../testkit/mail-server.ts';
import { removePerson } from '../../src/access/people/people.ts';
import { waysIn } from '../../src/access/people/sessions.ts';
import { theService } from '../../src/domain/actor.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { operator } from '../people-steps.ts';
import { openTestConsole, type TestBrowser } from './test-console.ts';

const mailServer = disposeAfterAll(await startMailServer());
const site = await openTestConsole({
  env: {
    HOMEWARD_SMTP_URL: mailServer.url,
    HOMEWARD_MAIL_FROM: 'adoption@example.org',
    HOMEWARD_PUBLIC_URL: 'https://api.example.org',
    // Nobody answers there: who forges a return never gets that far.
    HOMEWARD_OIDC_ISSUER: 'http://127.0.0.1:1',
    HOMEWARD_OIDC_CLIENT_ID: 'homeward',
    HOMEWARD_OIDC_CLIENT_SECRET: 'sesame',
  },
});
const { db } = site.store.dependencies;
const scripted = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };

const attempts = Number(process.env['ATTEMPTS'] ?? 300);
const attemptsAtOnce = 10;
/** More than one address may send in a minute. */
const attemptsPerAddress = 70;

async function addPasskey(personId: bigint): Promise<SoftPasskey> {
  const passkey = makePasskey();
  await site.store.write(
    `insert into passkeys (person_id, credential_id, public_key, counter, name) values ($1, $2, $3, 0, 'Soft')`,
    personId,
    passkey.credentialId,
    passkey.publicKey,
  );
  return passkey;
}

const askForChallenge = async (browser: TestBrowser) =>
  (JSON.parse((await browser.send('/sign-in/passkey/options', { method: 'POST', headers: scripted })).text) as { challenge: string })
    .challenge;
const sendSigned = (browser: TestBrowser, body: string) => browser.send('/sign-in/passkey', { method: 'POST', headers: scripted, body });

test('what a passkey has signed signs in once, also of ten times at once', async () => {
  const { person } = await site.arrive();
  const passkey = await addPasskey(person.id);
  const browser = site.browser();
  const signed = passkey.respond(await askForChallenge(browser), site.url);
  const challenge = browser.cookies.get('challenge') ?? '';
  const senders = Array.from({ length: 10 }, () => {
    const sender = site.browser();
    sender.cookies.set('challenge', challenge);
    return sender;
  });
  const statuses = (await Promise.all(senders.map((sender) => sendSigned(sender, signed)))).map(({ status }) => status);
  expectOne(200, statuses);
  const late = site.browser();
  late.cookies.set('challenge', challenge);
  expect((await sendSigned(late, signed)).status).toBe(403);
});

test('what is signed for another site, another challenge or by another passkey does not sign in', async () => {
  const { person } = await site.arrive();
  const passkey = await addPasskey(person.id);
  const browser = site.browser();
  const bodies = [
    (challenge: string) => passkey.respond(challenge, 'http://localhost:1'),
    (challenge: string) => passkey.respond(challenge, 'https://evil.example'),
    () => passkey.respond('A'.repeat(43), site.url),
    (challenge: string) => makePasskey().respond(challenge, site.url),
    (challenge: string) =>
      makePasskey()
        .respond(challenge, site.url)
        .replaceAll(/"(id|rawId)":"[^"]+"/g, `"$1":"${passkey.credentialId.toString('base64url')}"`),
  ];
  for (const body of bodies) {
    const { status } = await sendSigned(browser, body(await askForChallenge(browser)));
    expect(status).toBe(403);
    expect(browser.cookies.has('session')).toBe(false);
  }
});

test('a passkey of somebody who was removed signs in no more', async () => {
  const { person } = await site.arrive();
  const passkey = await addPasskey(person.id);
  const browser = site.browser();
  const challenge = await askForChallenge(browser);
  await db.transaction((tx) => removePerson(tx, () => true, operator, person.id), theService);
  expect((await sendSigned(browser, passkey.respond(challenge, site.url))).status).toBe(403);
});

test('a link signs in once, also of ten times at once', async () => {
  const { person } = await site.arrive();
  const path = await site.link('sign_in', person);
  const answers = await Promise.all(Array.from({ length: 10 }, () => site.browser().post(path)));
  expectOne(
    303,
    answers.map(({ status }) => status),
  );
  expect((await site.browser().post(path)).status).toBe(403);
});

test(`${attempts} attempts of strangers are rejected, and leave only counts: in one table by network, and in Redis`, async () => {
  const { person } = await site.arrive();
  await addPasskey(person.id);
  const own = Buffer.from('stranger').toString('base64url');
  await site.app.failedSignIns.store();
  await site.store.write('delete from failed_sign_ins');
  const [before, redisBefore] = [await countAllRows(), await readRedis()];
  const invented = (i: number) => `${own}${i}`.padEnd(43, 'A').slice(0, 43);
  const ways: ReadonlyArray<(browser: TestBrowser, i: number) => Promise<{ status: number; text: string }>> = [
    (browser, i) => browser.post(`/link/${invented(i)}`),
    (browser, i) => browser.post(`/invitation/${invented(i)}`),
    (browser, i) => browser.get(`/link/${invented(i)}`),
    (browser) => browser.send('/sign-in/passkey/options', { method: 'POST', headers: scripted }),
    (browser) => sendSigned(browser, makePasskey().respond('A'.repeat(43), site.url)),
    (browser) => sendSigned(browser, '{"response":{"id":"x"}}'),
    (browser, i) => browser.get(`/sign-in/return?code=${invented(i)}&state=${invented(i)}`),
    (browser, i) => browser.get('/me', { headers: { cookie: `session=${invented(i)}.${'B'.repeat(24)}` } }),
    (browser, i) => browser.post('/sign-in/mail', { email: `nobody-${i}@example.org` }),
    (browser, i) => browser.post('/people/invite', { email: `nobody-${i}@example.org`, role: 'admin', _token: invented(i) }),
  ];
  const statuses = new Map<number, number>();
  const browsers = Array.from({ length: Math.ceil(attempts / attemptsPerAddress) }, () => site.browser());
  let next = 0;
  const tryAll = async () => {
    while (next < attempts) {
      const i = next++;
      const [browser, way] = [browsers[Math.floor(i / attemptsPerAddress)], ways[i % ways.length]];
      const status = (browser && (await way?.(browser, i)))?.status ?? 0;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: attemptsAtOnce }, tryAll));
  // 503: the machine is too busy for the query that would find nothing.
  expect([...statuses.keys()].toSorted().filter((status) => ![200, 303, 401, 403, 404, 429, 503].includes(status))).toEqual([]);
  expect(statuses.get(503) ?? 0).toBeLessThan(attempts / 20);
  expect(statuses.get(429)).toBeGreaterThan(0);
  expect(browsers.filter(({ cookies }) => cookies.has('session'))).toEqual([]);
  // What was asked for by mail is looked up after the response.
  await site.app.server.close();
  const { failed_sign_ins: failed = 0, ...rows } = await countAllRows();
  expect({ ...rows, failed_sign_ins: 0 }).toEqual(before);
  // Of each network and way in one.
  expect(failed).toBeGreaterThan(0);
  expect(failed).toBeLessThanOrEqual(waysIn.length * browsers.length);
  const { keys, forGood } = await readRedis();
  // Of each address one, with its counts, which ends by itself. For each link that was asked for two, and one of the network they come from.
  const asks = Math.ceil(attempts / ways.length);
  expect(keys - redisBefore.keys).toBeLessThanOrEqual(browsers.length + 2 * asks + 1);
  expect(forGood).toBe(redisBefore.forGood);
}, 300_000);

/** One gets in. Of the others, one that waits too long for the first is told to try again. */
function expectOne(status: number, statuses: readonly number[]): void {
  expect(statuses.filter((one) => one === status)).toHaveLength(1);
  expect(statuses.filter((one) => one !== status && one !== 403 && one !== 503)).toEqual([]);
}

/** Of every table of the store. */
async function countAllRows(): Promise<Record<string, number>> {
  const tables = await site.store.read<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
  );
  expect(tables.length).toBeGreaterThan(40);
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await site.store.read<{ count: bigint }>(`select count(*) from ${name}`);
    counts[name] = Number(row?.count);
  }
  return counts;
}

async function readRedis(): Promise<{ keys: number; forGood: number }> {
  const redis = new Redis(site.store.env.REDIS_URL);
  try {
    const prefix = site.store.dependencies.redisKeys.bans.split(':').slice(0, 2).join(':');
    const found: string[] = [];
    for await (const keys of redis.scanStream({ match: `${prefix}:*`, count: 1_000 })) found.push(...(keys as string[]));
    const ends = await Promise.all(found.map((key) => redis.ttl(key)));
    return { keys: found.length, forGood: ends.filter((seconds) => seconds === -1).length };
  } finally {
    redis.disconnect();
  }
}
