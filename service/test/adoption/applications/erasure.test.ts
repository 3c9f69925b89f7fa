// Adopters' data in applications is erased after the retention period, with that of orders, and on request.

import { describe, expect, test } from 'vitest';
import { testAuthor } from '../../../../testkit/test-author.ts';
import {
  eraseApplicant,
  eraseByEmail,
  eraseCompletedWith,
  eraseOldApplicants,
  eraseOrderAndApplicant,
} from '../../../src/adoption/applications/applicants.ts';
import { eraseOldAdopters } from '../../../src/adoption/orders/adopters.ts';
import { verifyHistory } from '../../../src/adoption/verify/verify.ts';
import { queueMail } from '../../../src/changes/mail/mail-queue.ts';
import { theService } from '../../../src/domain/actor.ts';
import type { JournalEntry } from '../../../src/platform/journal/journal.ts';
import { act, createManager, type OrderBody, readPet } from '../../adoption-steps.ts';
import { type Applicant, apply as applyWith, findInDump, makeUnconfirmed } from '../../applicant-steps.ts';
import { type ApplicationBody, decide, decideAll, readApplication } from '../../application-steps.ts';
import { readOn } from '../../event-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const { db } = store.dependencies;
const [partner, manager] = [await store.createKey(), await createManager(store)];

const entries: JournalEntry[] = [];
const journal = (entry: JournalEntry) => entries.push(entry) > 0;

const apply = (given: { email?: string; petId?: number } = {}) => applyWith(store, { partner, manager }, given);
const read = (id: number) => readApplication(store, manager, id);
const readOrder = async (id: number) => (await store.call<OrderBody>('GET', `/v1/store/orders/${id}`, { key: partner.key })).json;
const erased = { adopter: null, answers: null, note: null, message: null };

async function accept({ id }: Applicant): Promise<number> {
  const { json, text } = await decide(store, manager, id, 'accept');
  if (json.orderId === null) throw new Error(text);
  return json.orderId;
}

async function complete(applicant: Applicant): Promise<number> {
  const orderId = await accept(applicant);
  await act(store, manager, orderId, 'complete');
  return orderId;
}

const letAge = async (days: number) => {
  await store.asOwner('update applications set updated_at = now() - make_interval(days => $1)', days);
  await store.asOwner('update orders set updated_at = now() - make_interval(days => $1)', days);
};

/** What the worker's two jobs do. */
async function runRetention(adopterDays: number, adoptionDays?: number): Promise<{ orders: number; applications: number }> {
  const orders = await eraseOldAdopters(db, journal, { adopterDays, adoptionDays }, 100, eraseCompletedWith(journal));
  return { orders, applications: await eraseOldApplicants(db, journal, adopterDays, 100) };
}

