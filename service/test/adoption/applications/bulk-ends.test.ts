// Staff end all applications of one client, and take that back: one transaction for each, and no mail for ten minutes.
import { describe, expect, test, vi } from 'vitest';
import type { AuditAuthor } from '../../../src/access/audit/audit.ts';
import {
  countToEnd,
  findBulkEndForStaff,
  listNotReopened,
  startBulkEnd,
  takeBulkEndBack,
  workOnBulkEnds,
} from '../../../src/adoption/applications/bulk-ends.ts';
import { verifyHistory } from '../../../src/adoption/verify/verify.ts';
import { type Actor, theService } from '../../../src/domain/actor.ts';
import { addPet, createManager } from '../../adoption-steps.ts';
import { decideAll, submit, submitUnconfirmed } from '../../application-steps.ts';
import { startWorker } from '../../cli/homeward-command.ts';
import { addShelter } from '../../shelter-steps.ts';
import { openTestStore, type TestKey } from '../../test-store.ts';

const store = await openTestStore();
const manager = await createManager(store);
const { db, catalogue } = store.dependencies;
const by: AuditAuthor = { clientId: null, keyId: null, personId: null, origin: { login: 'test', host: 'test' } };
const staffOf = (shelterId: number): Actor => ({ ...theService, shelterId: BigInt(shelterId), scopes: ['shelter:manage'] });

const start = ({ clientId }: TestKey, petId: number | null = null, actor: Actor = theService) =>
  db.transaction(
    (tx) => startBulkEnd(tx, actor, by, { clientId: BigInt(clientId), petId: petId === null ? null : BigInt(petId) }),
    theService,
  );
const takeBack = (id: bigint, actor: Actor = theService) => db.transaction((tx) => takeBulkEndBack(tx, actor, by, id), theService);
const find = (id: bigint) => findBulkEndForStaff(db, theService, id);
/** As the worker does, until there is nothing to do now. */
async function work(): Promise<void> {
  while ((await workOnBulkEnds(db, catalogue)) > 0);
}
const tenMinutesPass = (id: bigint) =>
  store.write(`update bulk_ends set changed_at = changed_at - interval '10 minutes' where id = $1`, id);

/** With applications for animals of their own, whose adopters get mail. */
async function clientWith(...actions: string[][]): Promise<{ key: TestKey; ids: number[]; petIds: number[] }> {
  const key = await store.createKey();
  const [ids, petIds]: [number[], number[]] = [[], []];
  for (const names of actions) {
    const { id } = await addPet(store, manager);
    const application = await submit(store, key, id);
    await decideAll(store, manager, application.id, ...names);
    ids.push(application.id);
    petIds.push(id);
  }
  await store.write('update applications set is_mailed = true where client_id = $1', key.clientId);
  return { key, ids, petIds };
}

const statusesOf = async ({ clientId }: TestKey) =>
  (
    await store.read<{ status: string }>(
      'select coalesce(closed_reason, status::text) as status from applications where client_id = $1 order by id',
      clientId,
    )
  ).map(({ status }) => status);
const mailedOf = async ({ clientId }: TestKey) =>
  (
    await store.read<{ id: bigint }>(
      `select subject_id as id from mail join applications on applications.id = subject_id where kind = 'closed' and client_id = $1 order by 1`,
      clientId,
    )
  ).map(({ id }) => Number(id));
const isLawful = async () => (await verifyHistory(db, () => {})).violation;

