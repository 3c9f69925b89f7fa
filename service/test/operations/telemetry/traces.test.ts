// Traces, as an OTLP receiver gets them.

import { describe, expect, test } from 'vitest';
import { SafeSender, tracedSender } from '../../../src/changes/delivery/safe-sender.ts';
import { addPet, adopterOf } from '../../adoption-steps.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { createTestStore, type TestKey, type TestStore } from '../../test-store.ts';
import { WebhookReceiver } from '../../webhook-receiver.ts';
import { OtlpReceiver, type ReceivedSpan } from './otlp-receiver.ts';

const receiver = disposeAfterAll(await OtlpReceiver.open());

/** Runs requests against a store that traces, and returns the spans. The store exports what is left when it is closed. */
async function spansOf(work: (store: TestStore, key: TestKey) => Promise<void>, env: Record<string, string> = {}): Promise<ReceivedSpan[]> {
  receiver.spans.length = 0;
  {
    await using store = await createTestStore({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...env } });
    await work(store, await store.createKey());
  }
  expect(receiver.faults).toEqual([]);
  return [...receiver.spans];
}

const named = (spans: readonly ReceivedSpan[], name: string) => spans.filter((span) => span.name === name);
const sole = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan => {
  const [span, ...others] = named(spans, name);
  if (!span || others.length > 0)
    throw new Error(`${named(spans, name).length} spans ${name} in ${spans.map((one) => one.name).join(', ')}`);
  return span;
};
const traceparent = 'traceparent';
const parent = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };

