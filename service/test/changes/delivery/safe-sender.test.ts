import { connect, createServer, type Socket } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { SafeSender, type SenderOptions } from '../../../src/changes/delivery/safe-sender.ts';

/** Writes the server's response to a connection. */
let response = (_: Socket) => {};
const sockets = new Set<Socket>();
const server = createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => {});
  socket.once('data', () => response(socket));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const port = (server.address() as { port: number }).port;
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

const send = async (url: string, options: Partial<SenderOptions> = {}) => {
  const sender = new SafeSender({ toLoopback: true, ...options });
  try {
    return await sender.send({ url, headers: { 'webhook-id': 'evt_1' }, body: '{}' });
  } finally {
    await sender.close();
  }
};

describe('a response', () => {
  test('is returned as its status and its first kilobyte', async () => {
    response = (socket) => socket.end(`HTTP/1.1 418 No\r\ncontent-length: 3000\r\n\r\n${'é'.repeat(1_500)}`);
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 418, responseStart: 'é'.repeat(512), error: undefined });
  });

  test('without end is read up to 64 kB and then cut off', async () => {
    let closed: () => void;
    const isClosed = new Promise<void>((resolve) => (closed = resolve));
    let written = 0;
    response = (socket) => {
      socket.once('close', () => closed());
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const more = () => {
        if (socket.destroyed) return;
        written += 4_096;
        socket.write('x'.repeat(4_096), () => setTimeout(more, 1));
      };
      more();
    };
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200 });
    await isClosed;
    expect(written).toBeLessThan(1_000_000);
  });

  test('with a NUL in it can be stored', async () => {
    response = (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\na\0b');
    expect((await send(`http://127.0.0.1:${port}/`)).responseStart).toBe('a\ufffdb');
  });
});

test('no response is an error that says why', async () => {
  response = (socket) => socket.destroy();
  expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: undefined, error: expect.stringMatching(/closed|ECONNRESET/) });
  expect(await send('https://example.org/', { resolve: async () => [] })).toMatchObject({ error: 'the host has no address' });
  expect(await send('ftp://example.org/')).toMatchObject({ error: 'the address must use https' });
});

test('an error that contains NUL can be stored', async () => {
  const dial: SenderOptions['dial'] = (_, callback) => callback(new Error('a\0b'), null);
  expect((await send('https://example.org/', { resolve: async () => ['93.184.216.34'], dial })).error).toBe('a\ufffdb');
});

test('one address that is not public among several is enough to reject, and no connection is made', async () => {
  const dialled: string[] = [];
  const dial: SenderOptions['dial'] = ({ hostname }, callback) => {
    dialled.push(hostname);
    callback(new Error('not today'), null);
  };
  const resolve = async () => ['93.184.216.34', '10.0.0.1'];
  expect(await send('https://example.org/', { resolve, dial })).toMatchObject({ error: 'the host has an address that is not public' });
  expect(dialled).toEqual([]);
});

test('the address that was checked is the one that is connected to, and the name is resolved once', async () => {
  const dialled: Array<{ hostname: string; servername: string | undefined }> = [];
  let asked = 0;
  response = (socket) => socket.end('HTTP/1.1 204 No Content\r\n\r\n');
  const dial: SenderOptions['dial'] = ({ hostname, servername }, callback) => {
    dialled.push({ hostname, servername });
    const socket = connect(port, '127.0.0.1', () => callback(null, socket));
  };
  const resolve = async () => (asked++ === 0 ? ['93.184.216.34'] : ['127.0.0.1']);
  expect(await send('https://example.org/', { resolve, dial })).toMatchObject({ status: 204 });
  expect({ dialled, asked }).toMatchObject({ dialled: [{ hostname: '93.184.216.34' }], asked: 1 });
});
