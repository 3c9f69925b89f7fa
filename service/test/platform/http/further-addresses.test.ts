import { once } from 'node:events';
import { createServer } from 'node:http';
import Fastify from 'fastify';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { listenOnOthers } from '../../../src/platform/http/protocol/connections.ts';

const app = () => Fastify({ serverFactory: (handler) => createServer(handler) });
let fastify: ReturnType<typeof app>;
beforeEach(async () => {
  fastify = app();
  fastify.get('/', async ({ socket }) => ({ address: socket.localAddress }));
  await fastify.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(() => fastify.close());

const portOf = () => (fastify.server.address() as { port: number }).port;

test('A further address is served by the same server', async () => {
  const [server, ...more] = listenOnOthers(fastify, ['127.0.0.1', '127.0.0.2']);
  expect(more).toEqual([]);
  await once(server ?? fastify.server, 'listening');
  const response = await fetch(`http://127.0.0.2:${portOf()}/`, { headers: { connection: 'close' } });
  expect(await response.json()).toEqual({ address: '127.0.0.2' });
  server?.close();
});

test('An address that this machine lacks is logged and skipped', async () => {
  const warn = vi.spyOn(fastify.log, 'warn');
  listenOnOthers(fastify, ['192.0.2.1']);
  await vi.waitUntil(() => warn.mock.calls.length > 0);
  expect((await fetch(`http://127.0.0.1:${portOf()}/`)).status).toBe(200);
});
