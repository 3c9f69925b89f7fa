import { ReplyError } from 'ioredis';
import { type Explained, explainTlsFault, findTlsFault } from '../tls-faults.ts';
import { NoPrimary } from './sentinels.ts';

/** Explains why Redis can't be used; undefined: it has not replied in time. The problem is the rest of a sentence about the server. */
export function explainRedisFailure(error: Error | undefined, redisUrl: string): Explained {
  if (error instanceof NoPrimary) return { problem: `${error.message}.`, fix: '' };
  return explainReply(error) ?? explainTls(error, redisUrl) ?? explainNetwork(error, redisUrl);
}

function explainReply(error: Error | undefined): Explained | undefined {
  if (!(error instanceof ReplyError)) return undefined;
  const { message } = error as Error;
  const howToWrite = 'redis://USER:PASSWORD@HOST:PORT; without USER, it is the user "default"';
  if (message.startsWith('WRONGPASS'))
    return {
      problem: 'it rejects the user or the password.',
      fix: `Correct REDIS_URL, ${howToWrite}. In both, special characters are percent-encoded.`,
    };
  if (message.startsWith('NOAUTH'))
    return { problem: 'it demands a password, and REDIS_URL has none.', fix: `Write REDIS_URL as ${howToWrite}.` };
  if (message.startsWith('NOPERM'))
    return {
      problem: `it does not permit the user of REDIS_URL what the store needs (${message}).`,
      fix: 'Permit it in the ACL: docs/operations/redis.md says what the store uses.',
    };
  if (/max number of clients/.test(message))
    return {
      problem: 'it has too many clients, as many as maxclients allows.',
      fix: 'Raise maxclients in its configuration, or find who opens so many.',
    };
  if (message.startsWith('BUSY'))
    return {
      problem: `a script runs without an end (${message})`,
      fix: 'End the script: redis-cli SCRIPT KILL. If that is rejected, since it has written: restart Redis, which needs nothing that it stores.',
    };
  return { problem: message, fix: 'Look at the log of Redis.' };
}

function explainTls(error: Error | undefined, redisUrl: string): Explained | undefined {
  const fault = error && findTlsFault(error);
  return fault && explainTlsFault(fault, { variable: 'REDIS_URL', trust, clientCertificate, withoutTls: otherScheme(redisUrl) });
}

/** REDIS_URL has no parameter for it. */
const trust = 'Set NODE_EXTRA_CA_CERTS to the file with the certificate of the CA, for every process and command.';
const clientCertificate = 'Set tls-auth-clients no in the configuration of Redis: this program logs in by a password.';

function otherScheme(redisUrl: string): string {
  const [, tls = '', sentinels = ''] = /^redis(s?)(\+sentinel)?:/.exec(redisUrl) ?? [];
  return tls
    ? `If it has no TLS, write redis${sentinels}:// in REDIS_URL.`
    : `If it demands TLS, write rediss${sentinels}:// in REDIS_URL.`;
}

function explainNetwork(error: Error | undefined, redisUrl: string): Explained {
  const { code = '' } = (error ?? {}) as { code?: string };
  if (code === 'ECONNREFUSED' || code === 'ENOENT')
    return {
      problem: 'nothing is listening there.',
      fix: 'Start Redis, or correct REDIS_URL. Meanwhile each process counts limits by itself.',
    };
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return { problem: 'the host was not found.', fix: 'Correct the host in REDIS_URL, or the name server of this machine.' };
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH')
    return { problem: 'no network leads there.', fix: 'Correct the host in REDIS_URL, or the routes and firewall of this machine.' };
  const usesTls = redisUrl.startsWith('rediss');
  if (error && saysOnlyClosed(error)) {
    // What the server says of it may be lost, since it closes the connection at once.
    const orCertificate = usesTls ? 'If it demands a certificate of the client, set tls-auth-clients no in its configuration. ' : '';
    return { problem: 'it closes the connection.', fix: `${orCertificate}${otherScheme(redisUrl)} Is this the port of Redis?` };
  }
  const isRunning = 'Is Redis running, is REDIS_URL correct, and does a firewall let this machine through?';
  return usesTls
    ? { problem: 'it does not reply by TLS.', fix: `${otherScheme(redisUrl)} ${isRunning}` }
    : { problem: 'it does not reply.', fix: isRunning };
}

/** The server has closed the connection, or it was closed before: that does not say why. */
export const saysOnlyClosed = ({ message, code = '' }: Error & { code?: string }): boolean =>
  code === 'ECONNRESET' || code === 'EPIPE' || message === 'Connection is closed.';
