// A server that is no longer the primary, under an open connection, and Sentinels that are not to be trusted.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { startCuttableProxy } from '../../../../testkit/cuttable-proxy.ts';
import { startFalseSentinel } from '../../../../testkit/false-sentinel.ts';
import { freePort, type PrivateServer, startRedis } from '../../../../testkit/servers.ts';
import { askRedis } from '../../../../testkit/watched-redis.ts';
import { RedisLink } from '../../../src/platform/redis/redis-link.ts';
import { findPrimary, watchedServersOf } from '../../../src/platform/redis/sentinels.ts';

const patience = { timeout: 10_000, interval: 10 };
/** Long enough for some ten probes. */
const watchedMs = 1_500;
let opened = new AsyncDisposableStack();
afterEach(async () => {
  await opened.disposeAsync();
  opened = new AsyncDisposableStack();
});

const on = <T>({ port }: { port: number }, work: (client: Redis) => Promise<T>) => askRedis(port, undefined, work);
const start = async (settings: Record<string, string> = {}) =>
  opened.use(await startRedis({ settings: { 'shutdown-timeout': '0', ...settings } }));
const namedBy = (...sentinels: ReadonlyArray<{ port: number }>) =>
  `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/homeward`;
const falseSentinel = async (named?: { port: number; epoch: number }) => opened.use(await startFalseSentinel(named));

/** On a busy machine a call may be late, and a late heartbeat is a loss too: then the test proves nothing, and is run again. */
const again = { retry: { count: 4, delay: 250, condition: /Redis was late|did not reply within|connection to Redis is lost/ } };

async function openLink(url: string): Promise<{ link: RedisLink; changes: string[] }> {
  const link = opened.adopt(new RedisLink(url), (one) => one.close());
  const changes: string[] = [];
  link.on('late', () => changes.push('Redis was late'));
  link.on('lost', () => changes.push('lost'));
  link.on('restored', () => changes.push('restored'));
  await link.open(5_000);
  expect(inTime(changes)).toEqual(['restored']);
  return { link, changes };
}

function inTime(changes: readonly string[]): readonly string[] {
  if (changes.includes('Redis was late')) throw new Error('Redis was late');
  return changes;
}

const write = (link: RedisLink, key: string) => link.call((client) => client.set(key, '1'));
const has = (server: PrivateServer, key: string) => on(server, (client) => client.exists(key)).then(Boolean);
const untilUp = async (link: RedisLink) => {
  const startMs = performance.now();
  await vi.waitUntil(() => link.up, patience);
  return performance.now() - startMs;
};

