import PostalMime from 'postal-mime';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type MailServer, type MailServerBehaviour, startMailServer } from '../../../../testkit/mail-server.ts';
import { ServerPause } from '../../../src/changes/mail/mail-queue.ts';
import { SmtpFault } from '../../../src/changes/mail/smtp-session.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { Letters, makeDue, openMailSender, queue, readMail, sendAll, shortTimeouts } from '../../mail-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const server: MailServer = disposeAfterAll(await startMailServer());
const letters = new Letters();

beforeEach(() => {
  server.behaviour = {};
  server.accepted.length = 0;
  server.received.length = 0;
});
afterEach(async () => {
  await store.write('delete from mail');
  await store.write('delete from mail_counts');
  letters.clear();
});

test('a queued message is sent once, to its one recipient, with what is said about its subject at that time', async () => {
  letters.write(1n, { text: 'Before' });
  await queue(store, { kind: 'accepted', subjectId: 1n });
  letters.write(1n, { text: 'Now\n.\nQUIT\n', subject: 'Biscuit, ünïcödé' });
  const { sender, outcomes } = openMailSender(store, server, letters);
  expect(await sendAll(sender)).toEqual([]);
  expect(outcomes).toEqual(['sent']);
  const [mail] = server.accepted;
  expect(server.accepted).toHaveLength(1);
  expect(mail).toMatchObject({ from: 'no-reply@store.example', to: ['ada1@example.org'] });
  const parsed = await PostalMime.parse(mail?.raw ?? '');
  expect(parsed).toMatchObject({
    from: { name: 'Danube Shelter', address: 'no-reply@store.example' },
    to: [{ address: 'ada1@example.org' }],
    subject: 'Biscuit, ünïcödé',
    text: 'Now\n.\nQUIT\n',
  });
  expect(parsed.headers.map(({ key }) => key).toSorted()).toEqual([
    'auto-submitted',
    'content-language',
    'content-transfer-encoding',
    'content-type',
    'date',
    'from',
    'message-id',
    'mime-version',
    'subject',
    'to',
    'x-auto-response-suppress',
  ]);
  expect(await readMail(store)).toMatchObject([{ state: 'sent', failure: null, claim: null }]);
  sender.close();
});

test('the row has neither an address nor a name nor a text', async () => {
  letters.write(1n, { to: { name: 'Ada Lovelace', address: 'ada@example.org' } });
  await queue(store, { kind: 'confirm', subjectId: 1n });
  const { sender } = openMailSender(store, server, letters);
  await sendAll(sender);
  const dump = JSON.stringify(
    await store.read('select to_jsonb(mail)::text from mail union all select to_jsonb(mail_counts)::text from mail_counts'),
  );
  expect(dump).not.toMatch(/ada|lovelace|example|Hello/i);
  sender.close();
});

test('a message about which there is nothing to say any more is dropped, and so is one whose reader is gone', async () => {
  await queue(store, { kind: 'accepted', subjectId: 404n });
  const { sender, outcomes } = openMailSender(store, server, letters);
  await sendAll(sender);
  expect(outcomes).toEqual(['dropped']);
  expect(server.received).toEqual([]);
  sender.close();
});

test('one of a kind that this release does not know waits for a worker that does', async () => {
  await queue(store, { kind: 'of a later release', subjectId: 1n });
  const { sender } = openMailSender(store, server, letters);
  expect(await sender.sendNext()).toBe(0);
  expect(await readMail(store)).toMatchObject([{ state: 'queued', attempts: 0 }]);
});

