// What staff leave behind: rows of the audit, counts of sign-ins that failed, and lines of the log.

import { describe, expect, test } from 'vitest';
import { makePasskey, type SoftPasskey } from '../../../testkit/authenticator.ts';
import { listActs } from '../../src/access/audit/audit.ts';
import { sweepPeople } from '../../src/access/people/people-sweep.ts';
import { addFailedSignIns } from '../../src/access/people/session-queries.ts';
import { failedNetworksMax, failedSignInDays, listFailedSignIns } from '../../src/access/people/sessions.ts';
import { theService } from '../../src/domain/actor.ts';
import { homeward } from '../cli/homeward-command.ts';
import { Staff } from './adoption-site.ts';
import { samplePath } from './screen-samples.ts';
import { openTestConsole, type TestBrowser } from './test-console.ts';

const lines: Array<Readonly<Record<string, unknown>>> = [];
const site = await openTestConsole({ onLog: (fields) => lines.push(fields) });
const { db } = site.store.dependencies;
const scripted = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };

async function addPasskey(personId: bigint, counter = 0): Promise<SoftPasskey> {
  const passkey = makePasskey();
  await site.store.write(
    `insert into passkeys (person_id, credential_id, public_key, counter, name) values ($1, $2, $3, $4, 'Soft')`,
    personId,
    passkey.credentialId,
    passkey.publicKey,
    counter,
  );
  return passkey;
}

async function signByPasskey(browser: TestBrowser, passkey: SoftPasskey, counter = 0) {
  const options = await browser.send('/sign-in/passkey/options', { method: 'POST', headers: scripted });
  const { challenge } = JSON.parse(options.text) as { challenge: string };
  return browser.send('/sign-in/passkey', { method: 'POST', headers: scripted, body: passkey.respond(challenge, site.url, counter) });
}

/** What the audit has of a person's sign-ins, the first first. */
const trailOf = async (personId: bigint) =>
  (await listActs(db, { personId, limit: 100 }))
    .filter(({ act }) => /^(session|passkey)\./.test(act))
    .map(({ act, before, after, network }) => ({ act, network, ...before, ...after }))
    .reverse();

describe('the audit', () => {
  test('has each sign-in with its way and network, and each sign-out with whether it came from another device', async () => {
    const { person } = await site.arrive();
    const [phone, desk] = [site.browser(), site.browser()];
    await site.store.write('delete from sessions where person_id = $1', person.id);
    expect((await phone.post(await site.link('sign_in', person))).status).toBe(303);
    expect((await signByPasskey(desk, await addPasskey(person.id))).status).toBe(200);
    const page = (await desk.get('/me')).text;
    const [, ofPhone = ''] = /action="(\/me\/sessions\/\d+\/end)"/.exec(page) ?? [];
    await desk.submit('/me', ofPhone);
    await desk.submit('/me', '/me/sign-out');
    const again = await site.enter(person);
    await again.submit('/me', '/me/sessions/end');
    const network = expect.stringMatching(/^10\.\d+\.\d+\.0\/24$/);
    expect((await trailOf(person.id)).slice(1)).toEqual([
      { act: 'session.started', network, method: 'link' },
      { act: 'session.started', network, method: 'passkey' },
      { act: 'session.ended', network: expect.anything(), method: 'link', from: 'another session' },
      { act: 'session.ended', network: expect.anything(), method: 'passkey', from: 'itself' },
      { act: 'session.started', network: '192.0.2.0/24', method: 'link' },
      { act: 'session.ended', network, sessions: 1, from: 'all' },
    ]);
  });

  test('has a passkey that was added and removed', async () => {
    const visitor = await site.arrive();
    const id = await site.store
      .write<{ id: bigint }>(`select id from passkeys where credential_id = $1`, (await addPasskey(visitor.person.id)).credentialId)
      .then(([row]) => row?.id);
    await visitor.submit(`/me/passkeys/${id}`, `/me/passkeys/${id}/remove`);
    expect((await trailOf(visitor.person.id)).at(-1)).toMatchObject({ act: 'passkey.removed', name: 'Soft' });
  });

  test('has a copy of a passkey, which signs nobody in, and nothing that others have made up of it', async () => {
    const { person } = await site.arrive();
    const passkey = await addPasskey(person.id, 5);
    const forged = { ...makePasskey(), credentialId: passkey.credentialId };
    const own = passkey.credentialId.toString('base64url');
    const respond = forged.respond;
    forged.respond = (...given) => respond(...given).replaceAll(/"(id|rawId)":"[^"]+"/g, `"$1":"${own}"`);
    expect((await signByPasskey(site.browser(), forged, 3)).status).toBe(403);
    expect((await trailOf(person.id)).map(({ act }) => act)).toEqual(['session.started']);
    const copy = site.browser();
    const answer = await signByPasskey(copy, passkey, 5);
    expect(answer).toMatchObject({ status: 403, text: expect.stringContaining('There is a copy of this passkey') });
    expect(copy.cookies.has('session')).toBe(false);
    expect((await trailOf(person.id)).at(-1)).toMatchObject({ act: 'passkey.rejected', name: 'Soft', counter: 5, stored: 5 });
    expect((await signByPasskey(site.browser(), passkey, 6)).status).toBe(200);
  });

  test('is filled by no sign-ins without end: a person has 60 an hour, and is told when to go on', async () => {
    const { person } = await site.arrive();
    await site.store.write('update people set sign_ins = 60 where id = $1', person.id);
    const { status, text } = await site.browser().post(await site.link('sign_in', person));
    expect({ status, isSaid: /Sign in again in (60|59) min/.test(text) }).toEqual({ status: 403, isSaid: true });
    await site.store.write(`update people set sign_ins_since = now() - interval '61 minutes' where id = $1`, person.id);
    expect((await site.browser().post(await site.link('sign_in', person))).status).toBe(303);
    expect(await site.store.read('select sign_ins from people where id = $1', person.id)).toEqual([{ sign_ins: 1n }]);
  });

  test('refuses nobody a sign-in for what the audit has of them', async () => {
    const { person } = await site.arrive();
    await site.store.asOwner(
      `insert into audit (act, target, person_id, network) select 'shelter.changed', 'shelter', ${person.id}, 'x' from generate_series(1, 1000)`,
    );
    const browser = site.browser();
    expect((await browser.post(await site.link('sign_in', person))).status).toBe(303);
    expect((await browser.submit('/me', '/me/sign-out')).location).toBe('/sign-in');
  });
});

