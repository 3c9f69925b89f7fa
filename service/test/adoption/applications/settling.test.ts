import { describe, expect, test, vi } from 'vitest';
import { planBounds } from '../../../src/access/rate-limit/plans.ts';
import { closeUnanswered, deleteUnconfirmedApplications, settleLeftApplications } from '../../../src/adoption/applications/settling.ts';
import { submitApplication } from '../../../src/adoption/applications/submissions.ts';
import { verifyHistory } from '../../../src/adoption/verify/verify.ts';
import { theService } from '../../../src/domain/actor.ts';
import { defaultScopes } from '../../../src/domain/scopes.ts';
import { act, addPet, createManager, placeOrder } from '../../adoption-steps.ts';
import { apply, decide, decideAll, readApplication, submit } from '../../application-steps.ts';
import { publishAll } from '../../event-steps.ts';
import { countLockWaits, holdLocks } from '../../lock-waits.ts';
import { addShelter } from '../../shelter-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const { db } = store.dependencies;
const [partner, manager] = [await store.createKey(), await createManager(store)];
const other = await addShelter(store);

/** An animal with three applications, of which staff have accepted the first, or none if its order is not needed. */
async function appliedFor({ accepts = true } = {}) {
  const { id: petId } = await addPet(store, partner);
  const of = (name: string) => submit(store, partner, petId, { adopter: { name, email: `${name}.${petId}@example.org` } });
  const ids = [(await of('ada')).id, (await of('bob')).id, (await of('eve')).id];
  if (!accepts) return { petId, ids, orderId: 0 };
  const { json } = await decide(store, manager, ids[0] ?? 0, 'accept');
  return { petId, ids, orderId: json.orderId ?? 0 };
}

const states = (ids: readonly number[]) =>
  Promise.all(
    ids.map(async (id) => {
      const { status, closedReason } = await readApplication(store, partner, id);
      return closedReason ?? status;
    }),
  );

const settle = () => settleLeftApplications(db, 100);
const countLeft = async () => (await store.read<{ count: bigint }>('select count(*) from unsettled_applications'))[0]?.count;
const verify = async () => (await verifyHistory(db, () => {})).violation;

interface Ids {
  readonly petId: number;
  readonly orderId: number;
}

/** The statements of a process of release 1.1.0, which knows no applications, in its transactions. */
const before = {
  // Several statements that are sent at once are one transaction.
  act: ({ petId, orderId }: Ids, order: 'completed' | 'cancelled' | 'returned', pet: string) => {
    const [orderWas, petWas] = order === 'returned' ? ['completed', 'sold'] : ['approved', 'pending'];
    return store.asOwner(`update orders set status = '${order}', updated_at = now() where id = ${orderId};
      update pets set status = '${pet}', updated_at = now() where id = ${petId};
      insert into history (pet_id, order_id, from_status, to_status, why, kind)
        values (${petId}, ${orderId}, '${orderWas}', '${order}', '${order}', 'order_status');
      insert into history (pet_id, from_status, to_status, why, kind)
        values (${petId}, '${petWas}', '${pet}', 'order ${orderId} ${order}', 'pet_status')`);
  },
  set: ({ petId }: Ids, change: string, to: string) =>
    store.asOwner(`with changed as (update pets set ${change}, updated_at = now() where id = ${petId} returning id)
      insert into history (pet_id, from_status, to_status, why) select id, 'available', '${to}', 'status set by staff' from changed`),
};