test('one that is put off by greylisting is sent later, with the same Message-ID', async () => {
  letters.write(1n);
  await queue(store, { kind: 'accepted', subjectId: 1n });
  server.behaviour = { text: () => (server.received.length === 1 ? { code: 451, text: '4.7.1 Greylisted' } : 'accept') };
  const { sender, outcomes } = openMailSender(store, server, letters);
  expect(await sendAll(sender)).toEqual([]);
  expect(await readMail(store)).toMatchObject([{ state: 'queued', attempts: 1, failure: '451 4.7.1' }]);
  const [{ seconds } = { seconds: 0 }] = await store.read<{ seconds: number }>(
    'select extract(epoch from due_at - now())::float8 as seconds from mail where waiting_since = due_at',
  );
  expect(seconds).toBeGreaterThan(25);
  expect(seconds).toBeLessThan(40);
  await makeDue(store);
  expect(await sendAll(sender)).toEqual([]);
  expect(outcomes).toEqual(['deferred', 'sent']);
  expect(new Set(server.received.map(({ messageId }) => messageId)).size).toBe(1);
  expect(server.accepted).toHaveLength(1);
  sender.close();
});

test.each([
  ['RCPT TO', { recipient: () => ({ code: 550, text: '5.1.1 <ada1@example.org>: no such user' }) }, '550 5.1.1'],
  ['the text', { text: () => ({ code: 554, text: 'no enhanced code' }) }, '554'],
] as const)('a permanent rejection of %s is final, and its code alone is stored', async (_, behaviour, failure) => {
  letters.write(1n);
  await queue(store, { kind: 'accepted', subjectId: 1n });
  server.behaviour = behaviour;
  const { sender, outcomes } = openMailSender(store, server, letters);
  expect(await sendAll(sender)).toEqual([]);
  expect(outcomes).toEqual(['failed']);
  expect(await readMail(store)).toMatchObject([{ state: 'failed', failure, attempts: 1 }]);
  letters.write(2n);
  await queue(store, { kind: 'accepted', subjectId: 2n });
  server.behaviour = {};
  const { connections } = server.state;
  await sendAll(sender);
  expect(server.accepted).toHaveLength(1);
  // The connection is used again.
  expect(server.state.connections).toBe(connections);
  sender.close();
});

test('an address that no server would take fails without asking one', async () => {
  for (const [i, address] of [
    'a b@example.org',
    'a@b@example.org',
    '"a"@example.org',
    'a@example.org>',
    '',
    'x',
    'a@exa\nmple.org',
  ].entries()) {
    letters.write(BigInt(i), { to: { address } });
    await queue(store, { kind: 'accepted', subjectId: BigInt(i) });
  }
  const { sender, outcomes } = openMailSender(store, server, letters);
  await sendAll(sender);
  expect(outcomes).toEqual(Array(7).fill('failed'));
  expect(new Set((await readMail(store)).map(({ failure }) => failure))).toEqual(new Set(['553 5.1.3']));
  expect(server.received).toEqual([]);
  sender.close();
});

describe('a fault of the server is not one of the recipient', () => {
  const cases = [
    ['rejects the sender', { sender: () => ({ code: 550, text: '5.7.1 not you' }) }, '550 5.7.1'],
    ['demands a login', { recipient: () => ({ code: 530, text: '5.7.0 log in first' }) }, '530 5.7.0'],
    ['relays for nobody', { recipient: () => ({ code: 554, text: '5.7.1 Relay access denied' }) }, '554 5.7.1'],
    ['rejects without an enhanced code', { recipient: () => ({ code: 550, text: 'no' }) }, '550'],
    ['shuts down', { recipient: () => ({ code: 421, text: '4.3.2 bye' }) }, '421 4.3.2'],
    ['hangs at RCPT TO', { recipient: () => 'hang' }, null],
    ['hangs after the text', { text: () => 'hang' }, null],
    ['closes the connection after the text', { text: () => 'reset' }, null],
  ] as const satisfies ReadonlyArray<readonly [string, MailServerBehaviour, string | null]>;
  test.each<(typeof cases)[number]>(cases)(
    'it %s: the message is retried, and the error says so without a word of the reply',
    async (_, behaviour, failure) => {
      letters.write(1n);
      await queue(store, { kind: 'accepted', subjectId: 1n });
      server.behaviour = behaviour;
      const { sender, outcomes } = openMailSender(store, server, letters, { timeouts: shortTimeouts });
      const [error, ...others] = await sendAll(sender);
      expect(others).toEqual([]);
      expect(error).toBeInstanceOf(SmtpFault);
      expect(JSON.stringify([error, (error as Error).message, (error as Error).stack])).not.toMatch(/not you|ada1/);
      expect(outcomes).toEqual(['deferred']);
      expect(await readMail(store)).toMatchObject([{ state: 'queued', attempts: 1, failure, claim: null }]);
      // It waits for the server since it was queued.
      expect(await store.read('select from mail where waiting_since < due_at')).toHaveLength(1);
      server.behaviour = {};
      await makeDue(store);
      expect(await sendAll(openMailSender(store, server, letters).sender)).toEqual([]);
      expect(server.accepted).toHaveLength(1);
      expect(new Set(server.received.map(({ messageId }) => messageId)).size).toBe(1);
      sender.close();
    },
  );
});

