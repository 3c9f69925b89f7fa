// What was ended of the people who work here stays ended when an older backup is restored, and what is newer is left alone.
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { addStaffThings, countEndedToo, countRevived, endStaffThings, staffEnds } from '../../../testkit/staff-ends.ts';
import { removePasskey } from '../../src/access/people/credentials.ts';
import { mint, useRaise } from '../../src/access/people/links.ts';
import { changePerson, findPerson } from '../../src/access/people/people.ts';
import { findSession } from '../../src/access/people/sessions.ts';
import { theService } from '../../src/domain/actor.ts';
import { applyJournal } from '../../src/operations/recovery/apply-journal.ts';
import { followFailover } from '../../src/operations/recovery/failovers.ts';
import type { JournalEntry } from '../../src/platform/journal/journal.ts';
import { actAs, join, operator, origin, signIn } from '../people-steps.ts';
import { openTestStore } from '../test-store.ts';

const store = await openTestStore();
const { db } = store.dependencies;
const apply = (entry: JournalEntry, at = new Date()) => applyJournal(db, [{ at, entry }], () => {});
const [applied, skipped] = [
  { applied: 1, skipped: 0 },
  { applied: 0, skipped: 1 },
];
const longAgo = new Date(Date.now() - 120_000);
const danube = (await store.write<{ id: bigint }>(`insert into shelters (name) values ('Danube') returning id`))[0]?.id ?? 0n;

const addPasskey = async (personId: bigint): Promise<bigint> => {
  const text = `insert into passkeys (person_id, credential_id, public_key, counter, name)
    values ($1, decode(md5(random()::text), 'hex'), '\\x01', 0, 'Phone') returning id`;
  return (await store.write<{ id: bigint }>(text, personId))[0]?.id ?? 0n;
};

describe('a change of role', () => {
  test('is journaled if it takes something away, with the post that is left, and applied again', async () => {
    const journal = vi.fn<(entry: JournalEntry) => boolean>(() => true);
    const person = await join(store, { role: 'admin', shelterId: danube });
    await join(store, { role: 'admin' });
    const change = (changes: object) => db.transaction((tx) => changePerson(tx, journal, operator, person.id, changes), theService);
    await change({ name: 'Ada' });
    expect(journal).not.toHaveBeenCalled();
    await change({ role: 'volunteer' });
    expect(journal).toHaveBeenLastCalledWith({ act: 'person_changed', person: person.id, role: 'volunteer', shelter: danube });
    await store.write(`update people set role = 'admin', post_changed_at = null where id = $1`, person.id);
    const [[entry] = []] = journal.mock.calls;
    expect(await apply(entry as JournalEntry)).toEqual(applied);
    expect(await findPerson(db, person.id)).toMatchObject({ role: 'volunteer', shelterId: danube });
  });

  test('undoes no later one, and does not touch who was invited later under the same number', async () => {
    const [changed, invited] = [await join(store, { role: 'admin' }), await join(store, { role: 'admin' })];
    await join(store, { role: 'admin' });
    await store.write(`update people set created_at = now() - interval '1 day' where id = $1`, changed.id);
    const entry = { act: 'person_changed', person: changed.id, role: 'staff', shelter: danube } as const;
    await store.write('update people set post_changed_at = now() where id = $1', changed.id);
    expect(await apply(entry, longAgo)).toEqual(skipped);
    expect(await apply({ ...entry, person: invited.id }, longAgo)).toEqual(skipped);
    expect(await findPerson(db, changed.id)).toMatchObject({ role: 'admin' });
  });

  test('to a shelter that is lost leaves no access to the one before', async () => {
    const person = await join(store, { role: 'staff', shelterId: danube });
    expect(await apply({ act: 'person_changed', person: person.id, role: 'staff', shelter: 9_999n })).toEqual(applied);
    expect(await findPerson(db, person.id)).toBeUndefined();
  });
});

describe('a passkey that was removed', () => {
  test('is removed again; a newer one with its number stays', async () => {
    const person = await join(store);
    const [old, newer] = [await addPasskey(person.id), await addPasskey(person.id)];
    expect(await apply({ act: 'passkey_removed', passkey: newer }, longAgo)).toEqual(skipped);
    expect(await apply({ act: 'passkey_removed', passkey: old })).toEqual(applied);
    expect(await apply({ act: 'passkey_removed', passkey: old })).toEqual(skipped);
    expect(await store.read('select id from passkeys where person_id = $1', person.id)).toEqual([{ id: newer }]);
  });

  test('is not removed if its line can not be written, and is on a full disk, which is said', async () => {
    const by = await actAs(store, await join(store));
    const id = await addPasskey(by.personId);
    const failing = () => {
      throw new Error('no journal');
    };
    await expect(db.transaction((tx) => removePasskey(tx, failing, by, id), theService)).rejects.toThrow('no journal');
    expect(await store.read('select id from passkeys where person_id = $1', by.personId)).toEqual([{ id }]);
    expect(await db.transaction((tx) => removePasskey(tx, () => false, by, id), theService)).toEqual({ isJournaled: false });
    expect(await store.read('select id from passkeys where person_id = $1', by.personId)).toEqual([]);
  });
});

