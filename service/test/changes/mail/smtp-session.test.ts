import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeAuthority } from '../../../../testkit/certificates.ts';
import { startMailServer } from '../../../../testkit/mail-server.ts';
import { SmtpFault, SmtpSession } from '../../../src/changes/mail/smtp-session.ts';
import { parseSmtpUrl } from '../../../src/platform/server-urls.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { timeouts } from '../../mail-steps.ts';

const authority = disposeAfterAll(makeAuthority());
const { certificate, key } = authority.issue('mail', 'DNS:localhost,IP:127.0.0.1');
const tls = { key: readFileSync(key), cert: readFileSync(certificate) };
const withLogin = {
  ...tls,
  authOptional: false,
  disabledCommands: [],
  onAuth: ({ username, password }: { username?: string | undefined; password?: string | null | undefined }, _: unknown, done: Reply) =>
    username === 'store' && password === 'p@ss/w?rd' ? done(null, { user: username }) : done(new Error('who are you, store?')),
};
type Reply = (error: Error | null, response?: { user: string }) => void;

/** Not as if it were on this machine. */
const remote = (url: string) => ({ ...parseSmtpUrl(url), isLoopback: false });
const send = async (session: SmtpSession) => {
  await session.send({ from: 'a@store.example', to: 'b@example.org' }, async () => Buffer.from('Subject: x\r\n\r\ny\r\n'));
  session.destroy();
};

test('on this machine it logs in and sends, by STARTTLS if the server has it, whatever its certificate', async () => {
  await using server = await startMailServer({}, withLogin);
  await send(await SmtpSession.open(parseSmtpUrl(`smtp://store:p%40ss%2Fw%3Frd@127.0.0.1:${server.port}`), timeouts));
  expect(server.accepted).toMatchObject([{ isTls: true }]);
});

test('elsewhere a certificate that no known CA has signed ends the connection before the login', async () => {
  await using server = await startMailServer({}, withLogin);
  const opening = SmtpSession.open(remote(`smtp://store:p%40ss%2Fw%3Frd@127.0.0.1:${server.port}`), timeouts);
  await expect(opening).rejects.toThrow(SmtpFault);
  await expect(opening).rejects.toMatchObject({ of: 'server', cause: { code: expect.stringMatching(/CERT|VERIFY/) } });
});

test('elsewhere a server without STARTTLS gets neither the login nor a message', async () => {
  await using server = await startMailServer({}, { hideSTARTTLS: true, disabledCommands: ['STARTTLS', 'AUTH'] });
  await expect(SmtpSession.open(remote(server.url), timeouts)).rejects.toThrow(SmtpFault);
  expect(server.received).toEqual([]);
});

test('smtps is TLS from the start', async () => {
  await using server = await startMailServer({}, { ...withLogin, secure: true });
  await send(await SmtpSession.open(parseSmtpUrl(`smtps://store:p%40ss%2Fw%3Frd@127.0.0.1:${server.port}`), timeouts));
  expect(server.accepted).toMatchObject([{ isTls: true }]);
});

test('a wrong password is a fault of the settings, told by its code alone', async () => {
  await using server = await startMailServer({}, withLogin);
  const opening = SmtpSession.open(parseSmtpUrl(`smtp://store:wrong@127.0.0.1:${server.port}`), timeouts);
  await expect(opening).rejects.toMatchObject({ of: 'server', code: '535', message: 'the SMTP server replied to AUTH PLAIN: 535' });
});

test.each([
  ['http://mail.example.org', 'must start with smtp://'],
  ['smtp://', "can't be parsed"],
  ['smtp://user:pa/ss@mail.example.org', "can't be parsed"],
  ['smtp://user:secret@mail.example.org/path', 'must end with the port'],
  ['smtp://user@mail.example.org', 'has a user without a password'],
  ['smtp://user:%zz@mail.example.org', 'has a "%"'],
  ['smtp://user:secret@mail.example.org:99999', "can't be parsed"],
])('%s is rejected without showing it', (url, message) => {
  expect(() => parseSmtpUrl(url)).toThrow(message);
  expect(() => parseSmtpUrl(url)).not.toThrow(/secret|pa.ss/);
});

test('the port follows the scheme', () => {
  expect(parseSmtpUrl('smtp://mail.example.org')).toMatchObject({ port: 587, isTls: false, isLoopback: false, login: undefined });
  expect(parseSmtpUrl('smtps://u:p@[::1]')).toMatchObject({ host: '::1', port: 465, isTls: true, isLoopback: true });
});
