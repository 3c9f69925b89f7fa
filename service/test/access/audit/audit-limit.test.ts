import { expect, test, vi } from 'vitest';
import { testAuthor } from '../../../../testkit/test-author.ts';
import { auditRowsPerDay, recordAudit } from '../../../src/access/audit/audit.ts';
import { changePerson, type PersonChanges } from '../../../src/access/people/people.ts';
import { theService } from '../../../src/domain/actor.ts';
import { createManager } from '../../adoption-steps.ts';
import { openTestConsole, wordsOf } from '../../console/test-console.ts';
import { errorResponse } from '../../error-response.ts';
import { actAs } from '../../people-steps.ts';

const site = await openTestConsole();
const { store } = site;
const { db } = store.dependencies;
const readCount = async (author: string): Promise<number> =>
  Number((await store.read<{ count: bigint }>('select count from audit_counts where author = $1', author))[0]?.count ?? 0);
const setCount = (author: string, count: number, day = "(now() at time zone 'utc')::date") =>
  store.write(
    `insert into audit_counts (author, day, count) values ($1, ${day}, $2) on conflict (author) do update set day = excluded.day, count = excluded.count`,
    author,
    count,
  );
const rowsOf = async (column: 'key_id' | 'person_id', id: bigint): Promise<number> =>
  Number((await store.read<{ count: bigint }>(`select count(*) from audit where ${column} = $1`, id))[0]?.count);

test('of the changes that a key makes at once beyond 950, 50 are made and recorded, and the others do not happen', async () => {
  const key = await createManager(store);
  await setCount(`k${key.id}`, auditRowsPerDay - 50);
  const add = async (n: number) => {
    const send = () => store.call('POST', '/v1/shelters', { key: key.key, body: { name: `Shelter ${key.id} ${n}` } });
    // A machine that is busy elsewhere is late.
    return vi.waitUntil(async () => {
      const answer = await send();
      return answer.status === 503 ? undefined : answer;
    });
  };
  const answers = await Promise.all(
    Array.from({ length: 4 }, async (_, worker) => {
      const statuses: number[] = [];
      for (let i = worker; i < 150; i += 4) statuses.push((await add(i)).status);
      return statuses;
    }),
  );
  const statuses = answers.flat();
  expect([statuses.filter((status) => status === 201).length, statuses.filter((status) => status === 409).length]).toEqual([50, 100]);
  expect(await rowsOf('key_id', key.id)).toBe(50);
  const made = await store.read<{ count: bigint }>('select count(*) from shelters where name like $1', `Shelter ${key.id} %`);
  expect(Number(made[0]?.count)).toBe(50);
  expect(await add(0)).toMatchObject(
    errorResponse(
      409,
      'recorded_change_limit',
      'This key has made 1,000 of 1,000 changes today (UTC) that are recorded for good. Nothing was changed. Go on after midnight UTC.',
    ),
  );
});

test('another key, and the next day, have a count of their own', async () => {
  const [full, other] = [await createManager(store), await createManager(store)];
  await setCount(`k${full.id}`, auditRowsPerDay);
  const rename = ({ key }: { key: string }, name: string) => store.call('PATCH', '/v1/shelters/1', { key, body: { name } });
  expect((await rename(full, 'Once')).status).toBe(409);
  expect((await rename(other, 'Twice')).status).toBe(200);
  await setCount(`k${full.id}`, auditRowsPerDay, "(now() at time zone 'utc')::date - 1");
  expect((await rename(full, 'Thrice')).status).toBe(200);
  expect(await readCount(`k${full.id}`)).toBe(1);
});

test('a change that fails is not counted', async () => {
  const key = await createManager(store);
  const failed = db.transaction(async (tx) => {
    await recordAudit(tx, { ...testAuthor, keyId: key.id }, 'shelter.changed', { targetId: 1n, shelterId: 1n });
    throw new Error('too late');
  }, theService);
  await expect(failed).rejects.toThrow('too late');
  expect(await readCount(`k${key.id}`)).toBe(0);
});

test('a command has no limit', async () => {
  const before = await store.read('select author from audit_counts');
  await db.transaction((tx) => recordAudit(tx, testAuthor, 'shelter.changed', { targetId: 1n, shelterId: 1n }), theService);
  expect(await store.read('select author from audit_counts')).toEqual(before);
});

test('a person who has reached it can lower a role, and can rename nobody', async () => {
  const [admin, member] = [await site.arrive({ role: 'admin' }), await site.arrive({ role: 'admin' })];
  await setCount(`p${admin.person.id}`, auditRowsPerDay);
  const by = await actAs(store, admin.person);
  const change = (changes: PersonChanges) =>
    store.dependencies.catalogue.transaction((tx) => changePerson(tx, () => true, by, member.person.id, changes), theService);
  await expect(change({ name: 'Somebody else' })).rejects.toMatchObject({ code: 'recorded_change_limit' });
  expect((await change({ role: 'staff' })).person.role).toBe('staff');
});

test('a person who has reached it can remove people, and invites nobody; what was typed is kept', async () => {
  const admin = await site.arrive({ role: 'admin' });
  const leaver = await site.arrive({ role: 'staff' });
  await setCount(`p${admin.person.id}`, auditRowsPerDay);
  const values = { email: 'late@example.org', name: 'Late Lovelace', role: 'staff', reach: 'store' };
  const rejected = await admin.submit('/people/invite', '/people/invite', values);
  expect(rejected.status).toBe(409);
  expect(wordsOf(rejected.text)).toContain(
    'You have made 1,000 of 1,000 changes today (UTC) that are recorded for good. Nothing was changed. Go on after midnight UTC. Ending sessions and removing are still possible.',
  );
  expect(rejected.text).toContain('value="Late Lovelace"');
  expect(await store.read("select id from people where email = 'late@example.org'")).toEqual([]);
  const page = `/people/${leaver.person.id}`;
  expect((await admin.submit(page, `${page}/remove`)).status).toBe(303);
  expect(await rowsOf('person_id', admin.person.id)).toBeGreaterThan(0);
  expect(await readCount(`p${admin.person.id}`)).toBe(auditRowsPerDay);
});