test('a raise that is taken up journals the end of what the person signed in with, and a move the end of the former place', async () => {
  const journal = vi.fn<(entry: JournalEntry) => boolean>(() => true);
  const person = await join(store, { role: 'staff', shelterId: danube });
  const [alps] = await store.write<{ id: bigint }>(`insert into shelters (name) values ('Alps') returning id`);
  const takeUp = async (changes: object) => {
    const offered = await db.transaction((tx) => changePerson(tx, journal, operator, person.id, changes), theService);
    expect(journal).not.toHaveBeenCalled();
    const { token } = await db.transaction((tx) => mint(tx, offered.person, 'raise'), theService);
    await db.transaction((tx) => useRaise(tx, journal, token, origin), theService);
    return journal.mock.calls.splice(0).map(([entry]) => entry);
  };
  const ends = { act: 'sign_ins_ended', person: person.id };
  expect(await takeUp({ role: 'admin' })).toEqual([ends]);
  const moved = { act: 'person_changed', person: person.id, role: 'admin', shelter: alps?.id };
  expect(await takeUp({ shelterId: alps?.id })).toEqual([ends, moved]);
});

test('what somebody signed in with is ended again, and what was added later stays', async () => {
  const person = await join(store);
  await addPasskey(person.id);
  await store.write(`insert into identities (issuer, subject, person_id) values ('https://id.example.org', 'ada', $1)`, person.id);
  expect(await apply({ act: 'sign_ins_ended', person: person.id }, longAgo)).toEqual(skipped);
  expect(await apply({ act: 'sign_ins_ended', person: person.id })).toEqual(applied);
  expect(await store.read('select person_id from identities where person_id = $1', person.id)).toEqual([]);
});

describe('200 ends among 2,000', () => {
  const entries: Array<{ readonly at: Date; readonly entry: JournalEntry }> = [];
  const readOne = async (text: string) => (await store.read<{ count: number }>(text))[0];

  beforeEach(async () => {
    entries.length = 0;
    await store.asOwner('truncate people, sessions, person_links, passkeys, identities, staff_clients cascade');
    await join(store, { role: 'admin' });
    const [client] = await store.read<{ id: bigint }>('select client_id as id from staff_clients where shelter_id = 0');
    await addStaffThings(store.asOwner.bind(store), client?.id ?? 0n);
  });

  test('are 200 revived by an older backup, and 0 once the journal is applied, twice, while the other 1,800 stay', async () => {
    // The backup: what there was before.
    const kept = ['people', 'passkeys', 'identities'];
    for (const table of kept) await store.asOwner(`create table backup_${table} as select * from ${table}`);
    await endStaffThings(db, (entry) => entries.push({ at: new Date(), entry }) > 0);
    expect([await countRevived(readOne), entries.length]).toEqual([0, staffEnds]);
    await store.asOwner('truncate passkeys, identities');
    await store.asOwner(`update people set role = old.role, shelter_id = old.shelter_id, removed_at = old.removed_at, post_changed_at = null
      from backup_people as old where old.id = people.id`);
    await store.asOwner('insert into passkeys overriding system value select * from backup_passkeys');
    await store.asOwner('insert into identities select * from backup_identities');
    for (const table of kept) await store.asOwner(`drop table backup_${table}`);
    expect(await countRevived(readOne)).toBe(staffEnds);
    expect(await applyJournal(db, entries, () => {})).toEqual({ applied: staffEnds, skipped: 0 });
    expect([await countRevived(readOne), await countEndedToo(readOne)]).toEqual([0, 0]);
    await applyJournal(db, entries, () => {});
    expect([await countRevived(readOne), await countEndedToo(readOne)]).toEqual([0, 0]);
  });
});

describe('a failover', () => {
  async function follow(failover: 'lossy' | 'lossless') {
    const person = await join(store, { shelterId: danube });
    const token = await signIn(store, person);
    await store.write(`update deployment set server = 'before'`);
    const log = { warn: vi.fn<() => void>() };
    const parts = { db, config: { failover, journalFile: '', journalDirectory: '' }, servers: new Set<string>(), log };
    await Promise.all([followFailover(parts), followFailover(parts)]);
    return { isSignedIn: (await findSession(db, token)) !== undefined, times: log.warn.mock.calls.length };
  }

  test('that may have lost something ends all sessions and links, once, by the first worker', async () => {
    expect(await follow('lossy')).toEqual({ isSignedIn: false, times: 1 });
    const later = await signIn(store, await join(store, { shelterId: danube }));
    expect(await findSession(db, later)).toBeDefined();
  });

  test('that has lost nothing ends none', async () => {
    expect(await follow('lossless')).toEqual({ isSignedIn: true, times: 1 });
  });
});
