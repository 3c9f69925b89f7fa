import { connect as connectPlain } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, Redis, type RedisOptions, ReplyError } from 'ioredis';
import { findTlsFault } from '../tls-faults.ts';
import { type ClientOptions, findPrimary, serverOptions, type WatchedServers } from './sentinels.ts';

/** A connection that is closed waits this long for the server to close it too, which one that hangs never does. */
const disconnectTimeoutMs = 200;

/**
 * A client of the Redis at a URL, or of the one of several servers that is the primary whenever it connects. If none is, the client ends,
 * and the caller decides when to connect again. The library's own support of Sentinels is not used: it takes the first address that a
 * Sentinel names, also if that one has missed a failover.
 */
export function createRedis(redisUrl: string, watched: WatchedServers | undefined, options: ClientOptions): Redis {
  const shared = { ...options, lazyConnect: true, disconnectTimeout: disconnectTimeoutMs };
  if (!watched) return new Redis(redisUrl, shared);
  const { username, password, tls } = serverOptions(watched, { host: '', port: 0 });
  return new Redis({
    ...shared,
    ...(username && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls }),
    Connector: connectorTo(watched),
  });
}

const connectorTo = (watched: WatchedServers) =>
  class extends AbstractConnector {
    constructor() {
      super(disconnectTimeoutMs);
    }

    async connect() {
      this.connecting = true;
      const { primary } = await findPrimary(watched);
      if (!this.connecting) throw new Error('the connection was closed while a primary was looked for');
      const stream = watched.tls ? connectTls({ ...primary }) : connectPlain({ ...primary });
      stream.once('error', (error) => (this.firstError = error));
      this.stream = stream;
      return stream;
    }
  };

const greetingTimeoutMs = 1_000;
const greetingBytesMax = 1_000;

/**
 * What a server says before it closes a connection, such as that it has too many clients, or wants a certificate: the driver has sent
 * something by then, and may only see that the connection is closed. Undefined: nothing.
 */
export function readGreeting({ host = '127.0.0.1', port = 6379, path, tls }: RedisOptions): Promise<Error | undefined> {
  return new Promise((resolve) => {
    const socket = tls ? connectTls({ ...tls, host, port }) : connectPlain(path ? { path } : { host, port });
    let text = '';
    const end = (fault?: Error | boolean) => {
      socket.destroy();
      const [, error] = /^-(.*)\r\n/.exec(text) ?? [];
      if (error !== undefined) resolve(new ReplyError(error) as Error);
      else resolve(fault instanceof Error && findTlsFault(fault) ? fault : undefined);
    };
    socket.setTimeout(greetingTimeoutMs, () => end());
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (text.includes('\r\n') || text.length > greetingBytesMax) end();
    });
    socket.once('error', end).once('close', end);
  });
}
