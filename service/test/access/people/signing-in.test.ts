import { beforeEach, describe, expect, test } from 'vitest';
import {
  addPasskey,
  bindIdentity,
  findByIdentity,
  findPasskey,
  listPasskeys,
  recordPasskeyUse,
  removePasskey,
  renamePasskey,
  useOnce,
} from '../../../src/access/people/credentials.ts';
import { findLinkOwner, makeSignInLink, mintMailedLink, peekLink, useInvitation, useSignInLink } from '../../../src/access/people/links.ts';
import { findPerson, invitePerson, removePerson } from '../../../src/access/people/people.ts';
import { sweepPeople } from '../../../src/access/people/people-sweep.ts';
import { endAllSessions, endSession, findSession, listSessions, openSession } from '../../../src/access/people/sessions.ts';
import { type PersonCaller, personCaller } from '../../../src/access/principals/principals.ts';
import { theService } from '../../../src/domain/actor.ts';
import { actAs, join, operator, origin, signIn } from '../../people-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const { db } = store.dependencies;

beforeEach(async () => {
  await store.write('update people set removed_at = now() where removed_at is null');
});

const problemOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: { problem?: string }) => error.problem ?? error,
  );
const successes = (settled: ReadonlyArray<PromiseSettledResult<unknown>>) => settled.filter(({ status }) => status === 'fulfilled').length;
const link = (email: string) => db.transaction((tx) => makeSignInLink(tx, operator, email), theService);
const signInBy = (token: string) => db.transaction((tx) => useSignInLink(tx, token), theService);
const callerWith = async (token: string): Promise<PersonCaller> => {
  const found = await findSession(db, token);
  if (!found) throw new Error('the session is not found');
  return personCaller(found, '192.0.2.7');
};
const ago = (interval: string) => `now() - interval '${interval}'`;

describe('a session', () => {
  test('has a person, a role and a client, and neither the token nor the address is stored', async () => {
    const person = await join(store);
    const token = await signIn(store, person);
    const found = await findSession(db, token);
    expect(found).toMatchObject({
      person: { id: person.id, role: 'staff' },
      session: { network: '192.0.2.0/24', method: 'link', isFresh: true },
    });
    expect(JSON.stringify(await store.read('select encode(hash, $1) as hash, network from sessions', 'base64'))).not.toMatch(
      new RegExp(`${token}|192\\.0\\.2\\.7`),
    );
  });

  test.each(['', 'abc', 'A'.repeat(43), `${'A'.repeat(42)}%`, 'A'.repeat(1_000)])('with the token %j is not found', async (token) => {
    await signIn(store, await join(store));
    expect(await findSession(db, token)).toBeUndefined();
  });

  test.each([
    ['idle for 8 hours', `last_seen_at = ${ago('8 hours')}`],
    ['7 days old', `expires_at = now()`],
  ])('that is %s has ended', async (_, change) => {
    const token = await signIn(store, await join(store));
    await store.write(`update sessions set ${change}`);
    expect(await findSession(db, token)).toBeUndefined();
  });

  test('of who signs in says at once when the person was last seen', async () => {
    const person = await join(store);
    await store.write('update people set last_seen_at = null where id = $1', person.id);
    const token = await signIn(store, person);
    expect((await findSession(db, token))?.person.lastSeenAt?.getTime()).toBeGreaterThan(Date.now() - 30_000);
  });

  test('is written when it was last seen a minute ago, not each time', async () => {
    const token = await signIn(store, await join(store));
    await store.write(`update sessions set last_seen_at = ${ago('59 seconds')}`);
    const before = await store.read('select last_seen_at, xmin::text from sessions');
    await findSession(db, token);
    expect(await store.read('select last_seen_at, xmin::text from sessions')).toEqual(before);
    await store.write(`update sessions set last_seen_at = ${ago('61 seconds')}`);
    await Promise.all(Array.from({ length: 5 }, () => findSession(db, token)));
    expect((await findSession(db, token))?.session.lastSeenAt.getTime()).toBeGreaterThan(Date.now() - 30_000);
    expect((await findSession(db, token))?.person.lastSeenAt).not.toBeNull();
  });

  test('is fresh for ten minutes after the sign-in', async () => {
    const token = await signIn(store, await join(store));
    await store.write(`update sessions set signed_in_at = ${ago('9 minutes 59 seconds')}`);
    expect((await findSession(db, token))?.session.isFresh).toBe(true);
    await store.write(`update sessions set signed_in_at = ${ago('10 minutes')}`);
    const found = await findSession(db, token);
    expect(found?.session.isFresh).toBe(false);
  });

  test('that is replaced by a sign-in has ended, and the new one has another id and token', async () => {
    const person = await join(store);
    const old = await signIn(store, person);
    const replaces = (await findSession(db, old))?.session;
    const opened = await db.transaction(
      (tx) => openSession(tx, person.id, { from: '2001:db8:1:2::3', method: 'passkey', replaces }),
      theService,
    );
    expect(opened.session).toMatchObject({ network: '2001:db8:1::/48' });
    expect(opened.session.id).not.toBe(replaces?.id);
    expect(await findSession(db, old)).toBeUndefined();
    expect(await findSession(db, opened.token)).toBeDefined();
  });

  test('is listed for its person, who ends one or all others; nobody else does', async () => {
    const [person, other] = [await join(store), await join(store)];
    const tokens = [await signIn(store, person), await signIn(store, person), await signIn(store, person)];
    const [newest, , oldest] = await listSessions(db, person.id);
    const [caller, stranger] = [await callerWith(tokens[0] ?? ''), await actAs(store, other)];
    const end = (by: PersonCaller) => db.transaction((tx) => endSession(tx, by, 0n, newest?.id ?? 0n), theService);
    expect(await end(stranger)).toBe(false);
    expect(await end(caller)).toBe(true);
    expect(await db.transaction((tx) => endAllSessions(tx, caller, oldest?.id), theService)).toBe(1);
    const left = await Promise.all(tokens.map((token) => findSession(db, token)));
    expect(left.map((one) => one?.session.id)).toEqual([oldest?.id, undefined, undefined]);
  });

  test('is one of 20 of a person at most: the oldest ends', async () => {
    const person = await join(store);
    const first = await signIn(store, person);
    for (let i = 0; i < 20; i += 1) await signIn(store, person);
    expect(await listSessions(db, person.id)).toHaveLength(20);
    expect(await findSession(db, first)).toBeUndefined();
  });

  test('is not opened for someone who was removed, or who has not accepted the invitation', async () => {
    const person = await join(store);
    await db.transaction((tx) => removePerson(tx, () => true, operator, person.id), theService);
    expect(await problemOf(signIn(store, person))).toBe('not_found');
    const { person: invited } = await db.transaction(
      (tx) => invitePerson(tx, operator, { email: 'ada@example.org', role: 'staff', shelterId: null }),
      theService,
    );
    expect(await problemOf(signIn(store, invited))).toBe('not_found');
  });
});