describe('sign-ins that failed', () => {
  const counts = async () => listFailedSignIns(db, new Date(), 1_000);
  const forget = () => site.store.write('delete from failed_sign_ins');

  test('are counted by way, network and hour, and listed by a command', async () => {
    await site.app.failedSignIns.store();
    await forget();
    const stranger = site.browser();
    const unknown = 'A'.repeat(43);
    await stranger.get(`/link/${unknown}`);
    await stranger.post(`/link/${unknown}`);
    await stranger.post(`/invitation/${unknown}`);
    for (let i = 0; i < 3; i += 1) await signByPasskey(stranger, makePasskey());
    const { person } = await site.arrive();
    const path = await site.link('sign_in', person);
    await site.browser().post(path);
    await stranger.post(path);
    await site.app.failedSignIns.store();
    const network = expect.stringMatching(/^10\.\d+\.\d+\.0\/24$/);
    const hour = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000);
    expect(await counts()).toEqual([
      { hour, kind: 'link', network, count: 3 },
      { hour, kind: 'passkey', network, count: 3 },
      { hour, kind: 'invitation', network, count: 1 },
    ]);
    const { stdout } = await homeward(['audit', 'failed-sign-ins', '--json'], { env: site.store.env });
    expect(JSON.parse(stdout)).toMatchObject([{ kind: 'link', count: 3 }, { kind: 'passkey', count: 3 }, { kind: 'invitation' }]);
    expect([...site.app.failedSignIns.totals.keys()]).toEqual(['passkey', 'link', 'invitation', 'raise', 'provider']);
  });

  test(`have ${failedNetworksMax} networks an hour at most, whoever chooses them and whichever process counts`, async () => {
    await forget();
    const of = (process: number) =>
      Array.from({ length: failedNetworksMax }, (_, i) => ({ kind: 'link', network: `2001:db8:${process}${i}::/48`, count: 1 }));
    await Promise.all(
      [1, 2, 3, 4].map((process) => db.transaction((tx) => addFailedSignIns(tx, of(process), failedNetworksMax), theService)),
    );
    const [first] = of(1);
    if (first) await db.transaction((tx) => addFailedSignIns(tx, [first], failedNetworksMax), theService);
    const found = await counts();
    expect(found).toHaveLength(failedNetworksMax + 1);
    expect(found[0]).toMatchObject({ kind: 'link', network: 'others' });
    expect(found.reduce((sum, { count }) => sum + count, 0)).toBe(4 * failedNetworksMax + 1);
  });

  test('from a flood of networks are bounded in the process too', async () => {
    await site.app.failedSignIns.store();
    await forget();
    for (let i = 0; i < 5_000; i += 1) site.app.failedSignIns.count('link', `2001:db8:${i.toString(16)}::1`);
    await site.app.failedSignIns.store();
    const found = await counts();
    expect(found).toHaveLength(failedNetworksMax + 1);
    expect(found[0]).toMatchObject({ network: 'others', count: 5_000 - failedNetworksMax });
  });

  test(`are deleted after ${failedSignInDays} days`, async () => {
    await forget();
    await site.store.write(
      `insert into failed_sign_ins values (now() - interval '${failedSignInDays} days 1 hour', 'link', 'x', 1), (now(), 'link', 'x', 1)`,
    );
    await sweepPeople(db, 1_000);
    expect(await site.store.read('select count(*) from failed_sign_ins')).toEqual([{ count: 1n }]);
  });
});

