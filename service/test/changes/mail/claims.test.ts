// What a sender does that was slow and has lost its message, and what an erasure may rely on.

import { expect, test } from 'vitest';
import { type MailServer, startMailServer } from '../../../../testkit/mail-server.ts';
import { beginMail, claimMail, countMail, deferMail, endMail, type MailClaim } from '../../../src/changes/mail/claim-queries.ts';
import { awaitMailInFlight, cancelMail, findMailFailures } from '../../../src/changes/mail/mail-queue.ts';
import { theService } from '../../../src/domain/actor.ts';
import { extendClaim } from '../../../src/platform/db/claims.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { Letters, mailKinds, makeDue, openMailSender, queue, readMail, sendAll } from '../../mail-steps.ts';
import { poll } from '../../poll.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const { db } = store.dependencies;
const server: MailServer = disposeAfterAll(await startMailServer());
const kinds = Object.keys(mailKinds);
const letters = new Letters();

async function claim(): Promise<MailClaim> {
  await makeDue(store);
  const claimed = await claimMail(db, kinds, 60);
  if (!claimed) throw new Error('no mail is due');
  return claimed;
}
const count = { of: Buffer.alloc(32, 1), isConfirmation: false, max: { messages: 10, confirmations: 3 } };
const writes: ReadonlyArray<(claimed: MailClaim) => Promise<unknown>> = [
  (claimed) => beginMail(db, claimed, 600),
  (claimed) => extendClaim(db, 'mail', claimed, 600),
  (claimed) => endMail(db, claimed, 'sent', null),
  (claimed) => endMail(db, claimed, 'failed', '550'),
  (claimed) => deferMail(db, claimed, { seconds: 600, isOfRecipient: true, failure: '450' }),
  (claimed) => countMail(db, claimed, [count]),
];
/** Also tells a row that was written without a change. */
const readRows = async () =>
  JSON.stringify(
    await store.read(
      'select ctid::text, to_jsonb(mail)::text from mail union all select ctid::text, to_jsonb(mail_counts)::text from mail_counts',
    ),
  );
const restart = async () => {
  await store.write('delete from mail');
  await store.write('delete from mail_counts');
  server.behaviour = {};
  server.accepted.length = 0;
  server.received.length = 0;
};

test.each(writes.map((write, i) => [i, write] as const))(
  'a late sender changes nothing by write %i, and the owner does',
  async (_, write) => {
    await restart();
    await queue(store, { kind: 'accepted', subjectId: 1n });
    const late = await claim();
    const owner = await claim();
    expect(owner.number).toBeGreaterThan(late.number);
    const owned = await readRows();
    await write(late);
    expect(await readRows()).toBe(owned);
    await write(owner);
    expect(await readRows()).not.toBe(owned);
  },
);

test('on a server that took over, the numbers of claims that may be lost are skipped', async () => {
  await restart();
  await queue(store, { kind: 'accepted', subjectId: 1n });
  const before = await claim();
  await store.asOwner('select skip_ids()');
  expect((await claim()).number - before.number).toBeGreaterThan(1_000_000n);
});

test('eight senders of two workers send two hundred messages once each', async () => {
  await restart();
  const ids = Array.from({ length: 200 }, (_, i) => BigInt(i + 1));
  for (const id of ids) letters.write(id);
  await queue(store, ...ids.map((subjectId) => ({ kind: 'accepted', subjectId })));
  const senders = Array.from({ length: 8 }, () => openMailSender(store, server, letters).sender);
  await Promise.all(senders.map((sender) => sendAll(sender)));
  expect(server.accepted.map(({ to }) => to[0]).toSorted()).toEqual(ids.map((id) => `ada${id}@example.org`).toSorted());
  for (const sender of senders) sender.close();
});

test('one whose worker was killed is sent by another once the claim has ended', async () => {
  await restart();
  letters.write(1n);
  await queue(store, { kind: 'accepted', subjectId: 1n });
  await claim();
  const { sender } = openMailSender(store, server, letters);
  expect(await sender.sendNext()).toBe(0);
  await makeDue(store);
  await sendAll(sender);
  expect(server.accepted).toHaveLength(1);
  expect(await readMail(store)).toMatchObject([{ state: 'sent', attempts: 2 }]);
  sender.close();
});

test('a sender whose claim has ended meanwhile does not begin to send', async () => {
  await restart();
  letters.write(1n);
  await queue(store, { kind: 'accepted', subjectId: 1n });
  server.behaviour = {
    recipient: async () => {
      await claim();
      return 'accept' as const;
    },
  };
  const { sender, outcomes } = openMailSender(store, server, letters);
  await sendAll(sender);
  expect(server.received).toEqual([]);
  expect(outcomes).toEqual(['deferred']);
  expect(await readMail(store)).toMatchObject([{ state: 'queued', attempts: 2 }]);
  expect((await readMail(store))[0]?.claim).not.toBeNull();
  sender.close();
});

