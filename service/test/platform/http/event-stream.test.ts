import { once } from 'node:events';
import Fastify from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StreamReader } from '../../../../testkit/stream-reader.ts';
import { planBounds } from '../../../src/access/rate-limit/plans.ts';
import { type EventStream, EventStreams, eventText } from '../../../src/platform/http/protocol/event-stream.ts';

const never = 600_000;
const noTimeouts = { heartbeatMs: never, lifetimeMs: never, endTimeoutMs: never };
const mebibyte = 'x'.repeat(1_048_576);

let close: () => Promise<void>;
let url: string;
let times: Partial<typeof noTimeouts>;
let opened: EventStream[];
beforeEach(async () => {
  opened = [];
  const app = Fastify({ forceCloseConnections: true });
  app.get('/', (_, reply) => {
    opened.push(new EventStreams({ ...noTimeouts, ...times }).open(reply, { clientId: 1n, bounds: planBounds.free }));
    return reply;
  });
  app.get('/late', async (request, reply) => {
    const gone = once(reply.raw, 'close');
    request.raw.socket.destroy();
    await gone;
    opened.push(new EventStreams(noTimeouts).open(reply, { clientId: 1n, bounds: planBounds.free }));
    return reply;
  });
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  close = () => app.close();
});
afterEach(() => close());

async function open(options: { times?: Partial<typeof noTimeouts>; reads?: boolean } = {}) {
  times = options.times ?? {};
  const reader = await StreamReader.open(url, { key: 'none', keepsText: true, reads: options.reads ?? true });
  const stream = opened.at(-1);
  if (!stream) throw new Error('no stream was opened');
  return { reader, stream };
}

const count = (text: string, part: string) => text.split(part).length - 1;

describe('A stream', () => {
  test('sends heartbeats that are not events', async () => {
    const { reader } = await open({ times: { heartbeatMs: 10 } });
    await reader.until(() => count(reader.text, ':\n\n') >= 3, 'third heartbeat');
    expect([reader.events, reader.lastId]).toEqual([[], undefined]);
  });

  test('updates the last id of its reader after events that the reader may not see', async () => {
    const { reader, stream } = await open({ times: { heartbeatMs: 10 } });
    stream.send(eventText('a', 'pet.created', '{}'), () => 'b');
    await reader.until(() => reader.lastId === 'b', 'id b');
    stream.send('', () => 'c');
    await reader.until(() => reader.lastId === 'c', 'id c');
    expect(reader.events.map(({ id }) => id)).toEqual(['a']);
  });

  test('ends after its lifetime', async () => {
    const { reader, stream } = await open({ times: { lifetimeMs: 50 } });
    await reader.until(() => reader.isEnded, 'end');
    expect(stream.isOpen).toBe(false);
  });

  test('is closed at once if its reader disconnected before it was opened', async () => {
    await expect(StreamReader.open(`${url}/late`, { key: 'none' })).rejects.toThrow('socket hang up');
    await expect.poll(() => opened.map(({ isOpen }) => isOpen)).toEqual([false]);
    const [stream] = opened;
    await expect(new Promise<string>((resolve) => stream?.onClose(() => resolve('closed')))).resolves.toBe('closed');
    stream?.send('a', () => 'a');
  });

  test('sends nothing more once it is closed', async () => {
    const { reader, stream } = await open();
    stream.close();
    stream.send(eventText('a', 'pet.created', '{}'), () => 'a');
    stream.sendHeartbeat();
    stream.close();
    await reader.until(() => reader.isEnded, 'end');
    expect(reader.text).toBe('retry: 1000\n\n');
  });

  test('is full while its reader does not read, and continues once it does', async () => {
    const { reader, stream } = await open({ reads: false });
    for (let i = 0; i < 20; i += 1) stream.send(mebibyte, () => 'a');
    expect(stream.isFull).toBe(true);
    reader.resume();
    await stream.drained();
    expect([stream.isFull, stream.isOpen]).toEqual([false, true]);
  });

  test('is destroyed if its reader does not read the end', async () => {
    const { reader, stream } = await open({ reads: false, times: { endTimeoutMs: 50 } });
    for (let i = 0; i < 20; i += 1) stream.send(mebibyte, () => 'a');
    const closed = new Promise<void>((resolve) => stream.onClose(resolve));
    stream.close();
    await closed;
    expect(stream.isOpen).toBe(false);
    reader[Symbol.dispose]();
  });

  test('whose lifetime ends during keepOpenDuring closes when that is done, and leaves no listener behind', async () => {
    const { reader, stream } = await open({ times: { lifetimeMs: 20 } });
    let isDone = false;
    const work = stream.keepOpenDuring(async () => {
      for (let i = 0; i < 20; i += 1) await stream.sleep(5);
      isDone = true;
    });
    const warnings: Error[] = [];
    process.on('warning', (warning) => warnings.push(warning));
    await reader.until(() => reader.isEnded, 'end of the stream');
    expect(isDone).toBe(true);
    await work;
    expect(warnings).toEqual([]);
  });
});
