// The metrics of a real `homeward serve`: what they count is exactly what was sent.

import { describe, expect, inject, test, vi } from 'vitest';
import { HttpClient } from '../../../../testkit/http.ts';
import { freePort } from '../../../../testkit/servers.ts';
import { metricTable } from '../../../src/operations/telemetry/metric-table.ts';
import { homeward, homewardJson, startServing } from '../../cli/homeward-command.ts';
import { cloneTemplate } from '../../databases.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { sendRaw } from '../../raw-request.ts';
import { lint, scrape } from './scrape.ts';

const port = await freePort();
const env: Record<string, string> = {
  DATABASE_URL: await cloneTemplate(inject('postgresUrl')),
  REDIS_URL: inject('redisUrl'),
  HOMEWARD_METRICS_PORT: String(port),
};
const key: { id: number; clientId: number; key: string } = await homewardJson(
  ['keys', 'create', '--client', 'Zebra Shelter', '--plan', 'pro'],
  env,
);
const serving = disposeAfterAll(await startServing({ env: { ...env, LOG_LEVEL: 'info' } }));
const first = await scrape(port);

/** Sends requests, and returns what they have added to the metrics. */
async function added(send: (http: HttpClient) => Promise<void>): Promise<Map<string, number>> {
  const { series: before } = await scrape(port);
  using http = new HttpClient(1);
  await send(http);
  // What is counted is counted when the response has ended, which may be after the caller has read it.
  await new Promise((resolve) => setImmediate(resolve));
  const { series: after } = await scrape(port);
  return new Map([...after].map(([name, value]) => [name, value - (before.get(name) ?? 0)]));
}

const get = (http: HttpClient, path: string, headers: Record<string, string> = {}) =>
  http.send(serving.url + path, { key: key.key, headers });

/** The series of a metric that have grown. */
const grown = (series: ReadonlyMap<string, number>, name: string) =>
  Object.fromEntries([...series].filter(([one, value]) => (one === name || one.startsWith(`${name}{`)) && value > 0));

const requests = 'homeward_requests_total';