describe('A job', () => {
  test('ends what waits for a decision, one by one, and leaves what was accepted, decided, never confirmed, or sent later', async () => {
    const { key } = await clientWith([], ['review'], ['accept'], ['decline']);
    await submitUnconfirmed(store, key, (await addPet(store, manager)).id);
    const other = await clientWith([]);
    expect(await countToEnd(db, theService, { clientId: BigInt(key.clientId), petId: null })).toMatchObject({
      submitted: 1,
      reviewing: 1,
      accepted: 1,
    });
    const id = await start(key);
    await submit(store, key, (await addPet(store, manager)).id);
    expect(await find(id)).toMatchObject({ state: 'ending', found: 2n, ended: 0n });
    await work();
    expect(await find(id)).toMatchObject({ state: 'held', found: 2n, ended: 2n });
    expect(await statusesOf(key)).toEqual(['ended_together', 'ended_together', 'accepted', 'declined', 'unconfirmed', 'submitted']);
    expect(await statusesOf(other.key)).toEqual(['submitted']);
    expect(
      await store.read(`select act, target_id from audit where act like 'applications.%' and target_id = $1`, key.clientId),
    ).toHaveLength(1);
    expect(await isLawful()).toBeUndefined();
  });

  test('for one animal ends those for it', async () => {
    const { key, petIds } = await clientWith([], []);
    await start(key, petIds[1]);
    await work();
    expect(await statusesOf(key)).toEqual(['submitted', 'ended_together']);
  });

  test('tells nobody for ten minutes after the last, then each adopter once', async () => {
    const { key, ids } = await clientWith([], []);
    const id = await start(key);
    await work();
    expect(await mailedOf(key)).toEqual([]);
    await store.write(`update bulk_ends set changed_at = changed_at - interval '9 minutes 50 seconds' where id = $1`, id);
    await work();
    expect(await mailedOf(key)).toEqual([]);
    await store.write(`update bulk_ends set changed_at = changed_at - interval '10 seconds' where id = $1`, id);
    await work();
    expect(await mailedOf(key)).toEqual(ids);
    expect(await find(id)).toMatchObject({ state: 'done' });
    await tenMinutesPass(id);
    await work();
    expect(await mailedOf(key)).toEqual(ids);
    await expect(takeBack(id)).rejects.toMatchObject({ code: 'application_state_conflict' });
  });

  test('that is taken back reopens what it has ended, whose adopters get no mail; the others get theirs', async () => {
    const { key, ids, petIds } = await clientWith([], ['review'], []);
    const id = await start(key);
    await work();
    await store.call('PATCH', `/v1/pets/${petIds[0]}`, { key: manager.key, body: { status: 'sold' } });
    await takeBack(id);
    await work();
    expect(await statusesOf(key)).toEqual(['ended_together', 'reviewing', 'reviewing']);
    expect(await find(id)).toMatchObject({ state: 'held', ended: 3n, reopened: 2n });
    expect(await listNotReopened(db, { id }, 10)).toEqual([{ id: BigInt(ids[0] ?? 0), failure: 'pet_not_available' }]);
    await tenMinutesPass(id);
    await work();
    expect(await mailedOf(key)).toEqual([ids[0]]);
    expect(await isLawful()).toBeUndefined();
  });

  test('that is taken back in the middle ends no more', async () => {
    const { key } = await clientWith(...Array.from({ length: 60 }, () => []));
    const id = await start(key);
    await workOnBulkEnds(db, catalogue);
    const ended = (await find(id))?.ended ?? 0n;
    expect(ended).toBe(50n);
    await takeBack(id);
    await work();
    expect(await statusesOf(key)).toEqual([...Array(50).fill('reviewing'), ...Array(10).fill('submitted')]);
    await tenMinutesPass(id);
    await work();
    expect(await mailedOf(key)).toEqual([]);
  });

  test('tells no adopter of what staff have reopened themselves, and does not touch that when it is taken back', async () => {
    const { key, ids } = await clientWith([], []);
    const [first = 0, second = 0] = ids;
    const id = await start(key);
    await work();
    await decideAll(store, manager, first, 'reopen');
    await decideAll(store, manager, second, 'reopen', 'decline');
    await takeBack(id);
    await work();
    await tenMinutesPass(id);
    await work();
    expect([await statusesOf(key), await mailedOf(key)]).toEqual([['reviewing', 'declined'], []]);
  });

  test('of the same client is rejected in words while one is at work, also one that is taken back; of another it is not', async () => {
    const [{ key }, other] = [await clientWith([]), await clientWith([])];
    const id = await start(key);
    const message = 'Applications of this client are being ended or reopened at this moment. Wait until that is done, and try again.';
    await expect(start(key)).rejects.toMatchObject({ code: 'application_state_conflict', message });
    await start(other.key);
    await work();
    await submit(store, key, (await addPet(store, manager)).id);
    const second = await start(key);
    await expect(takeBack(id)).rejects.toMatchObject({ message });
    await work();
    await takeBack(id);
    await expect(start(key)).rejects.toMatchObject({ message: 'No application of this client waits for a decision here.' });
    await work();
    expect(await find(second)).toMatchObject({ ended: 1n, reopened: 0n });
    expect(await statusesOf(key)).toEqual(['reviewing', 'ended_together']);
  });

  test('that 8 start at once is one', async () => {
    const { key } = await clientWith([]);
    const started = await Promise.allSettled(Array.from({ length: 8 }, () => start(key)));
    expect(started.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await work();
  });

  test('with many applications lets one with few have its turn', async () => {
    const [many, few] = [await clientWith(...Array.from({ length: 60 }, () => [])), await clientWith([])];
    await start(many.key);
    await start(few.key);
    await workOnBulkEnds(db, catalogue);
    await workOnBulkEnds(db, catalogue);
    expect(await statusesOf(few.key)).toEqual(['ended_together']);
    expect(await statusesOf(many.key)).toContain('submitted');
    await work();
  });

  test('that 4 workers work on at once ends each application once', async () => {
    const { key, ids } = await clientWith(...Array.from({ length: 40 }, () => []));
    const id = await start(key);
    await Promise.all(Array.from({ length: 4 }, work));
    expect(await find(id)).toMatchObject({ ended: 40n, state: 'held' });
    const rows = await store.read(
      `select application_id from application_history where to_status = 'closed' and application_id = any($1::bigint[])`,
      ids,
    );
    expect(rows).toHaveLength(40);
    expect(await isLawful()).toBeUndefined();
  });
});

describe('Staff of a shelter', () => {
  test('end those to their shelter, and take back their own jobs alone', async () => {
    const { key, petIds } = await clientWith([], []);
    const shelterId = await addShelter(store);
    await store.call('PUT', `/v1/pets/${petIds[0]}/shelter`, { key: manager.key, body: { shelterId } });
    const staff = staffOf(shelterId);
    const id = await start(key, null, staff);
    await work();
    expect(await statusesOf(key)).toEqual(['ended_together', 'submitted']);
    const all = await start(key);
    await work();
    await expect(takeBack(all, staff)).rejects.toMatchObject({ code: 'application_not_found' });
    await expect(takeBack(id, staffOf(1))).rejects.toMatchObject({ code: 'application_not_found' });
    await takeBack(id, staff);
    await work();
    expect(await statusesOf(key)).toEqual(['reviewing', 'ended_together']);
  });

  test('end nothing with the rights of a volunteer', async () => {
    const { key } = await clientWith([]);
    await expect(start(key, null, { ...theService, shelterId: 1n, scopes: ['pets:write'] })).rejects.toMatchObject({
      code: 'insufficient_scope',
    });
  });
});

test('a worker that is killed in the middle leaves what the next one goes on with, and each is ended once', {
  timeout: 120_000,
}, async () => {
  const { key, ids } = await clientWith(...Array.from({ length: 100 }, () => []));
  const id = await start(key);
  {
    await using worker = startWorker({ env: store.env });
    await vi.waitUntil(async () => ((await find(id))?.ended ?? 0n) >= 10n, { timeout: 60_000, interval: 5 });
    worker.kill();
  }
  const ended = (await find(id))?.ended ?? 0n;
  expect((await statusesOf(key)).filter((status) => status === 'ended_together')).toHaveLength(Number(ended));
  await using _ = startWorker({ env: store.env });
  await vi.waitUntil(async () => (await find(id))?.state === 'held', { timeout: 60_000, interval: 50 });
  expect(await find(id)).toMatchObject({ ended: 100n });
  const rows = await store.read(
    `select application_id from application_history where to_status = 'closed' and application_id = any($1::bigint[])`,
    ids,
  );
  expect(rows).toHaveLength(100);
  expect([ended < 100n, await mailedOf(key), await isLawful()]).toEqual([true, [], undefined]);
});
