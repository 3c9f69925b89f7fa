import { setTimeout as sleep } from 'node:timers/promises';
import { Redis, type RedisOptions, ReplyError } from 'ioredis';
import { isSentinelUrl, parseSentinelUrl, type RedisAddress, type SentinelUrl } from '../server-urls.ts';
import { findTlsFault } from '../tls-faults.ts';

/** All Sentinels are asked at the same time, so those that hang delay a connection by this, once. The same again for the server's role. */
const askTimeoutMs = 300;
const askSteps = 3;
const disconnectTimeoutMs = 100;

/** How replies are shaped is not up to the caller. */
export type ClientOptions = Omit<RedisOptions, 'replyMapping'>;

/** Servers that Sentinels watch. */
export interface WatchedServers extends SentinelUrl {
  /** Of the Sentinels. Empty: none. */
  readonly sentinelPassword: string;
}

/** What one Sentinel says. */
export interface SentinelReply {
  readonly sentinel: string;
  /** The server that it names; undefined: none. */
  readonly named?: RedisAddress;
  /** Each failover has a higher one. 0 if this Sentinel does not tell. */
  readonly epoch: number;
  /** Why its reply was not used, as the end of a sentence about it. */
  readonly problem?: string;
}

export interface FoundPrimary {
  readonly primary: RedisAddress;
  readonly replies: readonly SentinelReply[];
}

/** No Sentinel names a server that is a primary. The message has the reason of each. */
export class NoPrimary extends Error {
  constructor(replies: readonly SentinelReply[]) {
    super(`no primary was found: ${replies.map(({ sentinel, problem }) => `the Sentinel at ${sentinel} ${problem}`).join('; ')}`);
  }
}

/** Undefined if the URL names a server. */
export const watchedServersOf = (redisUrl: string, sentinelPassword: string): WatchedServers | undefined =>
  isSentinelUrl(redisUrl) ? { ...parseSentinelUrl(redisUrl), sentinelPassword } : undefined;

/**
 * The server that is the primary now. Of what the Sentinels say, only the newest counts: one that was away still names the primary
 * from before, which may still act as one. The server itself must agree.
 */
export async function findPrimary(watched: WatchedServers): Promise<FoundPrimary> {
  const asked = await Promise.all(watched.sentinels.map((sentinel) => ask(sentinel, watched)));
  const newest = Math.max(...asked.map(({ epoch }) => epoch));
  const current = asked.map((reply) =>
    reply.named && reply.epoch < newest
      ? { ...reply, problem: `names ${addressText(reply.named)}, which others have replaced since` }
      : reply,
  );
  const candidates = new Map(current.flatMap(({ named, problem }) => (named && !problem ? [[addressText(named), named] as const] : [])));
  const problems = new Map<string, string>();
  let primary: RedisAddress | undefined;
  for (const [text, address] of candidates) {
    const problem = await findProblem(address, watched);
    if (!problem) {
      primary = address;
      break;
    }
    problems.set(text, problem);
  }
  const replies = current.map((reply) => {
    const problem = reply.named && problems.get(addressText(reply.named));
    return reply.named && problem ? { ...reply, problem: `names ${addressText(reply.named)}, which ${problem}` } : reply;
  });
  if (!primary) throw new NoPrimary(replies);
  return { primary, replies };
}

/** How to connect to one of the servers, without what concerns the Sentinels. */
export const serverOptions = ({ username, password, tls }: WatchedServers, { host, port }: RedisAddress): ClientOptions => ({
  host,
  port,
  ...(username && { username }),
  ...((username || password) && { password }),
  ...(tls && { tls: {} }),
});

/** True if the server must not be asked this, or does not know it: managed servers and proxies forbid some commands. */
export const isNotPermitted = (error: unknown): boolean =>
  error instanceof ReplyError &&
  /^(NOPERM\b|ERR .*(unknown|unsupported|disabled|not (allowed|permitted|supported)))/i.test((error as Error).message);

/** The reply to ROLE begins with it. */
export const primaryRole = 'master';

