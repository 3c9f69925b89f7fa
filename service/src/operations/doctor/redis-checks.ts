import { randomUUID } from 'node:crypto';
import { Redis, ReplyError } from 'ioredis';
import type { Config } from '../../platform/config.ts';
import { readGreeting } from '../../platform/redis/redis-client.ts';
import { explainRedisFailure, redisDeadlineMs, saysOnlyClosed } from '../../platform/redis/redis-link.ts';
import {
  addressText,
  type ClientOptions,
  findPrimary,
  NoPrimary,
  serverOptions,
  type WatchedServers,
  watchedServersOf,
} from '../../platform/redis/sentinels.ts';
import { describeRedis } from '../../platform/server-urls.ts';
import { broken, bytesText, type Finding, findingOf, guarded, type Judgement, note, ok, skipped, warning, within } from './finding.ts';
import type { ClockReading } from './machine-checks.ts';
import { checkRole, judgeReplicas, judgeSentinels, noPrimaryFix, readMinReplicas } from './sentinel-checks.ts';

const timeoutMs = 5_000;
const versionMin = 7;
const pings = 15;
const pingsTotalMs = 1_500;
/** Half of the time that a request waits. Below, a busy machine would be reported as a slow Redis. */
const slowMs = redisDeadlineMs / 2;
const fullShare = 0.9;

interface RedisReport {
  readonly findings: readonly Finding[];
  readonly clock?: ClockReading;
  /** The fields of INFO. */
  readonly info?: ReadonlyMap<string, string>;
}

const others = ['redis-latency', 'redis-memory', 'redis-eviction', 'redis-persistence', 'redis-commands'] as const;

/** Everything that Redis tells. */
export async function examineRedis(config: Config): Promise<RedisReport> {
  const watched = watchedServersOf(config.redisUrl, config.redisSentinelPassword);
  if (!watched) return examineServer(config.redisUrl, describeRedis(config.redisUrl), (options) => new Redis(config.redisUrl, options));
  try {
    const found = await findPrimary(watched);
    const server = `Redis at ${addressText(found.primary)}`;
    const connect = (options: ClientOptions) => new Redis({ ...options, ...serverOptions(watched, found.primary) });
    const report = await examineServer(config.redisUrl, server, connect, watched);
    return { ...report, findings: [findingOf('redis-sentinels', judgeSentinels(found, watched)), ...report.findings] };
  } catch (error) {
    if (!(error instanceof NoPrimary)) throw error;
    return unusable(broken(`${describeRedis(config.redisUrl)}: ${error.message}.`, noPrimaryFix));
  }
}

