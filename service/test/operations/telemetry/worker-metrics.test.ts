// The metrics of a real `homeward worker`, beside a store that gives it something to do.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, test, vi } from 'vitest';
import { startCuttableProxy } from '../../../../testkit/cuttable-proxy.ts';
import { freePort } from '../../../../testkit/servers.ts';
import { metricTable } from '../../../src/operations/telemetry/metric-table.ts';
import { addPet, placeOrder } from '../../adoption-steps.ts';
import { startWorker } from '../../cli/homeward-command.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { openTestStore } from '../../test-store.ts';
import { WebhookReceiver } from '../../webhook-receiver.ts';
import { lint, scrape } from './scrape.ts';

const port = await freePort();
const store = await openTestStore({ env: { HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' } });
const receiver = disposeAfterAll(await WebhookReceiver.open());
const key = await store.createKey();
await placeOrder(store, key, (await addPet(store, key)).id);
await addPet(store, key);
const databaseUrl = new URL(store.databaseUrl);
const postgres = disposeAfterAll(await startCuttableProxy(Number(databaseUrl.port)));
databaseUrl.port = String(postgres.port);
const env = {
  DATABASE_URL: databaseUrl.href,
  REDIS_URL: inject('redisUrl'),
  HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on',
  HOMEWARD_METRICS_PORT: String(port),
};
const worker = disposeAfterAll(startWorker({ env }));
await vi.waitUntil(() => scrape(port).catch(() => undefined), { timeout: 30_000, interval: 100 });

const read = async (series: string) => (await scrape(port)).series.get(series);
const becomes = (series: string, value: number) =>
  vi.waitFor(async () => expect(await read(series)).toBe(value), { timeout: 50_000, interval: 100 });

test('GET /metrics of a worker is what Prometheus accepts, and has every metric of the table, and no other', async () => {
  // Read from PostgreSQL, after the start.
  await vi.waitUntil(() => read('homeward_feed_position').then((position) => position !== undefined), {
    timeout: 30_000,
    interval: 100,
  });
  const { text } = await scrape(port);
  expect(await lint(text)).toBe('');
  const names = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
  const expected = Object.entries(metricTable).filter(([, row]) => row.in === 'worker' || row.in === 'all');
  expect(names.sort()).toEqual(expected.map(([name, { type }]) => `${name} ${type}`).sort());
});

test('Orders are counted by state, and states without orders are 0', async () => {
  await becomes('homeward_orders{status="placed"}', 1);
  expect(await read('homeward_orders{status="completed"}')).toBe(0);
});

test('Jobs have counts from the start, and the time of their last success', async () => {
  await vi.waitUntil(() => read('homeward_job_items_total{task="publish-events"}').then((items) => items === 4), { timeout: 30_000 });
  expect(await read('homeward_jobs_failed_total{task="erase-adopters"}')).toBe(0);
  expect(await read('homeward_job_items_total{task="sweep-deliveries"}')).toBe(0);
  const succeededAt = (await read('homeward_job_last_success_timestamp_seconds{task="expire-orders"}')) ?? 0;
  expect(Math.abs(Date.now() / 1_000 - succeededAt)).toBeLessThan(30);
});

test('Deliveries are counted by outcome', async () => {
  await becomes('homeward_webhook_shards', 256);
  expect(await read('homeward_webhook_deliveries_total{outcome="delivered"}')).toBe(0);
  const { status } = await store.call('POST', '/v1/webhooks', { key: key.key, body: { url: receiver.url } });
  expect(status).toBe(201);
  await addPet(store, key);
  await becomes('homeward_webhook_deliveries_total{outcome="delivered"}', 1);
  receiver.respond = () => ({ status: 500 });
  await addPet(store, key);
  await becomes('homeward_webhook_deliveries_total{outcome="failed"}', 1);
  expect(await read('homeward_webhook_duration_seconds_count')).toBe(2);
  expect(await read('homeward_webhooks_disabled_total')).toBe(0);
  const { text } = await scrape(port);
  expect(text).not.toContain(new URL(receiver.url).host);
});

test('The ages of the outbox and of the feed are known', async () => {
  // Read every 15 s: the first time, the worker had not published anything yet.
  await becomes('homeward_outbox_oldest_age_seconds', 0);
  expect(await read('homeward_feed_newest_age_seconds')).toBeGreaterThanOrEqual(0);
});

test('A worker without PostgreSQL says so, since an alert on its jobs must not hide that one, and logs the outage once, with its duration', async () => {
  expect(await read('homeward_postgres_up')).toBe(1);
  postgres.cut('closed');
  await becomes('homeward_postgres_up', 0);
  await sleep(1_000);
  postgres.restore();
  await becomes('homeward_postgres_up', 1);
  const lines = worker
    .log()
    .split('\n')
    .filter((line) => line.includes('"msg":"PostgreSQL '));
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ level: 40, msg: expect.stringMatching(/^PostgreSQL lost/), reason: expect.any(String) }),
    expect.objectContaining({
      level: 30,
      msg: 'PostgreSQL restored',
      seconds: expect.toSatisfy((seconds) => seconds >= 1 && seconds < 30),
    }),
  ]);
});