describe('A request', () => {
  test('is a span with its route, status and id; admission, Redis and each statement are below it', async () => {
    let id: unknown;
    let requestId: unknown;
    const spans = await spansOf(async (store, key) => {
      const pet = await addPet(store, key);
      id = pet.id;
      const body = { petId: pet.id, adopter: adopterOf(pet.id) };
      const { status, headers } = await store.call('POST', '/v1/store/orders', { key: key.key, body });
      expect(status).toBe(201);
      requestId = headers['x-request-id'];
    });
    const order = sole(spans, 'POST /v1/store/orders');
    expect(order).toMatchObject({
      kind: 2,
      status: 0,
      parentSpanId: undefined,
      service: 'homeward',
      attributes: { 'http.route': '/v1/store/orders', 'http.response.status_code': 201, 'homeward.request_id': requestId },
    });
    const ofOrder = spans.filter(({ traceId }) => traceId === order.traceId);
    const admission = sole(ofOrder, 'admission');
    expect(admission.parentSpanId).toBe(order.spanId);
    const calls = named(ofOrder, 'redis consume');
    expect(calls[0]?.attributes).toMatchObject({ 'db.operation.batch.size': 1 });
    expect(calls.filter(({ parentSpanId }) => parentSpanId !== admission.spanId)).toEqual([]);
    const statements = ofOrder.filter(({ name }) => name.startsWith('postgres ')).map(({ name }) => name);
    expect(statements).toContain('postgres begin');
    expect(statements).toContain('postgres commit');
    expect(statements).toContain('postgres insert-events');
    for (const span of ofOrder) expect([order.startMs <= span.startMs, span.endMs <= order.endMs + 1]).toEqual([true, true]);
    // Nothing of the adopter, the key or the animal.
    expect(JSON.stringify(ofOrder)).not.toMatch(/\bada\b|hw_live|Lovelace/i);
    expect(id).toEqual(expect.any(Number));
  });

  test('that fails has the code of its error', async () => {
    const spans = await spansOf(async (store, { key }) => {
      await store.call('GET', '/v1/pets/4711', { key });
      await store.call('GET', '/v1/pets');
      await store.call('GET', '/nowhere');
    });
    expect(sole(spans, 'GET /v1/pets/:petId').attributes).toMatchObject({
      'error.type': 'pet_not_found',
      'http.response.status_code': 404,
    });
    expect(sole(spans, 'GET /v1/pets').attributes).toMatchObject({ 'error.type': 'api_key_missing', 'http.response.status_code': 401 });
    expect(sole(spans, 'GET').attributes).toMatchObject({ 'error.type': 'route_not_found' });
  });

  test('on the fast path has the same spans, and no statement', async () => {
    const spans = await spansOf(async (store, { key }) => {
      for (let i = 0; i < 10; i += 1) expect((await store.call('GET', '/v1/pets?limit=3', { key })).status).toBe(200);
    });
    const requests = named(spans, 'GET /v1/pets');
    expect(requests).toHaveLength(10);
    for (const { attributes } of requests) expect(attributes['homeward.request_id']).toMatch(/^req_/);
    // On a slow machine a page may become too old meanwhile, and is read again.
    const below = requests.map(({ traceId }) => spans.filter((span) => span.traceId === traceId && span.parentSpanId !== undefined));
    expect(below.map((ofRequest) => ofRequest.map(({ name }) => name).sort())).toContainEqual(['admission', 'redis consume']);
  });

  test("continues its caller's trace, and is not traced if its caller says so", async () => {
    const spans = await spansOf(async (store, { key }) => {
      const call = (flags: string, limit: number) =>
        store.call('GET', `/v1/pets?limit=${limit}`, { key, headers: { [traceparent]: `00-${parent.traceId}-${parent.spanId}-${flags}` } });
      await call('01', 4);
      await call('00', 5);
      await store.call('GET', '/v1/categories', { key, headers: { [traceparent]: 'hello' } });
    });
    expect(sole(spans, 'GET /v1/pets')).toMatchObject({ traceId: parent.traceId, parentSpanId: parent.spanId });
    expect(sole(spans, 'GET /v1/categories').parentSpanId).toBeUndefined();
  });

  test('of many that share a call to Redis has its own statements, and the call is linked to the others', async () => {
    const spans = await spansOf(async (store, { key }) => {
      await store.call('GET', '/v1/pets?limit=1', { key });
      await Promise.all(Array.from({ length: 12 }, (_, i) => store.call('GET', `/v1/pets?limit=${10 + i}`, { key })));
    });
    const requests = named(spans, 'GET /v1/pets');
    expect(requests).toHaveLength(13);
    const calls = spans.filter(({ name }) => name === 'redis consume');
    const ids = new Set(spans.map(({ spanId }) => spanId));
    for (const { parentSpanId, links } of calls) expect([parentSpanId ?? '', ...links].every((id) => ids.has(id))).toBe(true);
    // Each request is below, or linked to, one call at least.
    const covered = new Set(calls.flatMap(({ parentSpanId, links }) => [parentSpanId ?? '', ...links]));
    const admissions = named(spans, 'admission');
    const isCovered = ({ spanId }: ReceivedSpan) =>
      covered.has(spanId) || admissions.some((admission) => admission.parentSpanId === spanId && covered.has(admission.spanId));
    expect(requests.filter((request) => !isCovered(request))).toEqual([]);
    // Each page was read once, in the trace of its own request.
    const reads = spans.filter(({ name }) => name.startsWith('postgres') && name.includes('pets'));
    expect(new Set(reads.map(({ traceId }) => traceId)).size).toBe(reads.length);
  });
});

test('Requests that fall through from the fast path after a shared decision have their statements in their own traces', async () => {
  const spans = await spansOf(async (store, key) => {
    const read = () => Promise.all(Array.from({ length: 10 }, (_, i) => store.call('GET', `/v1/pets?limit=${10 + i}`, { key: key.key })));
    await read();
    // Every cached page has changed.
    await addPet(store, key);
    await read();
  });
  const shared = spans.filter(({ name, attributes }) => name === 'redis consume' && Number(attributes['db.operation.batch.size']) > 1);
  expect(shared.length).toBeGreaterThan(0);
  const requests = new Map(named(spans, 'GET /v1/pets').map(({ traceId, startMs }) => [traceId, startMs]));
  expect(requests.size).toBe(20);
  const reads = spans.filter(({ name }) => /^postgres .*(pets|page)/.test(name));
  const byTrace = Map.groupBy(
    reads.filter(({ traceId }) => requests.has(traceId)),
    ({ traceId }) => traceId,
  );
  expect([...byTrace.values()].filter(({ length }) => length !== 1)).toEqual([]);
  expect(byTrace.size).toBe(20);
});