describe('What a process of the release before does is settled by the worker', () => {
  test.each([
    ['completes the order', (ids: Ids) => before.act(ids, 'completed', 'sold'), ['completed', 'adopted', 'adopted']],
    ['cancels the order', (ids: Ids) => before.act(ids, 'cancelled', 'available'), ['cancelled', 'submitted', 'submitted']],
    [
      'completes the order and takes the animal back at once',
      async (ids: Ids) => {
        await before.act(ids, 'completed', 'sold');
        await before.act(ids, 'returned', 'available');
      },
      ['completed', 'submitted', 'submitted'],
    ],
  ])('%s', async (_, change, expected) => {
    const ids = await appliedFor();
    await change(ids);
    expect(await states(ids.ids)).toEqual(['accepted', 'submitted', 'submitted']);
    expect(await verify()).toBeUndefined();
    expect(await settle()).toBe(1);
    expect(await states(ids.ids)).toEqual(expected);
    expect([await countLeft(), await settle(), await verify()]).toEqual([0n, 0, undefined]);
  });

  test.each([
    ['sets the animal to sold', `status = 'sold'`, 'sold', 'adopted'],
    ['removes the animal', 'removed_at = now()', 'removed', 'unavailable'],
  ])('%s', async (_, change, to, reason) => {
    const ids = await appliedFor({ accepts: false });
    await decideAll(store, manager, ids.ids[1] ?? 0, 'review');
    await decideAll(store, manager, ids.ids[2] ?? 0, 'decline');
    await before.set(ids, change, to);
    expect(await verify()).toBeUndefined();
    expect(await settle()).toBe(1);
    expect(await states(ids.ids)).toEqual([reason, reason, 'declined']);
    expect([await countLeft(), await verify()]).toEqual([0n, undefined]);
  });

  test('moves the animal: its open applications follow in the same transaction', async () => {
    const ids = await appliedFor();
    await decideAll(store, manager, ids.ids[2] ?? 0, 'decline');
    await store.asOwner(`with moved as (update pets set shelter_id = ${other} where id = ${ids.petId} returning id)
      insert into history (pet_id, from_status, to_status, why, kind, from_shelter_id, to_shelter_id)
        select id, 'pending', 'pending', 'moved', 'pet_moved', 1, ${other} from moved`);
    expect(await settle()).toBe(0);
    const shelters = await Promise.all(ids.ids.map(async (id) => (await readApplication(store, partner, id)).shelterId));
    expect(shelters).toEqual([other, other, 1]);
    expect(await verify()).toBeUndefined();
  });

  test("completes a partner's order of the animal, which has no application", async () => {
    const ids = await appliedFor({ accepts: false });
    const order = await placeOrder(store, await store.createKey(), ids.petId);
    await act(store, manager, order.id, 'approve');
    await before.act({ ...ids, orderId: order.id }, 'completed', 'sold');
    expect(await settle()).toBe(1);
    expect(await states(ids.ids)).toEqual(['adopted', 'adopted', 'adopted']);
    expect(await verify()).toBeUndefined();
  });

  test('tells of what it settles by events and in the history, by the service', async () => {
    const ids = await appliedFor();
    await before.act(ids, 'completed', 'sold');
    await settle();
    await publishAll(store);
    const events = await store.read(
      `select type from events where type like 'application.%' and data::json->'application'->>'petId' = $1 order by position`,
      String(ids.petId),
    );
    expect(events.map(({ type }) => type).slice(-3)).toEqual(['application.completed', 'application.closed', 'application.closed']);
    const rows = await store.read(
      'select by, client_id, key_id, why from application_history where application_id = $1 order by id desc limit 1',
      ids.ids[1],
    );
    expect(rows).toEqual([{ by: 'service', client_id: null, key_id: null, why: 'somebody else adopted the animal' }]);
  });

  test('a process of this release leaves nothing to it', async () => {
    const [first, second, third] = [await appliedFor(), await appliedFor(), await appliedFor({ accepts: false })];
    const noted = await holdLocks(store, 'lock table unsettled_applications in share mode', []);
    // It would wait for the lock.
    expect(await act(store, manager, first.orderId, 'complete')).toMatchObject({ status: 200 });
    expect(await act(store, manager, first.orderId, 'return')).toMatchObject({ status: 200 });
    expect(await act(store, manager, second.orderId, 'cancel')).toMatchObject({ status: 200 });
    expect(await store.call('PATCH', `/v1/pets/${second.petId}`, { key: manager.key, body: { status: 'sold' } })).toMatchObject({
      status: 200,
    });
    expect(await store.call('DELETE', `/v1/pets/${third.petId}`, { key: manager.key })).toMatchObject({ status: 204 });
    await noted.release();
    expect(await countLeft()).toBe(0n);
  });

  test('in batches', async () => {
    const all = [await appliedFor(), await appliedFor(), await appliedFor()];
    for (const ids of all) await before.act(ids, 'completed', 'sold');
    expect(await settleLeftApplications(db, 2)).toBe(2);
    expect(await countLeft()).toBe(1n);
    expect(await settleLeftApplications(db, 2)).toBe(1);
  });
});

describe('An animal that can not be settled', () => {
  test('is tried again after all others', async () => {
    const all = [await appliedFor(), await appliedFor()];
    for (const ids of all) await before.act(ids, 'completed', 'sold');
    const [failing, other] = all.map(({ petId }) => petId);
    await store.asOwner(`create function fails() returns trigger language plpgsql as 'begin raise exception ''no''; end';
      create trigger fails before update on applications for each row when (old.pet_id = ${failing}) execute function fails()`);
    await expect(settleLeftApplications(db, 1)).rejects.toThrow('the applications of 1 animals could not be settled');
    expect(await settleLeftApplications(db, 1)).toBe(1);
    expect(await store.read('select pet_id::int as id from unsettled_applications')).toEqual([{ id: failing }]);
    expect((await readApplication(store, partner, all[1]?.ids[0] ?? 0)).petId).toBe(other);
    await store.asOwner('drop function fails cascade');
    expect([await settle(), await countLeft()]).toEqual([1, 0n]);
  });
});

