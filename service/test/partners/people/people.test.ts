import { beforeEach, describe, expect, test } from 'vitest';
import type { Role } from '../../../src/domain/roles.ts';
import { useInvitation } from '../../../src/partners/people/links.ts';
import { changePerson, findPersonOf, invitePerson, listPeople, type Manager, removePerson } from '../../../src/partners/people/people.ts';
import { findSession } from '../../../src/partners/people/sessions.ts';
import { actAs, join, operator, origin, signIn } from '../../people-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const { db } = store.dependencies;
const [{ id: danube }, { id: alps }] = (await store.write<{ id: bigint }>(
  `insert into shelters (name) values ('Danube'), ('Alps') returning id`,
)) as [{ id: bigint }, { id: bigint }];

beforeEach(async () => {
  await store.write('update people set removed_at = now() where removed_at is null');
});

const invite = (by: Manager, email: string, role: Role = 'staff', shelterId: bigint | null = null) =>
  db.transaction((tx) => invitePerson(tx, by, { email, role, shelterId }));
const remove = (by: Manager, id: bigint) => db.transaction((tx) => removePerson(tx, () => true, by, id));
const problemOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: { problem?: string }) => error.problem ?? error,
  );
const successes = (settled: ReadonlyArray<PromiseSettledResult<unknown>>) => settled.filter(({ status }) => status === 'fulfilled').length;

describe('an invitation', () => {
  test('is for an address in any spelling, and only for one person', async () => {
    const { person } = await invite(operator, ' Ada@Example.org ');
    expect(person).toMatchObject({ email: 'ada@example.org', name: 'ada', role: 'staff', shelterId: null, isOpen: true });
    expect(await findPersonOf(db, 'ADA@EXAMPLE.ORG')).toMatchObject({ id: person.id });
    expect(await findPersonOf(db, '\u212Ada@example.org')).toBeUndefined();
  });

  test('for someone who works here is refused', async () => {
    await join(store, { email: 'ada@example.org' });
    expect(await problemOf(invite(operator, 'Ada@example.org'))).toBe('taken');
  });

  test.each(['', 'ada', 'ada@', '@example.org', 'a da@example.org', 'ada@example.org\n.evil.org', `${'a'.repeat(65)}@example.org`])(
    'for %j is refused',
    async (email) => {
      expect(await problemOf(invite(operator, email))).toBe('invalid');
    },
  );

  test('for a volunteer of the store is refused', async () => {
    expect(await problemOf(invite(operator, 'ada@example.org', 'volunteer'))).toBe('invalid');
  });

  test('for a shelter that does not exist is refused', async () => {
    expect(await problemOf(invite(operator, 'ada@example.org', 'staff', 4_711n))).toBe('not_found');
  });

  test('used by 20 at once is accepted once', async () => {
    const { token } = await invite(operator, 'ada@example.org');
    const uses = Array.from({ length: 20 }, () => db.transaction((tx) => useInvitation(tx, token, origin)));
    expect(successes(await Promise.allSettled(uses))).toBe(1);
    expect(await findPersonOf(db, 'ada@example.org')).toMatchObject({ isOpen: false, invitedUntil: null });
  });

  test('given again ends the first one, and 5 at once are one person with one invitation', async () => {
    const first = await invite(operator, 'ada@example.org');
    const again = await Promise.all(Array.from({ length: 5 }, () => invite(operator, 'ada@example.org')));
    expect(new Set(again.map(({ person }) => person.id))).toEqual(new Set([first.person.id]));
    const uses = [first, ...again].map(({ token }) => db.transaction((tx) => useInvitation(tx, token, origin)));
    expect(successes(await Promise.allSettled(uses))).toBe(1);
  });

  test('after its end is refused', async () => {
    const { token, person } = await invite(operator, 'ada@example.org');
    await store.write('update people set invited_until = now() where id = $1', person.id);
    expect(await problemOf(db.transaction((tx) => useInvitation(tx, token, origin)))).toBe('ended');
  });

  test('of someone who was removed is refused', async () => {
    await join(store, { role: 'admin' });
    const { token, person } = await invite(operator, 'ada@example.org');
    await remove(operator, person.id);
    expect(await problemOf(db.transaction((tx) => useInvitation(tx, token, origin)))).toBe('ended');
  });

  test('comes 50 times a day from an admin of a shelter, of 60 in batches of 5', async () => {
    const admin = await actAs(store, await join(store, { role: 'admin', shelterId: danube }));
    const problems: unknown[] = [];
    for (let batch = 0; batch < 12; batch += 1) {
      const invites = Array.from({ length: 5 }, (_, i) => problemOf(invite(admin, `many-${batch}-${i}@example.org`, 'volunteer', danube)));
      problems.push(...(await Promise.all(invites)));
    }
    expect(problems.filter((problem) => problem === 'limit')).toHaveLength(10);
    expect(problems.filter((problem) => problem === 'none')).toHaveLength(50);
  });
});

