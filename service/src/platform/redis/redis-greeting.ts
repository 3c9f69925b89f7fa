import { connect as connectPlain } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type RedisOptions, ReplyError } from 'ioredis';
import { findTlsFault } from '../tls-faults.ts';

const timeoutMs = 1_000;
const bytesMax = 1_000;

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
    socket.setTimeout(timeoutMs, () => end());
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (text.includes('\r\n') || text.length > bytesMax) end();
    });
    socket.once('error', end).once('close', end);
  });
}