describe('Retention', () => {
  test('erases everything of declined, withdrawn and closed ones, and of completed ones all but name and address, which go with the order', async () => {
    const [open, declined, withdrawn, cancelled, completed] = [await apply(), await apply(), await apply(), await apply(), await apply()];
    const other = await apply({ petId: completed.petId });
    await decide(store, manager, declined.id, 'decline', { body: { message: `no ${declined.word}` } });
    await decideAll(store, partner, withdrawn.id, 'withdraw');
    const cancelledOrder = await accept(cancelled);
    await act(store, partner, cancelledOrder, 'cancel');
    const orderId = await complete(completed);
    await letAge(89);
    expect(await runRetention(90)).toEqual({ orders: 0, applications: 0 });
    await letAge(91);
    const before = await read(completed.id);
    expect(await runRetention(90)).toEqual({ orders: 1, applications: 5 });
    expect(await runRetention(90)).toEqual({ orders: 0, applications: 0 });
    for (const { id } of [declined, withdrawn, cancelled, other]) expect(await read(id)).toMatchObject(erased);
    expect(await read(completed.id)).toEqual({ ...before, adopter: { ...before.adopter, phone: null }, answers: null, note: null });
    expect((await read(open.id)).adopter).not.toBeNull();
    expect(await findInDump(store, ...[declined, withdrawn, cancelled, other].map(({ word }) => word))).toEqual([]);

    expect(await runRetention(90, 92)).toEqual({ orders: 0, applications: 0 });
    expect(await runRetention(90, 90)).toEqual({ orders: 1, applications: 0 });
    expect(await read(completed.id)).toMatchObject(erased);
    expect((await readOrder(orderId)).adopter).toBeNull();
    expect(await findInDump(store, completed.word)).toEqual([]);
    expect((await verifyHistory(db, () => {})).violation).toBeUndefined();
  });

  test('leaves an application that is considered again when its cancelled order is erased', async () => {
    const applicant = await apply();
    await act(store, partner, await accept(applicant), 'cancel');
    await decideAll(store, manager, applicant.id, 'reopen');
    await letAge(91);
    expect(await runRetention(90)).toEqual({ orders: 1, applications: 0 });
    expect((await read(applicant.id)).adopter).not.toBeNull();
  });

  test('skips an animal that another transaction has locked, and does not wait', async () => {
    const [locked, free] = [await apply(), await apply()];
    for (const { id } of [locked, free]) await decideAll(store, manager, id, 'decline');
    await letAge(91);
    await db.transaction(async (tx) => {
      await tx.query({ text: 'select from pets where id = $1 for update', values: [locked.petId] });
      expect(await eraseOldApplicants(db, journal, 90, 100)).toBe(1);
    }, theService);
    expect(await eraseOldApplicants(db, journal, 90, 100)).toBe(1);
  });

  test('a note is rejected once the answers are erased, so that nothing outlives the erasure', async () => {
    const applicant = await apply();
    await complete(applicant);
    await letAge(91);
    await runRetention(90);
    const noted = await store.call('PATCH', `/v1/applications/${applicant.id}`, { key: manager.key, body: { note: 'again' } });
    expect(noted).toMatchObject({ status: 409, json: { code: 'application_state_conflict' } });
  });

  test('publishes an event to the client and to staff alone, without the adopter, and writes ids to the journal', async () => {
    const { next } = await readOn(store, partner);
    const { id, word } = await apply();
    await decideAll(store, manager, id, 'decline');
    await letAge(91);
    await runRetention(90);
    for (const key of [partner, manager]) {
      const { events } = await readOn(store, key, next);
      expect(events.at(-1)).toMatchObject({ type: 'application.adopter_erased', data: { application: { id, status: 'declined' } } });
      expect(JSON.stringify(events)).not.toContain(word);
    }
    expect(entries.at(-1)).toEqual({ act: 'applicants_erased', applications: [BigInt(id)], extent: 'all' });
    const stranger = await store.createKey();
    expect((await readOn(store, stranger, next)).events.filter(({ type }) => type.startsWith('application.'))).toEqual([]);
  });
});

describe('Erasure of an order', () => {
  test.each(['accepted', 'closed', 'completed'] as const)('erases the application that it was placed for: %s', async (status) => {
    const applicant = await apply();
    const orderId = await accept(applicant);
    if (status === 'closed') await act(store, partner, orderId, 'cancel');
    if (status === 'completed') await act(store, manager, orderId, 'complete');
    const done = await eraseOrderAndApplicant(db, journal, testAuthor, BigInt(orderId));
    expect(done).toMatchObject({ applicationId: BigInt(applicant.id), keptApplicationId: undefined });
    expect(await read(applicant.id)).toMatchObject({ status, ...erased });
    expect(entries.slice(-2)).toEqual([
      { act: 'applicants_erased', applications: [BigInt(applicant.id)], extent: 'all' },
      { act: 'adopters_erased', orders: [BigInt(orderId)] },
    ]);
    expect(await findInDump(store, applicant.word)).toEqual([]);
  });

  test('leaves an application that is considered again, and says so', async () => {
    const applicant = await apply();
    const orderId = await accept(applicant);
    await act(store, partner, orderId, 'cancel');
    await decideAll(store, manager, applicant.id, 'reopen');
    const done = await eraseOrderAndApplicant(db, journal, testAuthor, BigInt(orderId));
    expect(done).toMatchObject({ applicationId: undefined, keptApplicationId: BigInt(applicant.id) });
    expect((await read(applicant.id)).adopter).not.toBeNull();
  });
});

