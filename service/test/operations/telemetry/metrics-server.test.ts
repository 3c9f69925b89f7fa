import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MetricRegistry } from '../../../src/operations/telemetry/metric-registry.ts';
import { serveMetrics } from '../../../src/operations/telemetry/metrics-server.ts';
import { scrape } from './scrape.ts';

let server: Awaited<ReturnType<typeof serveMetrics>>;
let opened: Socket[];
beforeEach(async () => {
  opened = [];
  const registry = new MetricRegistry();
  registry.addValue('homeward_streams', () => 7);
  server = await serveMetrics(registry, { host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  for (const socket of opened) socket.destroy();
  await server[Symbol.asyncDispose]();
});

async function open(text: string): Promise<Socket> {
  const socket = connect(server.address.port, '127.0.0.1');
  opened.push(socket);
  socket.on('error', () => {}).resume();
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

test('20 half-sent requests shut Prometheus out: the oldest is closed, and the scrape succeeds', async () => {
  const halfSent: Socket[] = [];
  for (let i = 0; i < 20; i += 1) halfSent.push(await open('GET /metrics HTTP/1.1\r\nhost: a\r\n'));
  const { series } = await scrape(server.address.port);
  expect(series.get('homeward_streams')).toBe(7);
  await expect.poll(() => halfSent.map(({ destroyed }) => destroyed).indexOf(false), { timeout: 900 }).toBe(1);
});

test('a half-sent request is closed after a second or so', async () => {
  const socket = await open('GET /metrics HTTP/1.1\r\nhost: a\r\n');
  const startedAtMs = performance.now();
  await once(socket, 'close');
  expect(performance.now() - startedAtMs).toBeLessThan(2_500);
});

test('a connection serves one request, so that none is idle', async () => {
  const socket = await open('GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n');
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes;
  });
  await once(socket, 'close');
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*connection: close\r\n[\s\S]*homeward_streams 7\n$/i);
});
