import { describe, expect, test, vi } from 'vitest';
import { planBounds } from '../../../src/access/rate-limit/plans.ts';
import { closeUnanswered, deleteUnconfirmedApplications } from '../../../src/adoption/applications/settling.ts';
import { submitApplication } from '../../../src/adoption/applications/submissions.ts';
import { verifyHistory } from '../../../src/adoption/verify/verify.ts';
import { theService } from '../../../src/domain/actor.ts';
import { defaultScopes } from '../../../src/domain/scopes.ts';
import { addPet, createManager } from '../../adoption-steps.ts';
import { apply, decide, readApplication, submit } from '../../application-steps.ts';
import { countLockWaits, holdLocks } from '../../lock-waits.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const { db } = store.dependencies;
const [partner, manager] = [await store.createKey(), await createManager(store)];

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

const verify = async () => (await verifyHistory(db, () => {})).violation;

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
