import { beforeEach, describe, expect, test } from 'vitest';
import { bindIdentity } from '../../../src/access/people/credentials.ts';
import { useInvitation } from '../../../src/access/people/links.ts';
import {
  changePerson,
  findPersonOf,
  invitePerson,
  listPeople,
  type Manager,
  removePerson,
  requireInvitable,
} from '../../../src/access/people/people.ts';
import { findSession } from '../../../src/access/people/sessions.ts';
import { theService } from '../../../src/domain/actor.ts';
import type { Role } from '../../../src/domain/roles.ts';
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
  db.transaction((tx) => invitePerson(tx, by, { email, role, shelterId }), theService);
const remove = (by: Manager, id: bigint) => db.transaction((tx) => removePerson(tx, () => true, by, id), theService);
const problemOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: { problem?: string }) => error.problem ?? error,
  );
const account = { issuer: 'https://id.example', subject: 'ada' };
const successes = (settled: ReadonlyArray<PromiseSettledResult<unknown>>) => settled.filter(({ status }) => status === 'fulfilled').length;

describe('an invitation', () => {
  test('is for an address in any spelling, and only for one person', async () => {
    const { person } = await invite(operator, ' Ada@Example.org ');
    expect(person).toMatchObject({ email: 'ada@example.org', name: 'ada', role: 'staff', shelterId: null, isOpen: true });
    expect(await findPersonOf(db, 'ADA@EXAMPLE.ORG')).toMatchObject({ id: person.id });
    expect(await findPersonOf(db, '\u212Ada@example.org')).toBeUndefined();
  });

  test('is not made more by a change: whoever has its link would get more', async () => {
    const { person, token } = await invite(operator, 'ada@example.org', 'staff', danube);
    expect(await problemOf(db.transaction((tx) => changePerson(tx, () => true, operator, person.id, { role: 'admin' }), theService))).toBe(
      'not_allowed',
    );
    expect(await db.transaction((tx) => useInvitation(tx, token, origin), theService)).toMatchObject({ role: 'staff' });
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
    const uses = Array.from({ length: 20 }, () => db.transaction((tx) => useInvitation(tx, token, origin), theService));
    expect(successes(await Promise.allSettled(uses))).toBe(1);
    expect(await findPersonOf(db, 'ada@example.org')).toMatchObject({ isOpen: false, invitedUntil: null });
  });

  test('given again ends the first one, and 5 at once are one person with one invitation', async () => {
    const first = await invite(operator, 'ada@example.org');
    const again = await Promise.all(Array.from({ length: 5 }, () => invite(operator, 'ada@example.org')));
    expect(new Set(again.map(({ person }) => person.id))).toEqual(new Set([first.person.id]));
    const uses = [first, ...again].map(({ token }) => db.transaction((tx) => useInvitation(tx, token, origin), theService));
    expect(successes(await Promise.allSettled(uses))).toBe(1);
  });

  test('after its end is refused', async () => {
    const { token, person } = await invite(operator, 'ada@example.org');
    await store.write('update people set invited_until = now() where id = $1', person.id);
    expect(await problemOf(db.transaction((tx) => useInvitation(tx, token, origin), theService))).toBe('ended');
  });

  test('of someone who was removed is refused', async () => {
    await join(store, { role: 'admin' });
    const { token, person } = await invite(operator, 'ada@example.org');
    await remove(operator, person.id);
    expect(await problemOf(db.transaction((tx) => useInvitation(tx, token, origin), theService))).toBe('ended');
  });

  test.each(['removed', 'given a lesser role', 'moved'])('of an admin of a shelter who was %s since is refused', async (what) => {
    const inviter = await join(store, { role: 'admin', shelterId: danube });
    const invited = await invite(await actAs(store, inviter), 'ada@example.org', 'admin', danube);
    const { token } = invited;
    if (what === 'removed') await remove(operator, inviter.id);
    else if (what === 'moved') await store.write('update people set shelter_id = $2 where id = $1', inviter.id, alps);
    else await db.transaction((tx) => changePerson(tx, () => true, operator, inviter.id, { role: 'volunteer' }), theService);
    expect(await problemOf(db.transaction((tx) => useInvitation(tx, token, origin), theService))).toBe('ended');
    expect(await problemOf(db.transaction((tx) => bindIdentity(tx, account, 'ada@example.org', origin), theService))).toBe('ended');
    const again = await invite(operator, 'ada@example.org', 'staff', danube);
    expect(await db.transaction((tx) => useInvitation(tx, again.token, origin), theService)).toMatchObject({ role: 'staff' });
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

  test('and another one who remove or demote each other at once: one remains an admin, in 20 rounds', async () => {
    for (let round = 0; round < 20; round += 1) {
      const pair = await Promise.all([1, 2].map(() => join(store, { role: 'admin', shelterId: danube })));
      const [ada, eve] = await Promise.all(pair.map((person) => actAs(store, person)));
      const [first, second] = pair;
      if (!ada || !eve || !first || !second) throw new Error('there are no two');
      const demote = (by: Manager, id: bigint) =>
        db.transaction((tx) => changePerson(tx, () => true, by, id, { role: 'volunteer' }), theService);
      const problems = await Promise.all(
        [remove(ada, second.id), round % 2 === 0 ? remove(eve, first.id) : demote(eve, first.id)].map(problemOf),
      );
      expect(problems.toSorted()).toEqual(['none', 'not_allowed']);
    }
  });

  test('neither changes nor removes anyone elsewhere, nor moves anyone there', async () => {
    const by = await admin();
    for (const shelterId of [alps, null]) {
      const other = await join(store, { shelterId });
      expect(await problemOf(remove(by, other.id))).toBe('not_found');
      expect(await problemOf(db.transaction((tx) => changePerson(tx, () => true, by, other.id, { shelterId: danube }), theService))).toBe(
        'not_found',
      );
      const own = await join(store, { shelterId: danube });
      expect(await problemOf(db.transaction((tx) => changePerson(tx, () => true, by, own.id, { shelterId }), theService))).toBe(
        'not_allowed',
      );
    }
  });

  test('learns of an address elsewhere only that it can not be invited, and each answer counts as an invitation', async () => {
    const by = await admin();
    const { person } = await invite(operator, 'open@example.org', 'staff', alps);
    const works = await join(store, { shelterId: alps });
    const answers = await Promise.all(
      [person.email, works.email].map((email) => requireInvitable(db, by, email).catch((error: Error) => error.message.replace(email, ''))),
    );
    expect(new Set(answers)).toEqual(new Set([" can't be invited here. Ask the staff of the store."]));
    const asked: unknown[] = [];
    for (let i = 0; i < 60; i += 1) asked.push(await problemOf(requireInvitable(db, by, works.email)));
    expect(asked.filter((problem) => problem === 'taken')).toHaveLength(48);
    expect(await problemOf(invite(by, 'one-more@example.org', 'staff', danube))).toBe('limit');
  });

  test('invites somebody whose invitation elsewhere has ended, and the link from there gives nothing', async () => {
    const { person, token } = await invite(operator, 'ada@example.org', 'staff', alps);
    await store.write('update people set invited_until = now() where id = $1', person.id);
    const by = await admin();
    expect(await problemOf(requireInvitable(db, by, 'ada@example.org'))).toBe('none');
    const again = await invite(by, 'ada@example.org', 'volunteer', danube);
    expect(again.person).toMatchObject({ shelterId: danube, role: 'volunteer', invitedBy: by.personId });
    expect(await problemOf(db.transaction((tx) => useInvitation(tx, token, origin), theService))).toBe('ended');
    expect(await db.transaction((tx) => useInvitation(tx, again.token, origin), theService)).toMatchObject({ shelterId: danube });
  });

  test('does not get hold of someone whom another shelter has invited', async () => {
    const { token } = await invite(operator, 'ada@example.org', 'staff', alps);
    expect(await problemOf(invite(await admin(), 'ada@example.org', 'staff', danube))).toBe('taken');
    expect(await db.transaction((tx) => useInvitation(tx, token, origin), theService)).toMatchObject({ shelterId: alps });
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
  expect(await problemOf(db.transaction((tx) => changePerson(tx, () => true, by, other.id, { role: 'admin' }), theService))).toBe(
    'not_found',
  );
});

describe('the last admin of the store', () => {
  test('is neither removed nor demoted, also if another one is invited', async () => {
    const admin = await join(store, { role: 'admin' });
    await invite(operator, 'ada@example.org', 'admin');
    expect(await problemOf(remove(operator, admin.id))).toBe('last_admin');
    expect(await problemOf(db.transaction((tx) => changePerson(tx, () => true, operator, admin.id, { role: 'staff' }), theService))).toBe(
      'last_admin',
    );
    expect(
      await problemOf(db.transaction((tx) => changePerson(tx, () => true, operator, admin.id, { shelterId: danube }), theService)),
    ).toBe('last_admin');
  });

  test('is left when all are removed or demoted at once, in 20 rounds', async () => {
    for (let round = 0; round < 20; round += 1) {
      const admins = await Promise.all(Array.from({ length: 4 }, () => join(store, { role: 'admin' })));
      const before = await listPeople(db, { shelterId: null, afterId: 0n, limit: 1_000 });
      const acts = before.map(({ id }, i) =>
        i % 2 === 0
          ? remove(operator, id)
          : db.transaction((tx) => changePerson(tx, () => true, operator, id, { role: 'staff' }), theService),
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

  test('has fewer rights by the next request if the role was changed instead', async () => {
    const person = await join(store, { shelterId: danube });
    const token = await signIn(store, person);
    await db.transaction((tx) => changePerson(tx, () => true, operator, person.id, { role: 'volunteer' }), theService);
    expect(await findSession(db, token)).toMatchObject({ person: { role: 'volunteer', shelterId: danube } });
  });
});