describe('Erasure by e-mail address', () => {
  test('erases ended ones, deletes unconfirmed ones, lists open ones and other spellings, and touches nobody else', async () => {
    const email = 'grace@example.org';
    const [declined, completed, pending, open, accepted] = [
      await apply({ email: 'Grace@Example.org' }),
      await apply({ email }),
      await apply({ email }),
      await apply({ email }),
      await apply({ email }),
    ];
    await decideAll(store, manager, declined.id, 'decline');
    await complete(completed);
    await makeUnconfirmed(store, pending);
    const orderId = await accept(accepted);
    const [tagged, bystander] = [await apply({ email: 'grace+dogs@example.org' }), await apply({ email: 'grace2@example.org' })];
    for (const { id } of [tagged, bystander]) await decideAll(store, manager, id, 'decline');
    expect(await eraseByEmail(db, journal, testAuthor, 'GRACE@example.org', 1)).toEqual({
      orders: 1,
      applications: 2,
      deleted: 1,
      responses: 0,
      openOrders: [BigInt(orderId)],
      openApplications: [BigInt(open.id), BigInt(accepted.id)],
      otherSpellings: ['grace+dogs@example.org'],
    });
    expect(await findInDump(store, declined.word, completed.word, pending.word)).toEqual([]);
    for (const { id } of [open, accepted, tagged, bystander]) expect((await read(id)).adopter).not.toBeNull();
    expect((await store.call('GET', `/v1/applications/${pending.id}`, { key: partner.key })).status).toBe(404);
    expect(entries).toContainEqual({ act: 'applicants_erased', applications: [BigInt(pending.id)], extent: 'all' });
  });
});

describe('Erasure of one application, as its adopter asks', () => {
  const erase = ({ id }: { id: number }) => eraseApplicant(store.dependencies, journal, BigInt(id), 'adopter');
  const state = async ({ id }: { id: number }) => (await read(id)).status;

  test.each([
    [[], 'withdrawn'],
    [['review'], 'withdrawn'],
    [['decline'], 'declined'],
    [['withdraw'], 'withdrawn'],
  ])('after %j erases it, and it is %s', async (actions, status) => {
    const applicant = await apply();
    await decideAll(store, manager, applicant.id, ...actions);
    expect(await erase(applicant)).toMatchObject({ applications: 1, deleted: 0 });
    expect(await read(applicant.id)).toMatchObject({ status, ...erased });
    expect(await findInDump(store, applicant.word)).toEqual([]);
    expect(await erase(applicant)).toEqual({ applications: 0, deleted: 0, responses: 0 });
  });

  test('that is accepted withdraws it, cancels its order, releases the animal and erases all of its orders', async () => {
    const applicant = await apply();
    const first = await accept(applicant);
    await act(store, partner, first, 'cancel');
    await decideAll(store, manager, applicant.id, 'reopen');
    const second = await accept(applicant);
    await erase(applicant);
    expect(await state(applicant)).toBe('withdrawn');
    for (const id of [first, second]) expect(await readOrder(id)).toMatchObject({ status: 'cancelled', adopter: null });
    expect((await readPet(store, partner, applicant.petId))?.status).toBe('available');
    expect(await findInDump(store, applicant.word)).toEqual([]);
    expect((await verifyHistory(db, () => {})).violation).toBeUndefined();
    const rows = await store.read(
      'select by, to_status from application_history where application_id = $1 order by id desc limit 1',
      applicant.id,
    );
    expect(rows).toEqual([{ by: 'adopter', to_status: 'withdrawn' }]);
  });

  test('that is unconfirmed deletes it', async () => {
    const applicant = await apply();
    await makeUnconfirmed(store, applicant);
    expect(await erase(applicant)).toMatchObject({ applications: 0, deleted: 1 });
    expect(await findInDump(store, applicant.word)).toEqual([]);
    await expect(erase(applicant)).rejects.toMatchObject({ code: 'application_not_found' });
  });

  test('that is completed is rejected, and changes nothing', async () => {
    const applicant = await apply();
    await complete(applicant);
    const before = await read(applicant.id);
    await expect(erase(applicant)).rejects.toMatchObject({ code: 'application_state_conflict' });
    expect(await read(applicant.id)).toEqual(before);
  });

  test('forgets the messages about it', async () => {
    const [applicant, other] = [await apply(), await apply()];
    await db.transaction(
      (tx) => queueMail(tx, ...[applicant, other].map(({ id }) => ({ kind: 'received', subjectId: BigInt(id) }))),
      theService,
    );
    await erase(applicant);
    const rows = await store.read<{ id: bigint }>('select subject_id as id from mail');
    expect(rows.map(({ id }) => Number(id))).toEqual([other.id]);
  });
});

