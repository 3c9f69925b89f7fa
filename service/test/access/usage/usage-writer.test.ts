import { beforeEach, describe, expect, test, vi } from 'vitest';
import { startCuttableProxy } from '../../../../testkit/cuttable-proxy.ts';
import { createUsageWriter } from '../../../src/access/usage/usage.ts';
import { UsageTally } from '../../../src/access/usage/usage-tally.ts';
import { theService } from '../../../src/domain/actor.ts';
import type { ServiceDb } from '../../../src/platform/db/handles.ts';
import { Pool } from '../../../src/platform/db/pool.ts';
import { unavailable } from '../../../src/platform/errors.ts';
import { openTestStore } from '../../test-store.ts';
import { storedUsage } from '../../usage-steps.ts';

const store = await openTestStore();
const databaseUrl = store.databaseUrl;

type Log = (fields: object, message: string) => void;
const log = { info: vi.fn<Log>(), warn: vi.fn<Log>(), error: vi.fn<Log>() };
let tally: UsageTally;
beforeEach(async () => {
  tally = new UsageTally();
  for (const level of Object.values(log)) level.mockReset();
  await store.asOwner('truncate key_usage');
});

const count = (keyId: bigint, times: number, more: { atMs?: number; error?: string } = {}) => {
  for (let i = 0; i < times; i += 1) tally.count({ keyId, atMs: more.atMs ?? Date.now(), error: more.error ?? null, deprecated: null });
};
const requests = (key: number, total: number) => ({ key, kind: 'request', name: '', total });
const messages = (level: keyof typeof log) => log[level].mock.calls.map(([, message]) => message);

/** A database that does the work and then does not say so, as when the connection breaks during the commit. */
const withoutReply = (db: ServiceDb, times: number): ServiceDb => ({
  query: (statement) => db.query(statement),
  write: (statement) => db.write(statement),
  transaction: async (work) => {
    const result = await db.transaction(work, theService);
    times -= 1;
    if (times >= 0) throw unavailable(new Error('no reply'));
    return result;
  },
});

describe('Usage', () => {
  test('of several writes and processes is added up', async () => {
    const other = new UsageTally();
    const writers = [createUsageWriter(store.dependencies.db, tally, log), createUsageWriter(store.dependencies.db, other, log)];
    for (let round = 0; round < 3; round += 1) {
      count(1n, 2);
      count(2n, 1, { error: 'pet_not_found' });
      other.count({ keyId: 1n, atMs: Date.now(), error: null, deprecated: 'GET /v1/pets/{petId}' });
      await Promise.all(writers.map((writer) => writer.write()));
    }
    expect(await storedUsage(databaseUrl)).toEqual([
      requests(1, 9),
      { key: 1, kind: 'deprecated', name: 'GET /v1/pets/{petId}', total: 3 },
      requests(2, 3),
      { key: 2, kind: 'error', name: 'pet_not_found', total: 3 },
    ]);
  });

  test('is stored by the minute in which the request was', async () => {
    const hourMs = 3_600_000;
    const hour = Math.floor(Date.now() / hourMs) * hourMs;
    count(1n, 3, { atMs: hour });
    count(1n, 4, { atMs: hour + 59 * 60_000 + 59_999 });
    await createUsageWriter(store.dependencies.db, tally, log).write();
    const rows = await store.read<{ hour: Date; total: bigint; counts: number[] }>('select hour, total, counts from key_usage');
    expect(rows).toEqual([{ hour: new Date(hour), total: 7n, counts: [3, ...Array.from({ length: 58 }, () => 0), 4] }]);
  });

  test('of a batch whose outcome was unknown is counted once', async () => {
    const writer = createUsageWriter(withoutReply(store.dependencies.db, 4), tally, log);
    count(1n, 5);
    // The first two are without a reply to the creation of partitions, the others to the batch itself.
    for (let i = 0; i < 4; i += 1) {
      await writer.write();
      count(1n, 1);
    }
    await writer.write();
    expect(await storedUsage(databaseUrl)).toEqual([requests(1, 9)]);
    expect([messages('warn'), messages('info')]).toEqual([
      ['usage is not written: it is kept in memory until PostgreSQL takes it'],
      ['usage is written again'],
    ]);
  });

  test('that PostgreSQL rejects is dropped, and what follows is written', async () => {
    const writer = createUsageWriter(store.dependencies.db, tally, log);
    // There is no partition for it.
    count(1n, 2, { atMs: Date.parse('2001-01-01T00:00:00Z') });
    count(1n, 3);
    await writer.write();
    expect(await storedUsage(databaseUrl)).toEqual([requests(1, 3)]);
    expect(log.error.mock.calls).toEqual([[{ err: expect.any(Error), requests: 2 }, 'usage dropped: PostgreSQL rejects it']]);
  });

  test('is kept while PostgreSQL is away, and written when it is back', async () => {
    await using proxy = await startCuttableProxy(Number(new URL(databaseUrl).port));
    const url = new URL(databaseUrl);
    url.port = String(proxy.port);
    const pool = new Pool(url.href, 4);
    await pool.open();
    try {
      const writer = createUsageWriter(pool, tally, log);
      count(1n, 1);
      await writer.write();
      proxy.cut('closed');
      await vi.waitUntil(() => !pool.reachable);
      count(1n, 2);
      await writer.write();
      count(1n, 4);
      await writer.write();
      expect(await storedUsage(databaseUrl)).toEqual([requests(1, 1)]);
      proxy.restore();
      await vi.waitUntil(() => pool.reachable);
      await writer.write();
      expect(await storedUsage(databaseUrl)).toEqual([requests(1, 7)]);
    } finally {
      await pool.close();
    }
  });

  test('that can not be written before the process ends is logged as lost', async () => {
    const writer = createUsageWriter(withoutReply(store.dependencies.db, 100), tally, log);
    count(1n, 3);
    await writer.close();
    expect(log.warn.mock.calls.at(-1)).toEqual([{ requests: 3 }, 'usage lost: it could not be saved before shutdown']);
  });
});
