import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import { faultsOfMail, headerKeysOf, hostileNames } from '../../../../testkit/hostile-names.ts';
import { type MailServer, type ReceivedMail, startMailServer } from '../../../../testkit/mail-server.ts';
import { composeMessage, type MailMessage } from '../../../src/changes/mail/message.ts';
import { SmtpSession } from '../../../src/changes/mail/smtp-session.ts';
import { parseSmtpUrl } from '../../../src/platform/server-urls.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { timeouts } from '../../mail-steps.ts';

const server: MailServer = disposeAfterAll(await startMailServer());
const sending = {
  from: { name: 'Danube Shelter', address: 'no-reply@store.example' },
  replyTo: undefined,
  language: 'en',
  id: 7n,
  createdAt: new Date(0),
};
const session = await SmtpSession.open(parseSmtpUrl(server.url), timeouts);
disposeAfterAll({ [Symbol.dispose]: () => session.destroy() });

async function receive(message: Partial<MailMessage>): Promise<ReceivedMail> {
  const composed = await composeMessage({ to: { address: 'ada@example.org' }, subject: 'Biscuit', text: 'Hello', ...message }, sending);
  if (!composed) throw new Error('not composed');
  server.received.length = 0;
  await session.send(composed.envelope, async () => composed.bytes);
  const [mail, ...others] = server.received;
  if (!mail || others.length > 0) throw new Error(`${others.length + 1} messages`);
  return mail;
}
const withName = (name: string) =>
  receive({
    to: { name, address: 'ada@example.org' },
    replyTo: { name, address: 'shelter@example.org' },
    subject: `${name} and Biscuit`,
    text: `${name}\n${name}`,
  });

test('500 hostile names and subjects add no header and no recipient', async () => {
  const keys = headerKeysOf((await PostalMime.parse((await withName('Ada')).raw)).headers);
  const found: Array<[string, string[]]> = [];
  for (const name of hostileNames) {
    const faults = await faultsOfMail(await withName(name), { to: 'ada@example.org', replyTo: 'shelter@example.org', keys });
    if (faults.length > 0) found.push([name, faults]);
  }
  expect(hostileNames).toHaveLength(500);
  expect(found).toEqual([]);
});

test('what looks like an encoded word is not decoded by who reads it', async () => {
  const { subject, to } = await PostalMime.parse((await withName('=?utf-8?Q?=42=63=63?=')).raw);
  expect([subject, to?.[0]?.name]).toEqual(['= ?utf-8?Q?=42=63=63?= and Biscuit', '= ?utf-8?Q?=42=63=63?=']);
});

test('a text with lines of SMTP is one text', async () => {
  const text = 'a\n.\nMAIL FROM:<evil@example.org>\r\n.\r\nRCPT TO:<evil@example.org>\n..\n.';
  const parsed = await PostalMime.parse((await receive({ text })).raw);
  expect(parsed.text?.replaceAll('\r\n', '\n').trimEnd()).toBe(text.replaceAll('\r\n', '\n'));
});