describe('GET /metrics of serve', () => {
  test('is what Prometheus accepts, without a complaint', async () => {
    expect(await lint(first.text)).toBe('');
  });

  test('has every metric of serve in the table, and no other', () => {
    const names = [...first.text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
    const expected = Object.entries(metricTable).filter(([, row]) => row.in !== 'worker' && row.in !== 'console');
    expect(names.sort()).toEqual(expected.map(([name, { type }]) => `${name} ${type}`).sort());
  });

  test('has the counters at 0 before the first request, for each operation', () => {
    const counters = [...first.series].filter(([name]) => name.startsWith(requests));
    expect(counters.length).toBeGreaterThan(60);
    expect(counters.filter(([, value]) => value !== 0)).toEqual([]);
    const names = counters.map(([name]) => name);
    expect(names).toContain(`${requests}{method="GET",route="/v1/pets",status="200",code=""}`);
    expect(names).toContain(`${requests}{method="POST",route="/v1/store/orders",status="201",code=""}`);
    for (const [status, code] of [
      ['500', 'internal_error'],
      ['503', 'unavailable'],
    ]) {
      expect(names).toContain(`${requests}{method="GET",route="/v1/pets",status="${status}",code="${code}"}`);
    }
    expect(first.series.get('homeward_bans_started_total')).toBe(0);
    expect(first.series.get('homeward_rate_limit_decisions_total{plan="free",outcome="limited",window="day",by="redis"}')).toBe(0);
  });

  test('serves nothing but GET /metrics', async () => {
    using http = new HttpClient(1);
    const url = `http://127.0.0.1:${port}`;
    const statuses = [
      await http.send(`${url}/`),
      await http.send(`${url}/metrics/`),
      await http.send(`${url}/v1/pets`),
      await http.send(`${url}/metrics`, { method: 'POST', body: {} }),
      await http.send(`${url}/metrics?name=up`),
    ].map(({ status }) => status);
    expect(statuses).toEqual([404, 404, 404, 404, 200]);
  });
});

describe('Requests are counted exactly', () => {
  test('through the router and on the fast path, with their durations', async () => {
    const counted = await added(async (http) => {
      for (let i = 0; i < 25; i += 1) expect((await get(http, '/v1/pets?limit=3')).status).toBe(200);
    });
    expect(grown(counted, requests)).toEqual({ [`${requests}{method="GET",route="/v1/pets",status="200",code=""}`]: 25 });
    expect(counted.get('homeward_request_duration_seconds_count{method="GET",route="/v1/pets"}')).toBe(25);
    expect(counted.get('homeward_request_duration_seconds_bucket{method="GET",route="/v1/pets",le="+Inf"}')).toBe(25);
    const decisions = Object.values(grown(counted, 'homeward_rate_limit_decisions_total'));
    expect(decisions.reduce((sum, count) => sum + count, 0)).toBe(25);
    expect(counted.get('homeward_cache_lookups_total{cache="pages",outcome="hit"}')).toBeGreaterThanOrEqual(20);
  });

  test('and of pages of listings beside those of animals', async () => {
    const counted = await added(async (http) => {
      for (let i = 0; i < 10; i += 1) expect((await get(http, '/v1/listings?limit=3')).status).toBe(200);
    });
    expect(counted.get('homeward_cache_lookups_total{cache="listings",outcome="hit"}')).toBeGreaterThanOrEqual(5);
    const caches = [...counted.keys()].flatMap((name) => /^homeward_cache_entries\{cache="(\w+)"\}$/.exec(name)?.[1] ?? []);
    expect(caches).toEqual(['keys', 'pages', 'listings']);
  });

  test('by the code of their error, without a trace of ids, names, keys or addresses', async () => {
    const counted = await added(async (http) => {
      await get(http, '/v1/pets/4711471147');
      await get(http, '/v1/pets?colour=brown');
      await get(http, '/v1/secret-path-4711');
      await http.send(`${serving.url}/v1/pets`);
      await http.send(`${serving.url}/v1/pets`, { method: 'PROPFIND' });
      await http.send(`${serving.url}/v1/pets`, { key: key.key, method: 'PROPFIND' });
      await get(http, '/livez');
    });
    expect(grown(counted, requests)).toEqual({
      [`${requests}{method="GET",route="/v1/pets/:petId",status="404",code="pet_not_found"}`]: 1,
      [`${requests}{method="GET",route="/v1/pets",status="400",code="invalid_query"}`]: 1,
      [`${requests}{method="GET",route="unmatched",status="404",code="route_not_found"}`]: 1,
      [`${requests}{method="GET",route="/v1/pets",status="401",code="api_key_missing"}`]: 1,
      [`${requests}{method="other",route="/v1/pets",status="401",code="api_key_missing"}`]: 1,
      [`${requests}{method="other",route="/v1/pets",status="405",code="method_not_allowed"}`]: 1,
      [`${requests}{method="GET",route="/livez",status="200",code=""}`]: 1,
    });
    const { text } = await scrape(port);
    expect(text).not.toMatch(/4711|Zebra|secret-path|hw_live|127\.0\.0\.1|colour/);
  });

  test('if they are not HTTP', async () => {
    const counted = await added(async () => {
      expect((await sendRaw(serving.url, 'FETCH /v1/pets\r\n\r\n')).status).toBe(400);
      expect((await sendRaw(serving.url, `GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`)).status).toBe(431);
      expect((await sendRaw(serving.url, 'CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n')).status).toBe(405);
    });
    expect(grown(counted, requests)).toEqual({
      [`${requests}{method="other",route="unreadable",status="400",code="malformed_request"}`]: 1,
      [`${requests}{method="other",route="unreadable",status="431",code="headers_too_large"}`]: 1,
      [`${requests}{method="other",route="unreadable",status="405",code="method_not_allowed"}`]: 1,
    });
  });

  test('with decisions by plan and outcome', async () => {
    const small = await homewardJson<{ key: string }>(
      ['keys', 'create', '--client', 'Two a day', '--plan', 'enterprise', '--per-minute', '5', '--per-day', '2'],
      env,
    );
    const counted = await added(async (http) => {
      const statuses: number[] = [];
      for (let i = 0; i < 4; i += 1) statuses.push((await http.send(`${serving.url}/v1/categories`, { key: small.key })).status);
      expect(statuses).toEqual([200, 200, 429, 429]);
    });
    expect(grown(counted, 'homeward_rate_limit_decisions_total')).toEqual({
      'homeward_rate_limit_decisions_total{plan="enterprise",outcome="admitted",window="",by="redis"}': 2,
      'homeward_rate_limit_decisions_total{plan="enterprise",outcome="limited",window="day",by="redis"}': 2,
    });
  });
});

test('A stream is counted when it ends, is open until then, and has no duration', async () => {
  const abort = new AbortController();
  const counted = await added(async () => {
    const response = await fetch(`${serving.url}/v1/events?cursor=latest`, {
      headers: { authorization: `Bearer ${key.key}`, accept: 'text/event-stream' },
      signal: abort.signal,
    });
    expect(response.status).toBe(200);
    await vi.waitFor(async () => expect((await scrape(port)).series.get('homeward_streams')).toBe(1));
    abort.abort();
    await vi.waitFor(async () => expect((await scrape(port)).series.get('homeward_streams')).toBe(0));
  });
  expect(counted.get('homeward_request_duration_seconds_count{method="GET",route="/v1/events"}') ?? 0).toBe(0);
});

test('Figures of PostgreSQL, Redis and the event loop are read from the process', async () => {
  const { series } = await scrape(port);
  expect(series.get('homeward_postgres_up')).toBe(1);
  expect(series.get('homeward_redis_up')).toBe(1);
  expect(series.get('homeward_postgres_max_connections{use="transactions"}')).toBe(5);
  expect(series.get('homeward_postgres_statement_duration_seconds_count')).toBeGreaterThan(0);
  expect(series.get('homeward_redis_call_duration_seconds_count')).toBeGreaterThan(0);
  expect(series.get('homeward_event_loop_delay_seconds_count')).toBeGreaterThan(0);
  expect(series.get('homeward_event_loop_active_seconds_total')).toBeGreaterThan(0);
  expect(series.get('homeward_cache_entries{cache="keys"}')).toBe(2);
});

test('A port that is in use ends the start before the API listens, and names the setting', async () => {
  const { status, stdout, stderr } = await homeward(['serve'], { env: { ...env, PORT: '0' } });
  expect(status).toBe(1);
  expect(stdout).not.toContain('Server listening');
  expect(stderr).toContain(`Port ${port} on 127.0.0.1 is already in use. Set HOMEWARD_METRICS_PORT to another port.`);
});
