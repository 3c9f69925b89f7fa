// A Redis primary with replicas, watched by Sentinels, as an operator runs them: one of them takes over when the primary is gone.
import { Redis } from 'ioredis';
import { type PrivateServer, startRedis, startSentinel } from './servers.ts';
import { until } from './until.ts';

export const watchedName = 'homeward';
const readyTimeoutMs = 30_000;

export interface WatchedRedis extends AsyncDisposable {
  readonly servers: readonly PrivateServer[];
  readonly sentinels: readonly PrivateServer[];
  /** redis+sentinel://…, with all Sentinels unless others are passed. */
  url(ports?: readonly number[]): string;
  /** The server that the Sentinels name. */
  primary(): Promise<PrivateServer>;
  /** Starts what is down, and waits until a failover is possible: all follow the primary, and all Sentinels know it. */
  heal(): Promise<void>;
}

export interface WatchedRedisOptions {
  readonly servers?: number;
  readonly sentinels?: number;
  readonly sentinelPassword?: string;
  readonly settings?: Readonly<Record<string, string>>;
  readonly downAfterMs?: number;
}

/** By default with the settings that docs/operations/redis.md tells operators to make. */
export async function startWatchedRedis(options: WatchedRedisOptions = {}): Promise<WatchedRedis> {
  const { sentinelPassword, downAfterMs = 1_000 } = options;
  const settings = {
    // Otherwise one that is stopped waits for its replicas.
    'shutdown-timeout': '0',
    'repl-diskless-sync': 'yes',
    'repl-diskless-sync-delay': '0',
    'min-replicas-to-write': '1',
    'min-replicas-max-lag': '2',
    ...options.settings,
  };
  await using resources = new AsyncDisposableStack();
  const first = resources.use(await startRedis({ settings }));
  const servers = [first];
  while (servers.length < (options.servers ?? 3)) {
    servers.push(resources.use(await startRedis({ settings: { ...settings, replicaof: `127.0.0.1 ${first.port}` } })));
  }
  const directives = [
    `sentinel monitor ${watchedName} 127.0.0.1 ${first.port} 2`,
    `sentinel down-after-milliseconds ${watchedName} ${downAfterMs}`,
    // An election without a winner is repeated after twice this time.
    `sentinel failover-timeout ${watchedName} 2000`,
    `sentinel parallel-syncs ${watchedName} 2`,
    ...(sentinelPassword ? [`requirepass ${sentinelPassword}`, `sentinel sentinel-pass ${sentinelPassword}`] : []),
  ];
  const sentinels: PrivateServer[] = [];
  while (sentinels.length < (options.sentinels ?? 3)) sentinels.push(resources.use(await startSentinel(directives)));

  const ask = <T>(port: number, work: (client: Redis) => Promise<T>) => askRedis(port, sentinelPassword, work);
  const namedBy = async (sentinel: PrivateServer) => {
    const reply = await ask(sentinel.port, (client) => client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', watchedName));
    return servers.find(({ port }) => port === Number((reply as string[])[1]));
  };
  const isHealthy = async () => {
    const named = await Promise.all(sentinels.map(namedBy));
    const details = await Promise.all(
      sentinels.map(({ port }) => ask(port, (client) => client.call('SENTINEL', 'MASTER', watchedName)).then(fieldsOf)),
    );
    const [primary] = named;
    if (!primary || named.some((one) => one !== primary)) return false;
    const known = details.every(
      (fields) => fields.get('num-other-sentinels') === String(sentinels.length - 1) && fields.get('flags') === 'master',
    );
    const info = await askRedis(primary.port, undefined, (client) => client.info('replication'));
    const following = [...info.matchAll(/state=online/g)].length;
    const replicas = details.every((fields) => Number(fields.get('num-slaves')) >= servers.length - 1);
    return known && replicas && following === servers.length - 1 && info.includes('role:master');
  };
  const heal = async () => {
    for (const server of [...servers, ...sentinels]) if (!server.isRunning) await server.start();
    await until('Redis and its Sentinels are healthy', () => isHealthy().catch(() => false), { timeoutMs: readyTimeoutMs });
  };
  await heal();
  const owned = resources.move();
  return {
    servers,
    sentinels,
    url: (ports = sentinels.map(({ port }) => port)) =>
      `redis+sentinel://${ports.map((port) => `127.0.0.1:${port}`).join(',')}/${watchedName}`,
    async primary() {
      const [sentinel] = sentinels;
      const found = sentinel && (await namedBy(sentinel));
      if (!found) throw new Error('the Sentinel names none of the servers');
      return found;
    },
    heal,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Sends commands over a connection of its own. */
export async function askRedis<T>(port: number, password: string | undefined, work: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis({ port, ...(password && { password }), protocol: 2, maxRetriesPerRequest: 0, retryStrategy: () => null });
  client.on('error', () => {});
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}

/** A list of names and values. */
const fieldsOf = (reply: unknown): ReadonlyMap<string, string> => {
  const words = (reply as unknown[]).map(String);
  return new Map(words.flatMap((word, index) => (index % 2 === 0 ? [[word, words[index + 1] ?? ''] as const] : [])));
};
