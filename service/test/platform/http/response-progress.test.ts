import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SlowReader } from '../../../../testkit/slow-reader.ts';
import { planBounds } from '../../../src/access/rate-limit/plans.ts';
import { EventStreams } from '../../../src/platform/http/protocol/event-stream.ts';
import { type ProgressBounds, ResponseProgress, setReader, setReaders } from '../../../src/platform/http/response-progress.ts';

const never = 600_000;
const lenient = { stalledMs: never, responseMs: never, clientBytesMax: 1e9, processBytesMax: 1e9, pipelinedMax: 1e9, sweepMs: 10 };
const none = { stalled: 0, overdue: 0, client_bytes: 0, process_bytes: 0, pipelined: 0 };
/** More than the kernel buffers for a reader that does not read. */
const large = Buffer.alloc(8_000_000, 'x');
const readAll = { firstBytes: Number.POSITIVE_INFINITY };
const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;

const logged: unknown[] = [];
let app: FastifyInstance;
let progress: ResponseProgress;
let port: number;
let opened: SlowReader[];
beforeEach(() => {
  opened = [];
  logged.length = 0;
});
afterEach(async () => {
  for (const reader of opened) reader[Symbol.dispose]();
  await app.close();
});

async function serve(bounds: Partial<ProgressBounds>): Promise<void> {
  progress = new ResponseProgress({ warn: (...line: unknown[]) => void logged.push(line) }, { ...lenient, ...bounds });
  const streams = new EventStreams();
  app = Fastify({
    forceCloseConnections: true,
    serverFactory: (handler) => createServer({ ServerResponse: progress.Response }, progress.boundPipelining(handler)),
  });
  setReaders(app);
  app.get('/large', async () => large);
  app.get('/text', async () => 'ü'.repeat(4_000_000));
  app.get('/short', async () => 'x'.repeat(2_000));
  app.get('/late', () => sleep(400, 'late'));
  app.get('/closing', async (_, reply) => reply.header('connection', 'close').send(large));
  app.get('/of/:client', async (request, reply) => {
    reply.hijack();
    setReader(reply.raw, { clientId: BigInt((request.params as { client: string }).client) });
    reply.raw.writeHead(200, ['content-length', String(large.length)]).end(large);
  });
  app.get('/stream', (_, reply) => {
    const stream = streams.open(reply, { clientId: 1n, bounds: planBounds.free });
    for (let i = 0; i < 8; i += 1) stream.send('x'.repeat(1_000_000), () => 'a');
    return reply;
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = ((app.server as Server).address() as AddressInfo).port;
}

async function open(requests: string, pace = {}): Promise<SlowReader> {
  const reader = await SlowReader.open(port, requests, pace);
  opened.push(reader);
  return reader;
}

const unsent = (bytes: number) => vi.waitUntil(() => progress.unsentBytes >= bytes, { interval: 5 });

describe('A client that reads nothing holds memory: ResponseProgress', () => {
  test.each(['/large', '/text', '/stream', '/closing', '/of/1'])(
    'closes the connection of a reader that takes nothing of %s',
    async (path) => {
      await serve({ stalledMs: 100 });
      const reader = await open(get(path));
      await reader.closed;
      expect([progress.closed, progress.unsentBytes]).toEqual([{ ...none, stalled: 1 }, 0]);
    },
  );

  test('closes that of one that stops in the middle', async () => {
    await serve({ stalledMs: 100 });
    const reader = await open(get('/large'), { firstBytes: 300_000 });
    await reader.closed;
    expect([progress.closed.stalled, reader.readBytes >= 300_000]).toEqual([1, true]);
  });

  test('leaves a reader alone that is slow within one large write, and one that reads everything', async () => {
    await serve({ stalledMs: 1_000 });
    const slow = await open(get('/large'), { drip: { bytes: 500_000, intervalMs: 100 } });
    const quick = await open(get('/large'), readAll);
    await vi.waitUntil(() => slow.readBytes >= large.length && quick.readBytes >= large.length);
    await vi.waitUntil(() => progress.unsentBytes === 0, { timeout: 1_000 });
    expect([slow.isOpen, quick.isOpen, progress.closed.stalled]).toEqual([true, true, 0]);
  });

  test('leaves a reader alone whose response waits for an earlier one that is not written yet', async () => {
    await serve({ stalledMs: 100 });
    const reader = await open(get('/late') + get('/short'), readAll);
    await unsent(2_000);
    await vi.waitUntil(() => reader.readBytes > 2_000, { timeout: 2_000 });
    expect([reader.isOpen, progress.closed]).toEqual([true, none]);
  });

  test('closes that of one that progresses, but too slowly for the size of the response, unless it is a stream', async () => {
    await serve({ responseMs: 100, bytesPerSecondMin: 20_000_000 });
    const drip = { bytes: 200_000, intervalMs: 50 };
    const stream = await open(get('/stream'), { drip });
    const reader = await open(get('/large'), { drip });
    expect(await reader.closed).toBeGreaterThan(100 + (large.length / 20_000_000) * 1_000);
    expect([progress.closed, stream.isOpen]).toEqual([{ ...none, overdue: 1 }, true]);
  });

  test('closes the slowest of a client that has too many unsent bytes, and of nobody else', async () => {
    await serve({ clientBytesMax: 20_000_000 });
    const other = await open(get('/of/2'));
    await unsent(8_000_000);
    const stalled = await open(get('/of/1'));
    await unsent(16_000_000);
    const slow = await open(get('/of/1'), { firstBytes: 300_000 });
    await unsent(24_000_000);
    await vi.waitUntil(() => slow.readBytes >= 300_000);
    const newest = await open(get('/of/1'));
    await stalled.closed;
    expect([progress.closed.client_bytes, slow.isOpen, newest.isOpen, other.isOpen]).toEqual([1, true, true, true]);
  });

  test('closes the slowest of all if the process has too many unsent bytes, until an eighth is free', async () => {
    await serve({ processBytesMax: 30_000_000 });
    const readers = [];
    for (const client of [1, 2, 3]) {
      readers.push(await open(get(`/of/${client}`)));
      await unsent(readers.length * large.length);
    }
    readers.push(await open(get('/of/4')));
    await readers[0]?.closed;
    expect([readers.map(({ isOpen }) => isOpen), progress.closed.process_bytes]).toEqual([[false, true, true, true], 1]);
    expect(progress.unsentBytes).toBeLessThanOrEqual((30_000_000 * 7) / 8);
  });

  test('counts the responses that wait behind an earlier one of the same connection', async () => {
    await serve({ clientBytesMax: 30_000_000 });
    const reader = await open(get('/large').repeat(100));
    await reader.closed;
    expect([progress.closed.client_bytes, progress.unsentBytes]).toEqual([1, 0]);
  });

  test('closes that of one that sends more requests at once than may wait, and of none that waits for responses in between', async () => {
    await serve({ pipelinedMax: 10 });
    const greedy = await open(get('/short').repeat(12), readAll);
    const modest = await open(get('/short').repeat(11), readAll);
    await greedy.closed;
    await vi.waitUntil(() => modest.readBytes > 11 * 2_000, { timeout: 1_000 });
    expect([progress.closed, modest.isOpen]).toEqual([{ ...none, pipelined: 1 }, true]);
    modest.send(get('/short').repeat(11));
    await vi.waitUntil(() => modest.readBytes > 22 * 2_000, { timeout: 1_000 });
  });

  test('closes that of one that sends request after request, and reads none of the short responses', async () => {
    await serve({ stalledMs: 200 });
    const reader = await open(get('/short').repeat(4_000));
    await reader.closed;
    expect([progress.closed.stalled, progress.unsentBytes]).toEqual([1, 0]);
  });

  test('logs one line for all that are closed', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    try {
      await serve({ clientBytesMax: 1 });
      const readers = [await open(get('/of/7')), await open(get('/of/7')), await open(get('/of/8'))];
      await Promise.all(readers.map(({ closed }) => closed));
      vi.advanceTimersByTime(10_000);
    } finally {
      vi.useRealTimers();
    }
    expect(logged).toEqual([[{ closed: { client_bytes: 3 }, clients: ['7', '8'] }, 'closed connections whose readers were too slow']]);
  });
});
