// A standby that lacks the last commits takes over, while every process runs on: a real one, of a real primary.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startCuttableProxy } from '../../../testkit/cuttable-proxy.ts';
import { type PrivateServer, startPostgres, startStandby } from '../../../testkit/servers.ts';
import { addStaffThings, countEndedToo, countRevived, endStaffThings, staffEnds, staffThings } from '../../../testkit/staff-ends.ts';
import { StreamReader } from '../../../testkit/stream-reader.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { openJournal } from '../../src/platform/journal/journal.ts';
import { createManager } from '../adoption-steps.ts';
import { homeward, startWorker } from '../cli/homeward-command.ts';
import { executeAsOwner } from '../databases.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { openTestStore } from '../test-store.ts';
import { WebhookReceiver } from '../webhook-receiver.ts';

const patience = { timeout: 30_000, interval: 50 };
const folder = mkdtempSync(path.join(tmpdir(), 'homeward-failover-'));
afterAll(() => rmSync(folder, { recursive: true }));
const primary = disposeAfterAll(await startPostgres());
await migrate(primary.url);
await executeAsOwner(primary.url, 'alter table webhooks alter column verified_at set default now()');
const standby = disposeAfterAll(await startStandby(primary));
const proxy = disposeAfterAll(await startCuttableProxy(primary.port));
const env: Record<string, string> = {
  DATABASE_URL: primary.url.replace(String(primary.port), String(proxy.port)),
  HOMEWARD_JOURNAL: path.join(folder, 'journal.log'),
  HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on',
};
const store = await openTestStore({ env });
env['REDIS_URL'] = store.dependencies.config.redisUrl;
const [manager, leaked] = [await createManager(store), await store.createKey()];
const receiver = disposeAfterAll(await WebhookReceiver.open());
await store.call('POST', '/v1/webhooks', { key: manager.key, body: { url: receiver.url, types: ['pet.created'] } });
const worker = disposeAfterAll(startWorker({ env }));

const query = async <Row extends pg.QueryResultRow>(server: PrivateServer, text: string): Promise<Row[]> => {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
};

/** Adds animals with these names, as a partner does that repeats what is not confirmed. */
async function add(names: readonly string[]): Promise<void> {
  for (const name of names) {
    const request = { key: manager.key, body: { name, categoryId: 1 }, headers: { 'idempotency-key': name.replace(' ', '-') } };
    await vi.waitUntil(async () => (await store.call('POST', '/v1/pets', request)).status === 201, patience);
  }
}

const readFrom = (server: PrivateServer) => async (text: string) => (await query<{ count: number }>(server, text))[0];