const cancel = (...subjectIds: bigint[]) => db.transaction((tx) => cancelMail(tx, { kinds, subjectIds }), theService);

test('what is cancelled is not sent, and its failures are forgotten; that of other subjects is', async () => {
  await restart();
  for (const id of [1n, 2n, 3n]) letters.write(id);
  await queue(store, ...[1n, 2n, 3n].map((subjectId) => ({ kind: 'accepted', subjectId })));
  await endMail(db, await claim(), 'failed', '550 5.1.1');
  const of = { kinds, subjectIds: [1n, 2n, 3n] };
  expect(await findMailFailures(db, of)).toEqual([{ kind: 'accepted', subjectId: 1n, failure: '550 5.1.1' }]);
  await cancel(1n, 2n);
  expect(await findMailFailures(db, of)).toEqual([]);
  const { sender } = openMailSender(store, server, letters);
  await sendAll(sender);
  expect(server.received.map(({ to }) => to[0])).toEqual(['ada3@example.org']);
  expect(await readMail(store)).toMatchObject([{ subjectId: 3n, state: 'sent' }]);
  sender.close();
});

test('one that is cancelled while a sender has it does not begin, and nothing of it is left but the row', async () => {
  await restart();
  letters.write(1n);
  await queue(store, { kind: 'accepted', subjectId: 1n });
  server.behaviour = {
    recipient: async () => {
      await cancel(1n);
      await awaitMailInFlight(db, { kinds, subjectIds: [1n] });
      return 'accept' as const;
    },
  };
  const { sender, outcomes } = openMailSender(store, server, letters);
  await sendAll(sender);
  expect(outcomes).toEqual(['dropped']);
  expect(server.received).toEqual([]);
  expect(await readMail(store)).toMatchObject([{ state: 'dropped', failure: null, claim: null }]);
  sender.close();
});

test('an erasure waits for one that has begun until it has ended', async () => {
  await restart();
  letters.write(1n);
  await queue(store, { kind: 'accepted', subjectId: 1n });
  const { promise: mayReply, resolve: reply } = Promise.withResolvers<'accept'>();
  server.behaviour = { text: () => mayReply };
  const { sender } = openMailSender(store, server, letters, { timeouts: { replyMs: 10_000 } });
  const sending = sendAll(sender);
  await poll(() => server.received.length).until((length) => length === 1);
  await cancel(1n);
  let hasReturned = false;
  const waiting = awaitMailInFlight(db, { kinds, subjectIds: [1n] }).then(() => {
    hasReturned = true;
  });
  await db.query({ text: 'select 1' });
  expect(hasReturned).toBe(false);
  reply('accept');
  await Promise.all([sending, waiting]);
  expect(await readMail(store)).toMatchObject([{ state: 'dropped' }]);
  sender.close();
});

test('an erasure waits no longer than a sender may take to begin, whatever becomes of it', async () => {
  await restart();
  await queue(store, { kind: 'accepted', subjectId: 1n });
  const claimed = await claim();
  expect(await beginMail(db, claimed, 600)).toBe(true);
  await store.write(`update mail set begun_at = now() - interval '4 s'`);
  await cancel(1n);
  const startMs = performance.now();
  await awaitMailInFlight(db, { kinds, subjectIds: [1n] });
  const tookMs = performance.now() - startMs;
  expect(tookMs).toBeGreaterThan(500);
  expect(tookMs).toBeLessThan(4_000);
});

test('of 300 messages and erasures at the same time, none begins after its erasure has returned', async () => {
  await restart();
  const ids = Array.from({ length: 300 }, (_, i) => BigInt(i + 1));
  for (const id of ids) letters.write(id);
  await queue(store, ...ids.map((subjectId) => ({ kind: 'accepted', subjectId })));
  const erasedAtMs = new Map<string, number>();
  const senders = Array.from({ length: 4 }, () => openMailSender(store, server, letters).sender);
  const erase = async (id: bigint) => {
    await cancel(id);
    await awaitMailInFlight(db, { kinds, subjectIds: [id] });
    erasedAtMs.set(`ada${id}@example.org`, performance.now());
  };
  const erasing = async () => {
    // The other way round: they meet in the middle.
    for (const id of ids.toReversed()) await erase(id);
  };
  await Promise.all([erasing(), ...senders.map((sender) => sendAll(sender))]);
  const late = server.received.filter(({ to: [to = ''], atMs }) => atMs > (erasedAtMs.get(to) ?? Number.POSITIVE_INFINITY));
  expect(late).toEqual([]);
  expect(server.received.length).toBeGreaterThan(0);
  expect(server.received.length).toBeLessThan(300);
  for (const sender of senders) sender.close();
});