describe('the client of a shelter', () => {
  test('is made once, for 5 who are invited at once, with a number if the name is taken', async () => {
    await store.createKey({ client: `Shelter ${alps}: Alps` });
    await Promise.all(Array.from({ length: 5 }, (_, i) => invite(operator, `alps-${i}@example.org`, 'staff', alps)));
    const clients = await store.read<{ name: string; plan: string }>(
      'select name, plan from clients join staff_clients on client_id = clients.id where shelter_id = $1',
      alps,
    );
    expect(clients).toEqual([{ name: `Shelter ${alps}: Alps 2`, plan: 'business' }]);
  });
});

describe('an admin of a shelter', () => {
  const admin = async () => actAs(store, await join(store, { role: 'admin', shelterId: danube }));

  test.each(['volunteer', 'staff', 'admin'] as const)('invites a %s to it, and to no other place', async (role) => {
    const by = await admin();
    expect((await invite(by, 'grace@example.org', role, danube)).person.role).toBe(role);
    expect(await problemOf(invite(by, 'alan@example.org', role, alps))).toBe('not_allowed');
    expect(await problemOf(invite(by, 'alan@example.org', role, null))).toBe('not_allowed');
  });

  test('neither changes nor removes anyone elsewhere, nor moves anyone there', async () => {
    const by = await admin();
    for (const shelterId of [alps, null]) {
      const other = await join(store, { shelterId });
      expect(await problemOf(remove(by, other.id))).toBe('not_found');
      expect(await problemOf(db.transaction((tx) => changePerson(tx, by, other.id, { shelterId: danube })))).toBe('not_found');
      const own = await join(store, { shelterId: danube });
      expect(await problemOf(db.transaction((tx) => changePerson(tx, by, own.id, { shelterId })))).toBe('not_allowed');
    }
  });

  test('does not get hold of someone whom another shelter has invited', async () => {
    const { token } = await invite(operator, 'ada@example.org', 'staff', alps);
    expect(await problemOf(invite(await admin(), 'ada@example.org', 'staff', danube))).toBe('taken');
    expect(await db.transaction((tx) => useInvitation(tx, token, origin))).toMatchObject({ shelterId: alps });
  });
});

test.each([
  ['volunteer', danube],
  ['staff', danube],
  ['staff', null],
] as const)('a %s of %s manages nobody', async (role, shelterId) => {
  const by = await actAs(store, await join(store, { role, shelterId }));
  const other = await join(store, { shelterId });
  expect(await problemOf(invite(by, 'ada@example.org', 'staff', shelterId))).toBe('not_allowed');
  expect(await problemOf(remove(by, other.id))).toBe('not_found');
  expect(await problemOf(db.transaction((tx) => changePerson(tx, by, other.id, { role: 'admin' })))).toBe('not_found');
});

describe('the last admin of the store', () => {
  test('is neither removed nor demoted, also if another one is invited', async () => {
    const admin = await join(store, { role: 'admin' });
    await invite(operator, 'ada@example.org', 'admin');
    expect(await problemOf(remove(operator, admin.id))).toBe('last_admin');
    expect(await problemOf(db.transaction((tx) => changePerson(tx, operator, admin.id, { role: 'staff' })))).toBe('last_admin');
    expect(await problemOf(db.transaction((tx) => changePerson(tx, operator, admin.id, { shelterId: danube })))).toBe('last_admin');
  });

  test('is left when all are removed or demoted at once, in 20 rounds', async () => {
    for (let round = 0; round < 20; round += 1) {
      const admins = await Promise.all(Array.from({ length: 4 }, () => join(store, { role: 'admin' })));
      const before = await listPeople(db, { shelterId: null, afterId: 0n, limit: 1_000 });
      const acts = before.map(({ id }, i) =>
        i % 2 === 0 ? remove(operator, id) : db.transaction((tx) => changePerson(tx, operator, id, { role: 'staff' })),
      );
      const problems = await Promise.all(acts.map(problemOf));
      expect(problems.filter((problem) => problem !== 'none')).toEqual(['last_admin']);
      const after = await listPeople(db, { shelterId: null, afterId: 0n, limit: 1_000 });
      expect(after.filter(({ role }) => role === 'admin')).toHaveLength(1);
      expect(admins).toHaveLength(4);
      await store.write('update people set removed_at = now() where removed_at is null');
    }
  });
});

describe('someone who is removed', () => {
  test('is signed out everywhere by the next request, and can be invited again as someone else', async () => {
    await join(store, { role: 'admin' });
    const person = await join(store, { email: 'ada@example.org' });
    const tokens = [await signIn(store, person), await signIn(store, person)];
    await remove(operator, person.id);
    expect(await Promise.all(tokens.map((token) => findSession(db, token)))).toEqual([undefined, undefined]);
    expect((await join(store, { email: 'ada@example.org' })).id).not.toBe(person.id);
  });

  test('has the new rights by the next request if the role was changed instead', async () => {
    const person = await join(store, { shelterId: danube });
    const token = await signIn(store, person);
    await db.transaction((tx) => changePerson(tx, operator, person.id, { role: 'volunteer', shelterId: alps }));
    expect(await findSession(db, token)).toMatchObject({ person: { role: 'volunteer', shelterId: alps } });
  });
});