export const addressText = ({ host, port }: RedisAddress): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);

async function ask(sentinel: RedisAddress, { name, tls, sentinelPassword }: WatchedServers): Promise<SentinelReply> {
  const at = { sentinel: addressText(sentinel), epoch: 0 };
  try {
    const options = { ...sentinel, ...(sentinelPassword && { password: sentinelPassword }), ...(tls && { tls: {} }) };
    const [named, details] = await withClient(options, (client) =>
      Promise.all([
        // Right after a promotion it is ahead of the details.
        client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name),
        client.call('SENTINEL', 'MASTER', name).catch(() => []),
      ]),
    );
    const [host, port] = Array.isArray(named) ? named.map(String) : [];
    if (!host) return { ...at, problem: `knows no "${name}"` };
    return { ...at, named: { host, port: Number(port) }, epoch: epochOf(details) };
  } catch (error) {
    return { ...at, problem: explain(error as Error, 'REDIS_SENTINEL_PASSWORD', { tls }) };
  }
}

/** From a list of names and values. */
function epochOf(details: unknown): number {
  const fields = Array.isArray(details) ? details.map(String) : [];
  const at = fields.indexOf('config-epoch');
  return at < 0 ? 0 : Number(fields[at + 1]);
}

/** Why this server can't be used; undefined: it is a primary, or does not say. */
async function findProblem(address: RedisAddress, watched: WatchedServers): Promise<string | undefined> {
  try {
    const [role] = (await withClient(serverOptions(watched, address), (client) => client.role())) as [string];
    return role === primaryRole ? undefined : 'is a replica';
  } catch (error) {
    return isNotPermitted(error) ? undefined : explain(error as Error, 'the password in REDIS_URL', watched);
  }
}

function explain(error: Error & { code?: string }, secret: string, { tls }: Pick<WatchedServers, 'tls'>): string {
  if (error.message.startsWith('WRONGPASS')) return `rejects ${secret}`;
  if (error.message.startsWith('NOAUTH')) return `demands a password: set ${secret}`;
  if (error.code === 'ECONNREFUSED') return 'does not listen';
  if (error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN') return 'was not found';
  const fault = findTlsFault(error);
  if (fault?.kind === 'noTls') return 'does not speak TLS: write redis+sentinel:// instead';
  if (fault?.kind === 'otherName')
    return `has a certificate for ${fault.names} and not for ${fault.host}: name it in REDIS_URL, and let Sentinels announce it, as the certificate does`;
  if (fault?.kind === 'clientCertificate') return 'demands a certificate of the client: set tls-auth-clients no there';
  if (fault?.kind === 'untrusted')
    return `has a certificate that is not trusted (${error.message}): set NODE_EXTRA_CA_CERTS to the file of its CA`;
  if (/timed out|ETIMEDOUT/.test(error.message))
    return `does not reply within ${askTimeoutMs} ms${tls ? ', by TLS: without it, REDIS_URL begins with redis+sentinel://' : ''}`;
  return `fails (${error.message})`;
}

async function withClient<T>(options: ClientOptions, work: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis({
    ...options,
    lazyConnect: true,
    // The least that a Sentinel, and whatever replies in its place, must know.
    protocol: 2,
    disableClientInfo: true,
    enableReadyCheck: false,
    disconnectTimeout: disconnectTimeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason: Error | undefined;
  client.on('error', (error) => (reason = error));
  const ended = new AbortController();
  try {
    return await Promise.race([work(client), failLater(ended.signal)]);
  } catch (error) {
    // A command only knows that the connection was closed.
    throw error instanceof ReplyError ? error : (reason ?? error);
  } finally {
    ended.abort();
    client.disconnect();
  }
}

/** In steps, so that a pause of this process, in which it could read nothing, counts as one step at most. */
async function failLater(signal: AbortSignal): Promise<never> {
  for (let step = 0; step < askSteps; step += 1) await sleep(askTimeoutMs / askSteps, undefined, { signal });
  throw new Error('timed out');
}