describe('a line of the log', () => {
  /** The line of a request, which is written once its response was sent. */
  async function lineOf(send: () => Promise<{ readonly headers: Headers; readonly text: string }>) {
    const answer = await send();
    const id = answer.headers.get('x-request-id');
    await expect.poll(() => lines.some(({ reqId }) => reqId === id)).toBe(true);
    return { ...answer, line: lines.find(({ reqId }) => reqId === id) ?? {} };
  }

  test('names the person and the network, and no address', async () => {
    const visitor = await site.arrive();
    const { line } = await lineOf(() => visitor.get('/me'));
    expect(line).toMatchObject({
      person: String(visitor.person.id),
      network: expect.stringMatching(/^10\..*\.0\/24$/),
      showsAdopter: false,
    });
    const { line: stranger } = await lineOf(() => site.browser().get('/sign-in'));
    expect(stranger['person']).toBeUndefined();
    expect(stranger).toMatchObject({ network: expect.stringMatching(/^10\./), showsAdopter: false });
  });

  /** Of the adopters of all samples. */
  const marker = /Ada Lovelace|adopter-\d+@example\.org|\+43 1 555 01 23|\bEve\b/;

  test.each(['volunteer', 'staff', 'admin'] as const)('says of every page of %s whether an adopter is on it', async (role) => {
    const [shelter] = await site.store.write<{ id: bigint }>(`insert into shelters (name) values ('Danube') returning id`);
    const shelterId = shelter?.id ?? 1n;
    const visitor = await site.arrive({ role, shelterId });
    const staff = new Staff(site, (await site.arrive({ role: 'staff', shelterId })).person);
    const [pet, promised] = [await staff.addPet(), await staff.addPet()];
    const application = await staff.apply(pet.id);
    await staff.decide((await staff.apply(promised.id)).id, 'accept');
    await staff.placeOrder((await staff.addPet()).id);
    const paths = [
      `/applications/pets/${pet.id}`,
      `/applications/pets/${promised.id}`,
      `/applications/${application.id}`,
      `/animals/${promised.id}`,
      '/adopters?q=Ada',
      '/adopters?q=Eve',
    ];
    for (const { path } of site.app.screens.pages) paths.push(await samplePath(site, path, visitor.person));
    const seen = new Set<boolean>();
    for (const path of paths) {
      const { line, text } = await lineOf(() => visitor.get(path));
      const showsAdopter = marker.test(text);
      seen.add(showsAdopter);
      expect({ path, showsAdopter: line['showsAdopter'] }).toEqual({ path, showsAdopter });
    }
    expect(seen.has(true)).toBe(role !== 'volunteer');
    // That nobody is found is said of somebody, too.
    const { line } = await lineOf(() => visitor.get('/adopters?q=nobody'));
    expect(line['showsAdopter']).toBe(role !== 'volunteer');
  });

  test('says it of a page that shows again what was not accepted', async () => {
    const visitor = await site.arrive({ role: 'staff', shelterId: 1n });
    const staff = new Staff(site, visitor.person);
    const { id } = await staff.apply((await staff.addPet()).id);
    const path = `/applications/${id}/decline`;
    const sent = await lineOf(() => visitor.submit(path, path, { message: 'x'.repeat(9_000) }));
    expect({ text: sent.text.includes('Ada Lovelace'), line: sent.line }).toMatchObject({
      text: true,
      line: { status: 422, showsAdopter: true },
    });
  });
});