describe('Unanswered applications', () => {
  const age = (id: number, days: number) =>
    store.asOwner(`update applications set acted_at = now() - interval '${days} days' where id = ${id}`);
  const close = () => closeUnanswered(db, 60, 100);

  test('are closed after so many days without an act, and accepted ones never', async () => {
    const ids = await appliedFor();
    const [accepted = 0, due = 0, recent = 0] = ids.ids;
    await age(accepted, 61);
    await age(due, 60);
    await age(recent, 59);
    expect(await close()).toBe(1);
    expect(await states(ids.ids)).toEqual(['accepted', 'unanswered', 'submitted']);
    expect([await close(), await verify()]).toEqual([0, undefined]);
  });

  test('of many animals are closed in batches', async () => {
    const all = [await appliedFor({ accepts: false }), await appliedFor({ accepts: false })];
    for (const { ids } of all) for (const id of ids) await age(id, 70);
    expect([await closeUnanswered(db, 60, 4), await close()]).toEqual([4, 2]);
  });

  test('stay open if staff review them while the worker waits', async () => {
    const { petId, ids } = await appliedFor({ accepts: false });
    const [id = 0] = ids;
    await age(id, 70);
    const reviewing = await holdLocks(store, 'select from pets where id = $1 for update', [petId]);
    const closing = close();
    await vi.waitUntil(async () => (await countLockWaits(store)) === 1n);
    await store.asOwner(`update applications set acted_at = now() where id = ${id}`);
    await reviewing.release();
    expect(await closing).toBe(0);
    expect(await states([id])).toEqual(['submitted']);
  });

  test('a note of staff is an act', async () => {
    const { ids } = await appliedFor({ accepts: false });
    await age(ids[0] ?? 0, 70);
    await store.call('PATCH', `/v1/applications/${ids[0]}`, { key: manager.key, body: { note: 'Called.' } });
    expect(await close()).toBe(0);
  });
});

describe('Unconfirmed applications', () => {
  const actor = { clientId: partner.clientId, keyId: partner.id, personId: null, shelterId: null, scopes: defaultScopes, authority: null };
  const terms = { clientId: partner.clientId, bounds: planBounds.enterprise, mails: true };
  const age = (id: bigint, hours: number) =>
    store.asOwner(`update applications set created_at = now() - interval '${hours} hours' where id = ${id}`);
  const exists = async (id: bigint) => (await store.call('GET', `/v1/applications/${id}`, { key: partner.key })).status === 200;
  const remove = () => deleteUnconfirmedApplications(db, 100);

  async function unconfirmed(): Promise<bigint> {
    const { id: petId } = await addPet(store, partner);
    const adopter = { name: 'Ada', email: 'ada@example.org' };
    return (await db.transaction((tx) => submitApplication(tx, { petId: BigInt(petId), adopter }, actor, terms), theService)).id;
  }

  test('are deleted after three days, and confirmed ones are not', async () => {
    const [due, recent] = [await unconfirmed(), await unconfirmed()];
    const { ids } = await appliedFor({ accepts: false });
    await age(due, 72);
    await age(recent, 71);
    await age(BigInt(ids[0] ?? 0), 73);
    expect(await remove()).toBe(1);
    expect([await exists(due), await exists(recent), await exists(BigInt(ids[0] ?? 0))]).toEqual([false, true, true]);
    expect(await verify()).toBeUndefined();
  });

  test('one that is being confirmed is left to that', async () => {
    const id = await unconfirmed();
    await age(id, 80);
    const confirming = await holdLocks(store, 'select from applications where id = $1 for update', [id]);
    expect(await remove()).toBe(0);
    await confirming.release();
    expect(await remove()).toBe(1);
  });

  test('one that is sold or removed meanwhile stays unconfirmed, and is no violation', async () => {
    const id = await unconfirmed();
    const [row] = await store.read<{ petId: bigint }>('select pet_id as "petId" from applications where id = $1', id);
    await store.call('DELETE', `/v1/pets/${row?.petId}`, { key: manager.key });
    expect(await countLeft()).toBe(0n);
    expect(await store.read('select status from applications where id = $1', id)).toEqual([{ status: 'unconfirmed' }]);
    expect(await verify()).toBeUndefined();
  });

  test('a retry gets the stored response although the application was deleted', async () => {
    const { id: petId } = await addPet(store, partner);
    const headers = { 'idempotency-key': `apply-${petId}` };
    const first = await apply(store, partner, petId, {}, { headers });
    await store.asOwner(
      `delete from application_history where application_id = ${first.json.id}; update applications set status = 'unconfirmed' where id = ${first.json.id}`,
    );
    await age(BigInt(first.json.id), 80);
    expect(await remove()).toBe(1);
    expect(await apply(store, partner, petId, {}, { headers })).toMatchObject({ status: 201, text: first.text });
    expect(await exists(BigInt(first.json.id))).toBe(false);
  });
});