describe('Sampling', () => {
  test('by ratio traces no request at 0', async () => {
    const env = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0', OTEL_SERVICE_NAME: 'store' };
    const headers = { [traceparent]: `00-${parent.traceId}-${parent.spanId}-01` };
    const spans = await spansOf(async (store, { key }) => {
      for (let i = 0; i < 5; i += 1) await store.call('GET', `/v1/pets?limit=${i + 1}`, { key, headers });
    }, env);
    expect(spans).toEqual([]);
  });

  test('by callers is bounded: beyond that, requests are served without a trace', async () => {
    const env = { OTEL_TRACES_SAMPLER: 'parentbased_always_off' };
    const headers = { [traceparent]: `00-${parent.traceId}-${parent.spanId}-01` };
    let startedAtMs = 0;
    let endedAtMs = 0;
    const spans = await spansOf(async (store, { key }) => {
      await store.call('GET', '/v1/pets', { key });
      startedAtMs = performance.now();
      const responses = await Promise.all(Array.from({ length: 600 }, () => store.call('GET', '/v1/pets', { key, headers })));
      endedAtMs = performance.now();
      expect(responses.filter(({ status }) => status !== 200)).toEqual([]);
    }, env);
    const seconds = Math.ceil((endedAtMs - startedAtMs) / 1_000) + 1;
    const traced = named(spans, 'GET /v1/pets').length;
    expect(traced).toBeGreaterThan(0);
    expect(traced).toBeLessThanOrEqual(seconds * 100);
  });
});

test('A receiver that fails does not disturb requests, nor the end of the process', async () => {
  receiver.status = 500;
  const before = receiver.exports;
  const startedAtMs = { close: 0 };
  await spansOf(async (store, { key }) => {
    expect((await store.call('GET', '/v1/pets', { key })).status).toBe(200);
    startedAtMs.close = performance.now();
  });
  expect(receiver.exports).toBeGreaterThan(before);
  // The exporter's own retries would take 13 s.
  expect(performance.now() - startedAtMs.close).toBeLessThan(12_000);
  receiver.status = 200;
});

test('A webhook carries the trace of its sending, and the span says how it went', async () => {
  await using partner = await WebhookReceiver.open();
  const spans = await spansOf(
    async ({ dependencies: { tracing } }) => {
      if (!tracing) throw new Error('tracing is off');
      const inner = new SafeSender({ toLoopback: true });
      const sender = tracedSender(inner, tracing);
      const message = { url: `${partner.url}/secret-path`, headers: { 'webhook-id': 'evt_1' }, body: '{}' };
      await sender.send(message);
      partner.respond = () => ({ status: 500 });
      await sender.send(message);
      await inner.close();
    },
    { HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' },
  );
  const [first, second] = named(spans, 'POST webhook');
  expect(first).toMatchObject({ kind: 3, status: 0, attributes: { 'homeward.event_id': 'evt_1', 'http.response.status_code': 204 } });
  expect(second).toMatchObject({ status: 2, attributes: { 'http.response.status_code': 500 } });
  expect(partner.received.map(({ headers }) => headers[traceparent])).toEqual([
    `00-${first?.traceId}-${first?.spanId}-01`,
    `00-${second?.traceId}-${second?.spanId}-01`,
  ]);
  expect(JSON.stringify(spans)).not.toContain('secret-path');
});
