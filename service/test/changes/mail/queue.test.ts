import { afterEach, expect, test } from 'vitest';
import { type MailServer, startMailServer } from '../../../../testkit/mail-server.ts';
import { addressKeyOf, hashAddress, queueMail, sweepMail } from '../../../src/changes/mail/mail-queue.ts';
import { theService } from '../../../src/domain/actor.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { Letters, makeDue, openMailSender, queue, readMail, sendAll } from '../../mail-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const { db } = store.dependencies;
const server: MailServer = disposeAfterAll(await startMailServer());
const letters = new Letters();
afterEach(async () => {
  await store.write('delete from mail');
  await store.write('delete from mail_counts');
  letters.clear();
  server.accepted.length = 0;
});
const { sender, outcomes } = openMailSender(store, server, letters);
const shelterMail = { kind: 'shelter', subjectId: 7n, isSingle: true } as const;

test('what is queued in a transaction that is rolled back is never sent', async () => {
  letters.write(1n);
  await expect(
    db.transaction(async (tx) => {
      await queueMail(tx, { kind: 'accepted', subjectId: 1n });
      throw new Error('planted');
    }, theService),
  ).rejects.toThrow('planted');
  expect(await sender.sendNext()).toBe(0);
});

test('what is due later is sent later', async () => {
  letters.write(1n);
  await queue(store, { kind: 'accepted', subjectId: 1n, dueInSeconds: 60 });
  expect(await sender.sendNext()).toBe(0);
  await makeDue(store);
  expect(await sender.sendNext()).toBe(1);
});

test('at most one single message waits for a subject, and at most one an hour is sent', async () => {
  letters.write(7n);
  await queue(store, shelterMail, { ...shelterMail, subjectId: 8n });
  await queue(store, shelterMail);
  await Promise.all(Array.from({ length: 20 }, () => queue(store, shelterMail)));
  expect(await readMail(store)).toHaveLength(2);
  await sendAll(sender);
  expect(server.accepted).toHaveLength(1);
  await queue(store, shelterMail);
  expect(await sender.sendNext()).toBe(0);
  const [{ seconds } = { seconds: 0 }] = await store.read<{ seconds: number }>(
    `select extract(epoch from due_at - now())::float8 as seconds from mail where state = 'queued'`,
  );
  expect(seconds).toBeGreaterThan(3_500);
  expect(seconds).toBeLessThanOrEqual(3_600);
});

test('a change after a single message was read is told by the next one, which the retry of the first does not repeat', async () => {
  letters.write(7n);
  await queue(store, shelterMail);
  server.behaviour = {
    recipient: async () => {
      await queue(store, shelterMail);
      return { code: 451, text: 'later' };
    },
  };
  await sendAll(sender);
  expect((await readMail(store)).map(({ state, attempts }) => [state, attempts])).toEqual([
    ['queued', 1],
    ['queued', 0],
  ]);
  server.behaviour = {};
  await makeDue(store);
  await sendAll(sender);
  expect((await readMail(store)).map(({ state }) => state).toSorted()).toEqual(['dropped', 'sent']);
  expect(server.accepted).toHaveLength(1);
});

test('a single message is not read before the transactions that found it waiting have committed', async () => {
  letters.write(7n, { text: 'before' });
  await queue(store, shelterMail);
  await db.transaction(async (tx) => {
    await queueMail(tx, shelterMail);
    expect(await sender.sendNext()).toBe(0);
    letters.write(7n, { text: 'after' });
  }, theService);
  await sendAll(sender);
  expect(server.accepted[0]?.raw).toContain('after');
});

test('ten counted messages a day go to an address, three of them confirmations, whatever its tag and case', async () => {
  const addresses = ['ada@example.org', 'Ada+dogs@Example.org', 'ADA@example.org', 'ada+@example.org'];
  for (let id = 0n; id < 40n; id += 1n) letters.write(id, { to: { address: addresses[Number(id % 4n)] ?? '' } });
  const kindOf = (id: bigint) => (id < 10n ? 'confirm' : id < 30n ? 'received' : 'accepted');
  for (let id = 0n; id < 40n; id += 1n) await queue(store, { kind: kindOf(id), subjectId: id });
  letters.write(100n, { to: { address: 'grace@example.org' } });
  await queue(store, { kind: 'confirm', subjectId: 100n });
  outcomes.length = 0;
  await sendAll(sender);
  const sent = (await readMail(store))
    .filter(({ state }) => state === 'sent')
    .map(({ kind, subjectId }) => `${kind}${subjectId === 100n ? ' to another' : ''}`);
  const counts = Object.fromEntries([...new Set(sent)].map((kind) => [kind, sent.filter((one) => one === kind).length]));
  expect(counts).toEqual({ confirm: 3, received: 7, accepted: 10, 'confirm to another': 1 });
  expect(outcomes.filter((outcome) => outcome === 'limited')).toHaveLength(20);
  expect(Map.groupBy(await readMail(store), ({ state }) => state).get('dropped')).toHaveLength(13);
});