async function examineServer(
  redisUrl: string,
  server: string,
  connect: (options: ClientOptions) => Redis,
  watched?: WatchedServers,
): Promise<RedisReport> {
  const client = connect({
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    // A Redis that loads its data would otherwise be waited for.
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason: unknown;
  client.on('error', (error) => (reason = error));
  try {
    await client.connect();
    return await examine(client, server, watched);
  } catch (error) {
    const cause = reason ?? error;
    const said = cause instanceof Error && saysOnlyClosed(cause) ? await readGreeting(client.options) : undefined;
    return unusable(unreachable(said ?? cause, server, redisUrl));
  } finally {
    client.disconnect();
  }
}

const unusable = (state: Judgement): RedisReport => ({
  findings: [findingOf('redis', state), ...others.map((name) => skipped(name, "Redis can't be used."))],
});

async function examine(client: Redis, server: string, watched: WatchedServers | undefined): Promise<RedisReport> {
  const info = parseInfo(await client.info());
  const state = judgeServer(info, server);
  if (state.severity === 'broken') return { ...unusable(state), info };
  const findings = [
    findingOf('redis', state),
    watched ? await guarded('redis-replicas', async () => judgeReplicas(info, await readMinReplicas(client))) : [],
    await guarded('redis-role', () => checkRole(client)),
    await guarded('redis-latency', async () => judgeLatency(await measurePings(client))),
    findingOf('redis-memory', judgeMemory(info)),
    findingOf('redis-eviction', judgeEviction(info)),
    await guarded('redis-persistence', async () => judgePersistence(info, await readSavePoints(client))),
  ];
  const sentMs = Date.now();
  const [seconds = 0, microseconds = 0] = (await client.time()).map(Number);
  const clock = { sentMs, serverMs: seconds * 1_000 + microseconds / 1_000, receivedMs: Date.now() };
  // The last: a command that hangs keeps the connection.
  const commands = await guarded('redis-commands', () => checkCommands(client));
  return { findings: [...findings.flat(), ...commands], info, clock };
}

function unreachable(error: unknown, server: string, redisUrl: string): Judgement {
  const { problem, fix } = explainRedisFailure(error instanceof Error ? error : undefined, redisUrl);
  return broken(`${server}: ${problem}`, fix);
}

export function judgeServer(info: ReadonlyMap<string, string>, server: string): Judgement {
  const version = info.get('valkey_version') ?? info.get('redis_version') ?? 'unknown';
  if (Number.parseInt(version, 10) < versionMin)
    return broken(`${server}: version ${version}.`, `Upgrade to Redis ${versionMin} or newer, or Valkey.`);
  if (info.get('redis_mode') === 'sentinel')
    return broken(`${server} is a Sentinel.`, 'Write REDIS_URL as redis+sentinel://USER:PASSWORD@HOST:26379,HOST:26379/NAME.');
  if (info.get('cluster_enabled') === '1')
    return broken(
      `${server} is a Redis Cluster.`,
      'Use one primary, with Sentinels if another is to take over; a cluster is not supported.',
    );
  if (info.get('role') === 'slave')
    return broken(`${server} is a replica, which can't be written to.`, 'Let REDIS_URL lead to the primary, or name the Sentinels in it.');
  if (info.get('loading') === '1')
    return broken(`${server} is loading its data.`, 'Wait. No persistence is needed: without it, Redis starts at once.');
  const [clients, clientsMax] = [Number(info.get('connected_clients')), Number(info.get('maxclients'))];
  if (clientsMax > 0 && clients >= clientsMax * fullShare)
    return warning(`${server}: ${clients} of ${clientsMax} connections are in use.`, 'Raise maxclients, or find who opens so many.');
  return ok(`${server}: version ${version}, ${clients} connections.`);
}

async function measurePings(client: Redis): Promise<number[]> {
  const startMs = performance.now();
  const tookMs: number[] = [];
  while (tookMs.length < pings && performance.now() - startMs < pingsTotalMs) {
    const sentMs = performance.now();
    await client.ping();
    tookMs.push(performance.now() - sentMs);
  }
  return tookMs;
}

export function judgeLatency(tookMs: readonly number[]): Judgement {
  const medianMs = tookMs.toSorted((a, b) => a - b)[Math.floor(tookMs.length / 2)] ?? 0;
  const found = `Redis replies in ${medianMs.toFixed(1)} ms (the median of ${tookMs.length} pings); a request waits ${redisDeadlineMs} ms at most.`;
  const fix = "Run Redis close to the processes, look for slow commands ('redis-cli slowlog get'), and give it a core.";
  if (medianMs >= redisDeadlineMs) return broken(found, fix);
  return medianMs >= slowMs ? warning(found, fix) : ok(found);
}

export function judgeMemory(info: ReadonlyMap<string, string>): Judgement {
  const [used, max] = [Number(info.get('used_memory') ?? 0), Number(info.get('maxmemory') ?? 0)];
  if (max === 0) return ok(`Redis uses ${bytesText(used)}, without a limit.`);
  const found = `Redis uses ${bytesText(used)} of ${bytesText(max)}.`;
  const fix = 'Raise maxmemory, or find what else is stored there.';
  if (used >= max) return broken(`${found} It rejects writes.`, fix);
  return used >= max * fullShare ? warning(found, fix) : ok(found);
}

export function judgeEviction(info: ReadonlyMap<string, string>): Judgement {
  const policy = info.get('maxmemory_policy') ?? 'unknown';
  if (policy === 'noeviction') return ok('Redis evicts nothing.');
  const evicted = Number(info.get('evicted_keys') ?? 0);
  const found = `The maxmemory-policy is ${policy}: evicting a count gives a client its quota again. ${evicted} keys were evicted so far.`;
  return warning(found, 'Set maxmemory-policy noeviction in the configuration of Redis.');
}

export function judgePersistence(info: ReadonlyMap<string, string>, savePoints: string): Judgement {
  const failed = ['rdb_last_bgsave_status', 'aof_last_write_status', 'aof_last_bgrewrite_status'].find((name) => info.get(name) === 'err');
  const hasFile = info.get('aof_enabled') === '1';
  const switchOff = "No persistence is needed: set save '' and appendonly no.";
  if (failed && (hasFile || savePoints)) return broken(`Redis could not write to its disk (${failed}), and may reject writes.`, switchOff);
  if (!hasFile && !savePoints) return ok('Redis writes nothing to disk.');
  const what = [savePoints && 'snapshots', hasFile && 'an append-only file'].filter(Boolean).join(' and ');
  return note(`Redis writes ${what}, which delays replies.`, switchOff);
}

/** Empty if there are none, and if this Redis lets nobody read its configuration. */
async function readSavePoints(client: Redis): Promise<string> {
  const reply = await client.config('GET', 'save').catch(() => []);
  return Array.isArray(reply) ? String(reply[1] ?? '') : '';
}

/** The lines `name:value`. */
export function parseInfo(text: string): ReadonlyMap<string, string> {
  return new Map([...text.matchAll(/^([a-z_0-9]+):(.*?)\r?$/gm)].map(([, name = '', value = '']) => [name, value]));
}

const commandTimeoutMs = 3_000;
/** Long enough for one script. What it has written is gone after that, also if this process ends before. */
const keptMs = 1_000;

/** Each command that the scripts of the store use, on keys that begin as the store's do. Says which of them fail, and how. */
export const commandScript = `
local text, list, set, hash = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local failed = {}
local function try(...)
  local reply = redis.pcall(...)
  if type(reply) == 'table' and reply.err then failed[#failed + 1] = ({...})[1] .. ': ' .. reply.err end
end
try('TIME')
try('SET', text, '1', 'PX', ARGV[1])
try('GET', text)
try('MGET', text, list)
try('PTTL', text)
try('LPUSH', list, '1')
try('LTRIM', list, 0, 0)
try('PEXPIRE', list, ARGV[1])
try('ZADD', set, 1, '1')
try('ZSCORE', set, '1')
try('ZRANGEBYSCORE', set, 0, 1)
try('ZREMRANGEBYSCORE', set, 2, 3)
try('ZREMRANGEBYRANK', set, 1, 2)
try('PEXPIRE', set, ARGV[1])
try('HSET', hash, 'field', '1')
try('HMGET', hash, 'field')
try('PEXPIREAT', hash, ARGV[2])
try('PEXPIRE', hash, ARGV[1])
try('DEL', text)
try('HSET', text, 'field', '1')
try('HMGET', text, 'field')
try('PEXPIREAT', text, redis.call('TIME')[1] * 1000 + ARGV[1])
return failed`;

/** Runs every kind of command that the store uses, as its processes do, so that a right that is missing is found whatever its reason. */
async function checkCommands(client: Redis): Promise<Judgement> {
  const name = `hw:doctor:{0}:${randomUUID()}`;
  const keys = ['text', 'list', 'set', 'hash'].map((kind) => `${name}:${kind}`);
  const commands: Record<string, () => Promise<unknown>> = {
    SET: () => client.set(name, '', 'PX', keptMs, 'NX'),
    EVAL: () => client.eval(commandScript, keys.length, ...keys, keptMs, Date.now() + keptMs),
  };
  for (const [command, run] of Object.entries(commands)) {
    try {
      const failed = await within(commandTimeoutMs, command, run());
      if (Array.isArray(failed) && failed.length > 0) return judgeFailure(String(failed[0]));
    } catch (error) {
      if (error instanceof ReplyError) return judgeFailure(`${command}: ${(error as Error).message}`);
      const found = `Redis replies to PING, and to no write (${command}) within ${commandTimeoutMs / 1_000} s.`;
      const fix = 'If a script has left it paused: redis-cli client unpause. Otherwise look for what keeps it busy: redis-cli slowlog get.';
      return broken(found, fix);
    }
  }
  return ok('Redis runs every command that the store uses.');
}

function judgeFailure(failure: string): Judgement {
  const found = `Redis rejects a command that every request needs, so that each process counts limits by itself: ${failure.replace(/\.?$/, '.')}`;
  if (/NOPERM|permission/i.test(failure)) {
    return broken(found, 'Permit it in the ACL of the user in REDIS_URL: docs/operations/redis.md says what the store uses.');
  }
  return broken(found, 'Remove what the message names, or look at the log of Redis.');
}