describe('Stored responses', () => {
  const stored = (word: string) => store.read<{ body: string }>('select body from idempotent_answers where body like $1', `%${word}%`);
  const retried = (key: string) => ({ headers: { 'idempotency-key': key } });

  test('of every kind are erased, and a retry gets the rest of them', async () => {
    const petId = (await apply()).petId;
    const adopter = { name: 'Ada "quoted" \\ 2^53', email: 'stored.response@example.org', phone: '+43 stored' };
    const send = (body: object, key: string) =>
      store.call<ApplicationBody>('POST', '/v1/applications', { key: partner.key, body, ...retried(key) });
    const submitted = await send({ petId, adopter }, 'submit');
    const { id } = submitted.json;
    const calls: Array<[string, string, typeof partner, object]> = [
      ['review', 'a', manager, {}],
      ['accept', 'b', manager, {}],
    ];
    for (const [action, key, by] of calls) expect((await decide(store, by, id, action, retried(key))).status).toBe(200);
    const { orderId } = await read(id);
    expect((await act(store, partner, orderId ?? 0, 'cancel', retried('c'))).status).toBe(200);
    expect((await decide(store, manager, id, 'reopen', retried('d'))).status).toBe(200);
    const message = { body: { message: 'stored.response is refused' } };
    expect((await decide(store, manager, id, 'decline', { ...message, ...retried('e') })).status).toBe(200);
    expect(await stored('stored.response')).toHaveLength(6);

    await eraseByEmail(db, journal, testAuthor, adopter.email, 100);
    expect(await findInDump(store, 'stored.response', '+43 stored', 'quoted')).toEqual([]);
    const again = await send({ petId, adopter }, 'submit');
    expect(again).toMatchObject({ status: 201, headers: { 'idempotent-replayed': 'true' } });
    expect(again.json).toEqual({ ...submitted.json, adopter: null, answers: null });
    const declined = await decide(store, manager, id, 'decline', { ...message, ...retried('e') });
    expect(declined.json).toMatchObject({ id, status: 'declined', ...erased });
  });

  test('of a completed application keep name and address when its answers are erased', async () => {
    const applicant = await apply();
    const key = retried(`keep-${applicant.id}`);
    const accepted = await decide(store, manager, applicant.id, 'accept', key);
    await act(store, manager, accepted.json.orderId ?? 0, 'complete');
    await letAge(91);
    await runRetention(90);
    const again = await decide(store, manager, applicant.id, 'accept', key);
    expect(again.json).toEqual({ ...accepted.json, adopter: { ...accepted.json.adopter, phone: null }, answers: null, note: null });
  });
});
