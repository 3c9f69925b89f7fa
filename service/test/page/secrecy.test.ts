// A link to an adopter's page is a credential: where it must not end up.
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { Writable } from 'node:stream';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, expect, inject, test, vi } from 'vitest';
import { HttpClient } from '../../../testkit/http.ts';
import { createApp } from '../../src/app.ts';
import { RequestTally } from '../../src/operations/telemetry/request-tally.ts';
import { addPet } from '../adoption-steps.ts';
import { submit } from '../application-steps.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { OtlpReceiver } from '../operations/telemetry/otlp-receiver.ts';
import { sendRaw } from '../raw-request.ts';
import { createTestStore } from '../test-store.ts';
import { addUnconfirmed, pathTo } from './page-steps.ts';

const receiver = disposeAfterAll(await OtlpReceiver.open());
let logged = '';
const stream = new Writable({
  write(chunk, _, done) {
    logged += String(chunk);
    done();
  },
});
const resources = new AsyncDisposableStack();
afterAll(() => resources.disposeAsync());

const store = resources.use(await createTestStore({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url } }));
const requests = new RequestTally();
const logs = { ...store.dependencies, log: pino({ level: 'trace' }, stream) };
const { server } = resources.adopt(await createApp(logs, undefined, requests), (app) => app.server.close());
const url = await server.listen({ host: '127.0.0.1', port: 0 });

const partner = await store.createKey();
const { id } = await submit(store, partner, (await addPet(store, partner)).id);
const [see, confirm] = [pathTo(store, id), pathTo(store, await addUnconfirmed(store, partner), 'confirm')];
const secrets = [see, confirm].map((path) => path.slice('/a/'.length));
/** Of the signature, whatever is around it. A part of a token in a log would make the rest easy to guess. */
const parts = secrets.flatMap((token) => [14, 20, 26, 31].map((at) => token.slice(at, at + 9)));
const leaked = (text: string) => parts.filter((part) => text.toLowerCase().includes(part));

const escaped = (text: string) => text.replace(/\w/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
const [token = ''] = secrets;
const requested: ReadonlyArray<readonly [method: string, path: string]> = [
  ['GET', see],
  ['HEAD', see],
  ['GET', `${see}/withdraw`],
  ['GET', `${see}/approve`],
  ['PUT', see],
  ['GET', `${see}?utm_source=mail&page=${see}`],
  ['GET', see.slice(0, -1)],
  ['GET', `/A/${token.toUpperCase()}`],
  ['GET', `//a/${token}`],
  ['GET', `/a%2F${token}`],
  ['GET', `/%61/${escaped(token)}`],
  ['GET', `/${token}`],
  ['GET', `/v1/pets?token=${token}`],
  ['GET', `/docs/${token}`],
  ['GET', `${see}/%zz`],
  ['POST', `${confirm}/confirm`],
  ['GET', confirm],
];

test('A token is in no line of the log, no metric, no span and no key or value of Redis', async () => {
  using http = new HttpClient(1);
  for (const [method, path] of requested) await http.send(url + path, { method, headers: { 'user-agent': 'test' } });
  // Node's parser rejects it.
  await sendRaw(url, `GET ${see} HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n`);
  // As it is sent to a proxy.
  const { port } = new URL(url);
  const [response] = await once(get({ port, path: `http://store.example${see}` }), 'response');
  (response as IncomingMessage).resume();
  const lines = () => logged.split('\n').filter((line) => line.includes('"msg":"request"'));
  // Of a path that is no URL there is none.
  await vi.waitUntil(() => lines().length === requested.length, { timeout: 2_000, interval: 5 });
  expect(leaked(logged)).toEqual([]);
  expect(lines().map((line) => (JSON.parse(line) as { url: string }).url)).toEqual(expect.arrayContaining(['/a/…', '/a/…/withdraw']));

  const series: unknown[] = [];
  const note = (_: string, read: () => Iterable<{ labels: unknown }>) => void series.push(...[...read()].map(({ labels }) => labels));
  requests.register({ addValues: note, addHistograms: note } as never);
  expect(leaked(JSON.stringify(series))).toEqual([]);
  expect(series).toContainEqual(expect.objectContaining({ method: 'GET', route: '/a/*', status: '200' }));

  const redis = new Redis(inject('redisUrl'));
  resources.defer(async () => redis.disconnect());
  for await (const keys of redis.scanStream({ count: 1_000 }) as AsyncIterable<string[]>) {
    for (const key of keys) expect(leaked(key + (await redis.dumpBuffer(key))?.toString('latin1'))).toEqual([]);
  }

  await resources.disposeAsync();
  expect(receiver.spans.map(({ name }) => name)).toContain('GET /a/*');
  expect(leaked(JSON.stringify(receiver.spans))).toEqual([]);
});