describe('A primary that becomes a replica under an open connection', again, () => {
  test.each(['without a call', 'with calls'])('is left within 2 s, %s, for the one that the address leads to now', async (how) => {
    const [old, next] = [await start(), await start()];
    const proxy = opened.use(await startCuttableProxy(old.port));
    const { link, changes } = await openLink(`redis://127.0.0.1:${proxy.port}`);
    const startMs = performance.now();
    proxy.redirectNew(next.port);
    await on(old, (client) => client.replicaof('127.0.0.1', next.port));
    const calls = await Promise.allSettled(how === 'with calls' ? [write(link, 'hw:x'), write(link, 'hw:z')] : []);
    expect(calls.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    await vi.waitUntil(() => changes.length > 1, patience);
    await untilUp(link);
    expect(performance.now() - startMs).toBeLessThan(2_000);
    await write(link, 'hw:y');
    expect(await has(next, 'hw:y')).toBe(true);
    expect(inTime(changes)).toEqual(['restored', 'lost', 'restored']);
  });

  test('is lost once if there is no other, and is used again when it is a primary again', async () => {
    const [old, other] = [await start(), await start()];
    const { link, changes } = await openLink(old.url);
    await on(old, (client) => client.replicaof('127.0.0.1', other.port));
    await vi.waitUntil(() => !link.up, patience);
    await sleep(watchedMs);
    expect(inTime(changes)).toEqual(['restored', 'lost']);
    await on(old, (client) => client.replicaof('NO', 'ONE'));
    await untilUp(link);
    expect(inTime(changes)).toEqual(['restored', 'lost', 'restored']);
  });
});

describe('A Redis that rejects writes is lost once, until it accepts them', again, () => {
  test.each([
    ['NOREPLICAS', 'with calls', 'min-replicas-to-write', '1', '0'],
    ['NOREPLICAS', 'without a call', 'min-replicas-to-write', '1', '0'],
    ['OOM', 'with calls', 'maxmemory', '1', '0'],
  ])('%s, %s', async (_, how, setting, rejecting, accepting) => {
    const server = await start();
    const { link, changes } = await openLink(server.url);
    await on(server, (client) => client.config('SET', setting, rejecting));
    const calls = await Promise.allSettled(how === 'with calls' ? [write(link, 'hw:x'), write(link, 'hw:z')] : []);
    expect(calls.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    await sleep(watchedMs);
    expect(inTime(changes)).toEqual(['restored', 'lost']);
    await on(server, (client) => client.config('SET', setting, accepting));
    await untilUp(link);
    await write(link, 'hw:y');
    expect(inTime(changes)).toEqual(['restored', 'lost', 'restored']);
    expect(await on(server, (client) => client.keys('*'))).toEqual(['hw:y']);
  });
});

test.each([
  ['READONLY', true],
  ['NOREPLICAS', true],
  ['MASTERDOWN', true],
  ['LOADING', true],
  ['WRONGTYPE', false],
  ['OOM', false],
])('After a rejection with %s another connection is used: %s', again, async (code, isLeft) => {
  const server = await start();
  const { link, changes } = await openLink(server.url);
  const idOf = () => link.call((client) => client.client('ID'));
  const id = await idOf();
  const rejected = link.call((client) => client.eval(`return redis.error_reply('${code} says a test')`, 0));
  await expect(rejected).rejects.toMatchObject({ sent: false, cause: { message: expect.stringMatching(`^${code}`) } });
  await untilUp(link);
  expect((await idOf()) !== id).toBe(isLeft);
  expect(inTime(changes)).toEqual(['restored', 'lost', 'restored']);
});

describe('A Redis that does not permit ROLE', again, () => {
  test.each([
    ['by an ACL', { user: 'default on nopass ~* &* +@all -role' }],
    ['since it does not know it', { 'rename-command': 'ROLE forgotten' }],
  ])('%s is used, and is lost when it rejects a write', async (_, settings) => {
    const [server, other] = [await start(settings), await start()];
    const { link, changes } = await openLink(server.url);
    await sleep(watchedMs);
    expect(inTime(changes)).toEqual(['restored']);
    await on(server, (client) => client.replicaof('127.0.0.1', other.port));
    await expect(write(link, 'hw:x')).rejects.toThrow('Redis rejected a command');
    await sleep(watchedMs);
    expect(inTime(changes)).toEqual(['restored', 'lost']);
  });
});

describe('Of several Sentinels', again, () => {
  test('one that hangs, or is gone, costs some hundred ms at most', async () => {
    const server = await start();
    const [hanging, right] = [await falseSentinel(), await falseSentinel({ port: server.port, epoch: 1 })];
    const watched = watchedServersOf(namedBy({ port: await freePort() }, hanging, right), '');
    const startMs = performance.now();
    const { primary, replies } = await findPrimary(watched as NonNullable<typeof watched>);
    expect(performance.now() - startMs).toBeLessThan(900);
    expect(primary.port).toBe(server.port);
    expect(replies.map(({ problem }) => problem)).toEqual(['does not listen', 'does not reply within 300 ms', undefined]);
    await openLink(namedBy(hanging, right));
  });

  test('one that names a former primary is not trusted: not if that is a replica, nor if it is down, nor if it still acts as one', async () => {
    const [current, former] = [await start(), await start()];
    const replica = await start({ replicaof: `127.0.0.1 ${current.port}` });
    const down = await freePort();
    const right = await falseSentinel({ port: current.port, epoch: 7 });
    const sentinels = [
      await falseSentinel({ port: replica.port, epoch: 7 }),
      await falseSentinel({ port: down, epoch: 7 }),
      await falseSentinel({ port: former.port, epoch: 6 }),
      right,
    ];
    const watched = watchedServersOf(namedBy(...sentinels), '');
    const { primary, replies } = await findPrimary(watched as NonNullable<typeof watched>);
    expect(primary.port).toBe(current.port);
    expect(replies.map(({ problem }) => problem)).toEqual([
      `names 127.0.0.1:${replica.port}, which is a replica`,
      `names 127.0.0.1:${down}, which does not listen`,
      `names 127.0.0.1:${former.port}, which others have replaced since`,
      undefined,
    ]);
    await current.signal('SIGKILL');
    await expect(findPrimary(watched as NonNullable<typeof watched>)).rejects.toThrow(
      `names 127.0.0.1:${current.port}, which does not listen`,
    );
  });

  test('none that knows the name: the reason is in the error of a call', async () => {
    const server = await start();
    const link = opened.adopt(new RedisLink(namedBy(server)), (one) => one.close());
    await link.open(300);
    expect(link.up).toBe(false);
    expect(link.failure?.message).toMatch(/^no primary was found: the Sentinel at 127\.0\.0\.1:\d+ fails \(ERR unknown command 'SENTINEL'/);
  });
});

test('A primary that freezes as a connection is opened is left for the one that Sentinels name then', async () => {
  const [frozen, next] = [await start(), await start()];
  const named = { port: frozen.port, epoch: 1 };
  const { link } = await openLink(namedBy(await falseSentinel(named)));
  await frozen.signal('SIGSTOP');
  await vi.waitUntil(() => !link.up, patience);
  Object.assign(named, { port: next.port, epoch: 2 });
  expect(await untilUp(link)).toBeLessThan(3_000);
  await frozen.signal('SIGCONT');
  await write(link, 'hw:x');
  expect(await has(next, 'hw:x')).toBe(true);
});