const untilDelivered = (count: number) => vi.waitUntil(() => delivered().length >= count, patience);
const named = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix} ${i}`);
const namesAt = (events: ReadonlyArray<{ data: { pet?: { name: string } } }>) => events.flatMap(({ data }) => data.pet?.name ?? []);
const streamed = (reader: StreamReader) => reader.events.map(({ data }) => JSON.parse(data).data.pet.name as string);
const delivered = () => namesAt(receiver.received.map(({ json }) => json));
const page = (cursor?: string) =>
  store.call<Array<{ data: { pet?: { name: string } } }>>('GET', cursor ?? '/v1/events?limit=100', { key: manager.key });
const nextOf = (response: { headers: Record<string, string | string[] | undefined> }) =>
  /<([^>]+)>; rel="next"/.exec(String(response.headers['link']))?.[1] ?? '';

describe('A standby that lacks the last events takes over, and processes run on', () => {
  const [kept, lost, later] = [named('Kept', 5), named('Lost', 10), named('Later', 20)];
  let beforeLoss: string;
  let insideLoss: string;
  let revivedWithoutJournal: number;
  let stream: StreamReader;

  beforeAll(async () => {
    await add(kept);
    await addStaffThings((text) => query(primary, text), manager.clientId);
    stream = await StreamReader.open(`${store.url}/v1/events`, { key: manager.key });
    await stream.untilCount(5, 20_000);
    await untilDelivered(kept.length);
    beforeLoss = nextOf(await page());
    const [{ lsn }] = (await query<{ lsn: string }>(primary, 'select pg_current_wal_lsn()::text as lsn')) as [{ lsn: string }];
    await vi.waitUntil(async () => {
      const [row] = await query<{ has: boolean }>(standby, `select pg_last_wal_replay_lsn() >= '${lsn}' as has`);
      return row?.has;
    }, patience);
    // The standby gets nothing from now on.
    await query(standby, `alter system set primary_conninfo = ''`);
    await query(standby, 'select pg_reload_conf()');
    await vi.waitUntil(async () => (await query(standby, 'select from pg_stat_wal_receiver')).length === 0, patience);
    await endStaffThings(store.dependencies.db, openJournal({ fd: 2, file: env['HOMEWARD_JOURNAL'] ?? '' }));
    revivedWithoutJournal = await countRevived(readFrom(standby));
    await add(lost);
    await homeward(['keys', 'revoke', String(leaked.id)], { env });
    await stream.untilCount(15, 20_000);
    await untilDelivered(kept.length + lost.length);
    insideLoss = nextOf(await page(beforeLoss));
    await primary.signal('SIGKILL');
    await query(standby, 'select pg_promote()');
    proxy.redirect(standby.port);
    await add(later);
  });

  test('no id of an animal that is lost is assigned again', async () => {
    const idsOf = (names: readonly string[]) =>
      receiver.received.flatMap(({ json: { data } }) => (data.pet && names.includes(data.pet.name) ? [Number(data.pet.id)] : []));
    await vi.waitFor(() => expect(idsOf(later)).toHaveLength(later.length), patience);
    expect(Math.min(...idsOf(later))).toBeGreaterThan(Math.max(...idsOf(lost)) + 900_000);
    // Once, by the first connection of the first process.
    expect(Math.max(...idsOf(later)) - Math.min(...idsOf(later))).toBeLessThan(900_000);
  });

  test('every event that is published then arrives at the endpoint, in order', async () => {
    await vi.waitFor(() => expect(delivered()).toEqual([...kept, ...lost, ...later]), patience);
  });

  test('a reader that had read nothing that is lost gets what follows; one that had is told so', async () => {
    const next = await page(beforeLoss);
    expect([next.status, namesAt(next.json)]).toEqual([200, later]);
    expect(await page(insideLoss)).toMatchObject({
      status: 410,
      json: { code: 'cursor_expired', message: expect.stringContaining('lost') },
    });
    // A gap ends a page, and is not read position by position.
    const oldest = await page();
    expect(namesAt(oldest.json)).toEqual(kept);
    expect(namesAt((await page(nextOf(oldest))).json)).toEqual(later);
    expect((await page(nextOf(next))).json).toEqual([]);
  });

  test('a stream that had sent what is lost ends, and a new one has what is published', async () => {
    await vi.waitFor(() => expect(stream.isEnded).toBe(true), patience);
    expect(streamed(stream)).toEqual([...kept, ...lost]);
    const again = await StreamReader.open(`${store.url}/v1/events`, { key: manager.key, ...(stream.lastId && { lastId: stream.lastId }) });
    expect(again.status).toBe(410);
    using fresh = await StreamReader.open(`${store.url}/v1/events`, { key: manager.key });
    await fresh.untilCount(25, 20_000);
    expect(streamed(fresh)).toEqual([...kept, ...later]);
  });

  test('nothing stays in the outbox, and no position is assigned twice', async () => {
    await vi.waitFor(async () => expect(await query(standby, 'select from outbox')).toEqual([]), patience);
    const rows = await query<{ isPast: boolean }>(standby, `select position > 1000000000 as "isPast" from events order by position`);
    expect(rows.map(({ isPast }) => isPast)).toEqual([...kept.map(() => false), ...later.map(() => true)]);
  });

  test('what was revoked stays revoked, the worker has recorded the server, and doctor finds nothing', async () => {
    await vi.waitFor(async () => expect((await store.call('GET', '/v1/pets', { key: leaked.key })).status).toBe(401), patience);
    await vi.waitFor(() => expect(worker.log()).toContain('this server is recorded as the one of the store'), patience);
    expect(worker.log()).toContain('the feed is on another server');
    const { stdout } = await homeward(['doctor', '--json'], { env });
    const { findings } = JSON.parse(stdout) as { findings: Array<{ check: string; severity: string }> };
    const severityOf = (name: string) => findings.find(({ check }) => check === name)?.severity;
    expect([severityOf('postgres-server'), severityOf('feed')]).toEqual(['ok', 'ok']);
  });

  test(`of ${staffEnds} passkeys, roles, accounts and people that were ended among ${staffThings}, none is revived, and everybody signs in again`, async () => {
    await vi.waitFor(() => expect(worker.log()).toContain('this server is recorded as the one of the store'), patience);
    expect(revivedWithoutJournal).toBe(staffEnds);
    expect([await countRevived(readFrom(standby)), await countEndedToo(readFrom(standby))]).toEqual([0, 0]);
    expect(await query(standby, 'select from sessions union all select from person_links')).toEqual([]);
  });
});
