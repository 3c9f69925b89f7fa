// Adopters' data is erased after the retention period, on request, and again after a restore.

import { describe, expect, test } from 'vitest';
import { testAuthor } from '../../../../testkit/test-author.ts';
import { eraseByEmail, eraseCompletedWith } from '../../../src/adoption/applications/applicants.ts';
import { eraseOldAdopters } from '../../../src/adoption/orders/adopters.ts';
import { expireDueOrders } from '../../../src/adoption/orders/orders.ts';
import type { JournalEntry } from '../../../src/platform/journal/journal.ts';
import { act, actAll, addPet, createManager, letExpire, type OrderBody } from '../../adoption-steps.ts';
import { readOn } from '../../event-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const [key, manager] = [await store.createKey(), await createManager(store)];

const entries: JournalEntry[] = [];
const journal = (entry: JournalEntry) => entries.push(entry) > 0;

async function place(email: string, headers: Record<string, string> = {}): Promise<OrderBody> {
  const { id: petId } = await addPet(store, key);
  const body = { petId, adopter: { name: 'Ada', email } };
  return (await store.call<OrderBody>('POST', '/v1/store/orders', { key: key.key, body, headers })).json;
}

const read = async (id: number) => (await store.call<OrderBody>('GET', `/v1/store/orders/${id}`, { key: key.key })).json;

const letAge = (days: number) => store.asOwner('update orders set updated_at = now() - make_interval(days => $1)', days);

/** An order in each final state, and an open one. */
async function placeAll(): Promise<Record<'open' | 'cancelled' | 'expired' | 'completed' | 'returned', number>> {
  const ids: number[] = [];
  for (let i = 0; i < 5; i += 1) ids.push((await place(`state${i}@example.org`)).id);
  const [open, cancelled, expired, completed, returned] = ids as [number, number, number, number, number];
  await act(store, key, cancelled, 'cancel');
  await letExpire(store, expired);
  await expireDueOrders(store.dependencies.db, store.dependencies.catalogue, 100);
  await actAll(store, manager, completed, 'approve', 'complete');
  await actAll(store, manager, returned, 'approve', 'complete', 'return');
  return { open, cancelled, expired, completed, returned };
}

async function erasedOf(orders: Record<string, number>): Promise<string[]> {
  const erased = [];
  for (const [state, id] of Object.entries(orders)) if ((await read(id)).adopter === null) erased.push(state);
  return erased;
}

describe('Retention', () => {
  const erase = (adopterDays: number, adoptionDays?: number) =>
    eraseOldAdopters(store.dependencies.db, journal, { adopterDays, adoptionDays }, 100, eraseCompletedWith(journal));

  test('erases adopters of cancelled and expired orders after the retention period; of completed ones only if configured; of open ones never', async () => {
    const orders = await placeAll();
    await letAge(89);
    expect(await erase(90)).toBe(0);
    await letAge(91);
    expect(await erase(90)).toBe(2);
    expect(await erasedOf(orders)).toEqual(['cancelled', 'expired']);
    expect(await erase(90)).toBe(0);
    expect(await erase(90, 92)).toBe(0);
    expect(await erase(90, 90)).toBe(2);
    expect(await erasedOf(orders)).toEqual(['cancelled', 'expired', 'completed', 'returned']);
    expect((await read(orders.open)).adopter).not.toBeNull();
  });

  test('publishes an event to the client that placed the order and writes to the journal, with ids only', async () => {
    const { next } = await readOn(store, key);
    const { id } = await place('event@example.org');
    await act(store, key, id, 'cancel');
    await letAge(91);
    await erase(90);
    const { events } = await readOn(store, key, next);
    expect(events.at(-1)).toMatchObject({ type: 'order.adopter_erased', data: { order: { id, status: 'cancelled' } } });
    expect(JSON.stringify(events)).not.toContain('event@');
    expect(entries.at(-1)).toEqual({ act: 'adopters_erased', orders: [BigInt(id)] });
    const stranger = await store.createKey();
    expect((await readOn(store, stranger, next)).events.map(({ type }) => type)).not.toContain('order.adopter_erased');
  });
});

describe('Erasure by e-mail address', () => {
  test('erases every order that is not open, whatever the case of the address, also from stored responses; lists open orders', async () => {
    const retried = { 'idempotency-key': 'erase-by-mail' };
    const closed = await place('Grace@Example.org', retried);
    await act(store, key, closed.id, 'cancel');
    const other = await place('grace@example.org');
    await act(store, key, other.id, 'cancel');
    const open = await place('grace@example.org');
    const bystander = await place('grace2@example.org');
    const erased = await eraseByEmail(store.dependencies.db, journal, testAuthor, 'GRACE@example.org', 1);
    expect(erased).toMatchObject({ orders: 2, responses: 1, openOrders: [BigInt(open.id)] });
    expect((await read(closed.id)).adopter).toBeNull();
    expect((await read(bystander.id)).adopter).not.toBeNull();
    const rows = await store.read<{ body: string }>(`select body from idempotent_answers where key = 'erase-by-mail'`);
    expect(rows[0]?.body).not.toMatch(/grace/i);
  });
});