describe('a link to sign in', () => {
  test('is used once by 20 at once, and looking at it changes nothing', async () => {
    const person = await join(store);
    const { token } = await link(person.email);
    expect(await peekLink(db, token)).toMatchObject({ link: { kind: 'sign_in', isOpen: true, isUsed: false }, person: { id: person.id } });
    expect(successes(await Promise.allSettled(Array.from({ length: 20 }, () => signInBy(token))))).toBe(1);
    expect(await peekLink(db, token)).toMatchObject({ link: { isOpen: false, isUsed: true } });
  });

  test('ends after ten minutes', async () => {
    const { token, expiresAt } = await link((await join(store)).email);
    expect(expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(600_000 + 5_000);
    await store.write('update person_links set expires_at = now()');
    expect(await problemOf(signInBy(token))).toBe('ended');
  });

  test('is neither an invitation, nor is an invitation such a link', async () => {
    const { token } = await link((await join(store)).email);
    expect(await problemOf(db.transaction((tx) => useInvitation(tx, token, origin), theService))).toBe('ended');
    const invitation = await db.transaction(
      (tx) => invitePerson(tx, operator, { email: 'ada@example.org', role: 'staff', shelterId: null }),
      theService,
    );
    expect(await problemOf(signInBy(invitation.token))).toBe('ended');
  });

  test('is made by commands alone', async () => {
    const admin = await actAs(store, await join(store, { role: 'admin' }));
    const other = await join(store);
    expect(await problemOf(db.transaction((tx) => makeSignInLink(tx, admin, other.email), theService))).toBe('not_allowed');
  });

  test('is for who has joined alone, and the address may be spelt as people spell it', async () => {
    const { id } = await join(store, { email: 'ada@example.org' });
    const invited = await db.transaction(
      (tx) => invitePerson(tx, operator, { email: 'grace@example.org', role: 'staff', shelterId: null }),
      theService,
    );
    expect(await findLinkOwner(db, 'Ada@example.org')).toBe(id);
    expect(await findLinkOwner(db, invited.person.email)).toBeUndefined();
    expect(await findLinkOwner(db, 'nobody@example.org')).toBeUndefined();
  });

  test('is made for mail when that is sent, and leads in once however often it was sent', async () => {
    const person = await join(store);
    const sent = await Promise.all([1, 2].map(() => db.transaction((tx) => mintMailedLink(tx, 'sign_in', person.id), theService)));
    expect(await problemOf(signInBy(sent[0]?.token ?? ''))).toBe('none');
    await db.transaction((tx) => removePerson(tx, () => true, operator, person.id), theService);
    expect(await db.transaction((tx) => mintMailedLink(tx, 'sign_in', person.id), theService)).toBeUndefined();
    expect(await problemOf(signInBy(sent[1]?.token ?? ''))).toBe('ended');
  });
});

describe('an account at a provider', () => {
  const account = { issuer: 'https://id.example.org', subject: 'ada-1' };
  const find = (identity: typeof account) => db.transaction((tx) => findByIdentity(tx, identity), theService);
  const bind = (identity: typeof account, email: string) => db.transaction((tx) => bindIdentity(tx, identity, email, origin), theService);
  const invite = (email: string) =>
    db.transaction((tx) => invitePerson(tx, operator, { email, role: 'staff', shelterId: null }), theService);

  test('accepts the invitation to its verified address, and then is known by issuer and subject', async () => {
    const { person, token } = await invite('ada@example.org');
    expect((await bind(account, 'Ada@example.org')).id).toBe(person.id);
    expect(await find(account)).toMatchObject({ id: person.id, isOpen: false });
    expect(await find({ ...account, issuer: 'https://other.example.org' })).toBeUndefined();
    expect(await problemOf(db.transaction((tx) => useInvitation(tx, token, origin), theService))).toBe('ended');
  });

  test('with the address of someone who has accepted, or was never invited, is nobody', async () => {
    await join(store, { email: 'grace@example.org' });
    for (const email of ['grace@example.org', 'alan@example.org', '\u212A@example.org', '']) {
      expect(await problemOf(bind({ ...account, subject: 'other' }, email))).toBe('not_found');
    }
  });

  test('is bound to one person, and 10 accounts at once with one address are one', async () => {
    await invite('kim@example.org');
    const binds = Array.from({ length: 10 }, (_, i) => bind({ ...account, subject: `kim-${i}` }, 'kim@example.org'));
    expect(successes(await Promise.allSettled(binds))).toBe(1);
  });
});

describe('a passkey', () => {
  const passkey = (n: number) => ({
    credentialId: Buffer.from(`credential ${n}`).toString('base64url'),
    publicKey: new Uint8Array([1, 2, n]),
    counter: 0,
    transports: ['internal'],
    name: `Phone ${n}`,
  });

  test('is found by its credential, renamed and removed by its person alone', async () => {
    const [ada, grace] = [await actAs(store, await join(store)), await actAs(store, await join(store))];
    const { id } = await db.transaction((tx) => addPasskey(tx, ada, passkey(1)), theService);
    expect(await findPasskey(db, passkey(1).credentialId)).toMatchObject({ passkey: passkey(1), person: { id: ada.personId } });
    expect(await problemOf(db.transaction((tx) => addPasskey(tx, grace, passkey(1)), theService))).toBe('taken');
    expect(await renamePasskey(db, grace.personId, id, 'Mine')).toBe(false);
    expect(await db.transaction((tx) => removePasskey(tx, () => true, grace, id), theService)).toBeUndefined();
    expect(await renamePasskey(db, ada.personId, id, 'Laptop')).toBe(true);
    expect(await listPasskeys(db, ada.personId)).toMatchObject([{ name: 'Laptop' }]);
    expect(await db.transaction((tx) => removePasskey(tx, () => true, ada, id), theService)).toEqual({ isJournaled: true });
    expect(await findPasskey(db, passkey(1).credentialId)).toBeUndefined();
  });

  test('is one of 10 at most, of 12 that are added at once', async () => {
    const ada = await actAs(store, await join(store));
    const added: unknown[] = [];
    for (const batch of [0, 1, 2, 3]) {
      const adds = [0, 1, 2].map((n) => db.transaction((tx) => addPasskey(tx, ada, passkey(10 + batch * 3 + n)), theService));
      added.push(...(await Promise.all(adds.map(problemOf))));
    }
    expect(added.filter((problem) => problem === 'limit')).toHaveLength(2);
    expect(await listPasskeys(db, ada.personId)).toHaveLength(10);
  });

  test('whose counter does not grow is a copy, unless it never counts', async () => {
    const ada = await actAs(store, await join(store));
    await db.transaction((tx) => addPasskey(tx, ada, passkey(30)), theService);
    const found = await findPasskey(db, passkey(30).credentialId);
    if (!found) throw new Error('the passkey is not found');
    const use = (counter: number) => db.transaction((tx) => recordPasskeyUse(tx, found, counter, origin), theService);
    expect([await use(0), await use(0)]).toEqual([true, true]);
    expect([await use(5), await use(5), await use(4)]).toEqual([true, false, false]);
  });
});

test('a challenge is used once, by 10 at once', async () => {
  const uses = Array.from({ length: 10 }, () =>
    db.transaction((tx) => useOnce(tx, 'challenge', 'abc', new Date(Date.now() + 300_000)), theService),
  );
  expect((await Promise.all(uses)).filter(Boolean)).toHaveLength(1);
});

test('the sweep deletes what has ended, and erases names when no row of the audit is left from then', async () => {
  const person = await join(store);
  await signIn(store, person);
  await store.write(`update sessions set expires_at = ${ago('1 second')}`);
  await store.write(`update person_links set expires_at = ${ago('25 hours')}`);
  await db.transaction((tx) => removePerson(tx, () => true, operator, person.id), theService);
  await store.write(`update people set removed_at = ${ago('40 days')} where id = $1`, person.id);
  expect(await sweepPeople(db, 1_000)).toBeGreaterThanOrEqual(1);
  expect(await store.read('select email, name from people where id = $1', person.id)).toEqual([{ email: null, name: null }]);
  expect(await findPerson(db, person.id)).toBeUndefined();
  expect(await store.read('select from sessions')).toEqual([]);
});
