import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { HttpClient } from '../../../testkit/http.ts';
import { startPostgres } from '../../../testkit/servers.ts';
import { createApp } from '../../src/app.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { addPet } from '../adoption-steps.ts';
import { createTestStore, type TestStore } from '../test-store.ts';

let logged = '';
const resources = new AsyncDisposableStack();

/** Serves the store at another address, with a log that is read here. */
async function listen({ dependencies }: TestStore): Promise<string> {
  const stream = new Writable({
    write(chunk, _, done) {
      logged += String(chunk);
      done();
    },
  });
  const { server } = resources.adopt(await createApp({ ...dependencies, log: pino({ level: 'trace' }, stream) }), (app) =>
    app.server.close(),
  );
  return server.listen({ host: '127.0.0.1', port: 0 });
}

const store = resources.use(await createTestStore());
const key = await store.createKey();
const url = await listen(store);
// Fastify writes its own line for that.
logged = '';
afterAll(() => resources.disposeAsync());
beforeEach(() => {
  logged = '';
});

const lines = () => logged.split('\n').filter(Boolean);

/** Sends a request and waits for its log line, which is written after the response. */
async function send(path: string, options: Parameters<HttpClient['send']>[1] = {}): Promise<{ id: unknown; line: unknown }> {
  using http = new HttpClient(1);
  const { headers } = await http.send(url + path, { key: key.key, ...options });
  await vi.waitUntil(() => lines().length > 0, { timeout: 2_000, interval: 1 });
  return { id: headers['x-request-id'], line: JSON.parse(lines()[0] ?? '') };
}

describe('The log of a request', () => {
  test('is one line with the request, the caller and the outcome', async () => {
    const { id, line } = await send('/v1/pets?limit=3');
    expect(line).toMatchObject({
      level: 30,
      msg: 'request',
      reqId: id,
      method: 'GET',
      url: '/v1/pets?limit=3',
      route: '/v1/pets',
      status: 200,
      ms: expect.any(Number),
      client: String(key.clientId),
      key: String(key.id),
    });
    expect(lines()).toHaveLength(1);
  });

  test('is the same for a cached page', async () => {
    const { line: read } = await send('/v1/pets?limit=4');
    logged = '';
    const { id, line: cached } = await send('/v1/pets?limit=4');
    const varying = { time: expect.any(Number), ms: expect.any(Number), reqId: id };
    expect(cached).toEqual({ ...(read as object), ...varying });
    expect(lines()).toHaveLength(1);
  });

  test("contains nothing of the adopter's data", async () => {
    const { id } = await addPet(store, key);
    const body = { petId: id, adopter: { name: 'Zerlina Quux', email: 'zerlina@quux.example' } };
    const { line } = await send('/v1/store/orders', { method: 'POST', body });
    expect(line).toMatchObject({ status: 201 });
    expect(logged).not.toMatch(/zerlina|quux/i);
  });

  test('contains nothing of the key, in the header or in the URL', async () => {
    const { line } = await send(`/v1/pets?api_key=${key.key}`);
    expect(line).toMatchObject({ status: 400, url: '/v1/pets?api_key=hw_live_…' });
    expect(logged).not.toContain(key.key.slice(8, 20));
  });

  test('contains nothing of a percent-encoded key', async () => {
    const escaped = key.key.replace(/\w/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
    await send(`/v1/pets?api_key=${escaped}`);
    expect(decodeURIComponent(logged)).not.toContain(key.key.slice(8, 20));
  });

  test('is one line, whatever the URL contains', async () => {
    const { line } = await send('/v1/pets?a=%0D%0A{"level":50}%0A');
    expect(line).toMatchObject({ status: 400 });
    expect(lines()).toHaveLength(1);
  });

  test('truncates a long URL', async () => {
    const { line } = await send(`/v1/pets?x=${'y'.repeat(5_000)}`);
    expect((line as { url: string }).url).toHaveLength(500);
  });

  test('has the code of an error', async () => {
    expect((await send('/v1/pets/999')).line).toMatchObject({ status: 404, code: 'pet_not_found' });
    logged = '';
    expect((await send('/v1/pets?limit=2')).line).not.toHaveProperty('code');
  });

  test('is not written for health checks', async () => {
    using http = new HttpClient(1);
    for (const path of ['/livez', '/readyz', '/livez']) expect((await http.send(url + path)).status).toBe(200);
    await send('/v1/pets?limit=1');
    expect(lines()).toHaveLength(1);
  });
});

test('An outage is one warning a second, and a line for each request', async () => {
  const postgres = resources.use(await startPostgres());
  await migrate(postgres.url);
  const lost = resources.use(await createTestStore({ env: { DATABASE_URL: postgres.url } }));
  const { key: lostKey } = await lost.createKey();
  const address = await listen(lost);
  using http = new HttpClient(10);
  const read = () => http.send(`${address}/v1/store/orders`, { key: lostKey });
  expect((await read()).status).toBe(200);
  logged = '';
  await postgres.signal('SIGKILL');
  const responses = await Promise.all(Array.from({ length: 100 }, read));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([503]));
  await vi.waitFor(() => expect(lines().filter((line) => line.includes('"code":"unavailable"'))).toHaveLength(100));
  const warnings = lines().filter((line) => line.includes('"msg":"unavailable"'));
  expect(warnings.length).toBeGreaterThan(0);
  expect(warnings.length).toBeLessThanOrEqual(3);
});