test('while the server can not be reached no message is claimed, and attempts become rarer', async () => {
  letters.write(1n);
  await queue(store, { kind: 'accepted', subjectId: 1n });
  const closed = await startMailServer();
  await closed[Symbol.asyncDispose]();
  const pause = new ServerPause();
  const { sender } = openMailSender(store, closed, letters, { pause });
  await expect(sender.sendNext()).rejects.toThrow(/connection to the SMTP server failed.*ECONNREFUSED/);
  expect(await readMail(store)).toMatchObject([{ state: 'queued', attempts: 0, claim: null }]);
  await expect(sender.sendNext()).rejects.toThrow(/ECONNREFUSED/);
  const startMs = performance.now();
  await expect(sender.sendNext()).rejects.toThrow(/ECONNREFUSED/);
  expect(performance.now() - startMs).toBeGreaterThan(900);
});

test('after a day without success a message has failed, with the last code', async () => {
  letters.write(1n);
  await queue(store, { kind: 'accepted', subjectId: 1n });
  await store.write(`update mail set created_at = now() - interval '23 h 59 min 50 s'`);
  server.behaviour = { recipient: () => ({ code: 450, text: '4.2.1 later' }) };
  const { sender, outcomes } = openMailSender(store, server, letters);
  await sendAll(sender);
  expect(outcomes).toEqual(['failed']);
  expect(await readMail(store)).toMatchObject([{ state: 'failed', failure: '450 4.2.1' }]);
  sender.close();
});

test('a worker that stops does not wait for a server that hangs, and leaves the message to others', async () => {
  letters.write(1n);
  await queue(store, { kind: 'accepted', subjectId: 1n });
  const stopping = new AbortController();
  server.behaviour = {
    recipient: () => {
      stopping.abort();
      return 'hang';
    },
  };
  const { sender } = openMailSender(store, server, letters, { signal: stopping.signal, timeouts: { envelopeMs: 60_000 } });
  expect(await sender.sendNext()).toBe(1);
  expect(await store.read(`select from mail where state = 'queued' and claim is null and due_at <= now()`)).toHaveLength(1);
});

test('a reader that fails leaves the message for later', async () => {
  letters.write(1n);
  await queue(store, { kind: 'accepted', subjectId: 1n });
  const read = () => Promise.reject(new Error('planted'));
  const { sender, outcomes } = openMailSender(store, server, letters, { read });
  await expect(sender.sendNext()).rejects.toThrow('planted');
  expect(outcomes).toEqual(['deferred']);
  expect(await readMail(store)).toMatchObject([{ state: 'queued', attempts: 1, claim: null }]);
  sender.close();
});

test('an idle connection that the server has closed is opened again, and no attempt is lost', async () => {
  const { sender, outcomes } = openMailSender(store, server, letters);
  for (const id of [1n, 2n]) {
    letters.write(id);
    await queue(store, { kind: 'accepted', subjectId: id });
    expect(await sendAll(sender)).toEqual([]);
    server.closeConnections();
  }
  expect(outcomes).toEqual(['sent', 'sent']);
  expect((await readMail(store)).map(({ attempts }) => attempts)).toEqual([1, 1]);
  sender.close();
});