test('a confirmation beyond the bound waits for the next day, as one that is queued then', async () => {
  for (let id = 0n; id < 4n; id += 1n) letters.write(id, { to: { address: 'ada@example.org' } });
  for (let id = 0n; id < 4n; id += 1n) await queue(store, { kind: 'confirm', subjectId: id });
  await sendAll(sender);
  expect(server.accepted).toHaveLength(3);
  const [waiting] = await store.read<{ isTomorrow: boolean; isSame: boolean }>(
    `select (due_at at time zone 'utc')::date = (now() at time zone 'utc')::date + 1 and (due_at at time zone 'utc')::time <= '01:00' as "isTomorrow",
      due_at = created_at and due_at = waiting_since and claim is null as "isSame" from mail where state = 'queued'`,
  );
  expect(waiting).toEqual({ isTomorrow: true, isSame: true });
  await store.write('update mail_counts set day = day - 1');
  await makeDue(store);
  await sendAll(sender);
  expect(server.accepted).toHaveLength(4);
});

test('ten messages a day that staff cause are sent about a subject, and staff see that the next one was not', async () => {
  letters.write(1n);
  for (let sent = 0; sent < 11; sent += 1) {
    await queue(store, { kind: 'accepted', subjectId: 1n });
    await sendAll(sender);
  }
  expect(server.accepted).toHaveLength(10);
  expect((await readMail(store)).at(-1)).toMatchObject({ state: 'failed', failure: '4.7.1 daily limit' });
});

test('of two messages of a kind about a subject the later one alone is sent', async () => {
  letters.write(1n);
  await queue(store, { kind: 'accepted', subjectId: 1n }, { kind: 'accepted', subjectId: 1n }, { kind: 'received', subjectId: 1n });
  await sendAll(sender);
  expect((await readMail(store)).map(({ kind, state }) => [kind, state])).toEqual([
    ['accepted', 'dropped'],
    ['accepted', 'sent'],
    ['received', 'sent'],
  ]);
});

test('the next day they are sent again', async () => {
  for (let id = 0n; id < 4n; id += 1n) letters.write(id, { to: { address: 'ada@example.org' } });
  for (let id = 0n; id < 3n; id += 1n) await queue(store, { kind: 'confirm', subjectId: id });
  await sendAll(sender);
  await store.write(`update mail_counts set day = day - 1`);
  await queue(store, { kind: 'confirm', subjectId: 3n });
  await sendAll(sender);
  expect(server.accepted).toHaveLength(4);
});

test('a message is counted once, however often it is tried', async () => {
  letters.write(1n, { to: { address: 'ada@example.org' } });
  await queue(store, { kind: 'confirm', subjectId: 1n });
  server.behaviour = { recipient: () => ({ code: 451, text: 'later' }) };
  for (let tries = 0; tries < 5; tries += 1) {
    await makeDue(store);
    await sendAll(sender);
  }
  server.behaviour = {};
  await makeDue(store);
  await sendAll(sender);
  expect(server.accepted).toHaveLength(1);
  expect(await store.read('select confirmations::int, messages::int from mail_counts')).toEqual([{ confirmations: 1, messages: 1 }]);
});

test('addresses are hashed with a key that is derived from the secret', () => {
  const [key, other] = [addressKeyOf(Buffer.alloc(32, 1)), addressKeyOf(Buffer.alloc(32, 2))];
  expect(hashAddress(key, 'Ada+x@example.org')).toEqual(hashAddress(key, 'ada@example.org'));
  expect(hashAddress(key, 'a.d.a+x@googlemail.com')).toEqual(hashAddress(key, 'ada@gmail.com'));
  expect(hashAddress(key, 'ada@example.org')).not.toEqual(hashAddress(other, 'ada@example.org'));
  expect(key).not.toEqual(Buffer.alloc(32, 1));
});

test('the sweep deletes what has ended long ago and the counts of other days, and lets fail what nobody could send for a day', async () => {
  for (const id of [1n, 2n]) letters.write(id, { to: { address: `ada${id}@example.org` } });
  await queue(store, { kind: 'confirm', subjectId: 1n }, { kind: 'confirm', subjectId: 404n });
  await sendAll(sender);
  expect(await sweepMail(db, 100)).toBe(0);
  await store.write(`update mail set ended_at = now() - interval '4 days'`);
  await store.write(`update mail_counts set day = day - 1`);
  await queue(store, { kind: 'confirm', subjectId: 2n });
  await store.write(`update mail set created_at = now() - interval '25 hours' where state = 'queued'`);
  expect(await sweepMail(db, 100)).toBe(4);
  expect(await readMail(store)).toMatchObject([{ subjectId: 2n, state: 'failed', failure: '4.4.7' }]);
  await store.write(`update mail set ended_at = now() - interval '91 days'`);
  expect(await sweepMail(db, 100)).toBe(1);
});
