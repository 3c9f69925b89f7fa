// Partners' requests while a store is upgraded and rolled back, by HAProxy with TLS. Until SIGTERM; then it looks for what was lost.
//   node load.ts URL CERTIFICATE KEY PER-SECOND      prints a line of JSON
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from '../../testkit/http.ts';
import { quantile } from '../../testkit/quantile.ts';
import { SteadyLoad } from '../../testkit/steady-load.ts';

const [, , url = '', certificate = '', key = '', perSecond = ''] = process.argv;
const agent = new Agent({ keepAlive: true, maxSockets: 64, ca: readFileSync(certificate) });
const timeoutMs = 30_000;
const feedTimeoutMs = 30_000;
const idsMax = 100;
const lookUpsMax = 20;

const animals: number[] = [];
const orders: number[] = [];
let toOrder = 0;

const load = new SteadyLoad(Number(perSecond), send);
await once(process, 'SIGTERM');
const samples = await load.stop();
const kinds = new Map<string, number>();
for (const { response } of samples) {
  if (response?.status === 200 || response?.status === 201) continue;
  const kind = `${response?.status} ${response?.text.slice(0, 80)}`;
  kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
}
const summary = {
  sent: samples.length,
  failed: [...kinds.values()].reduce((sum, count) => sum + count, 0),
  kinds: Object.fromEntries(kinds),
  slowestOfHundredMs: Math.round(
    quantile(
      samples.map(({ tookMs }) => tookMs),
      0.99,
    ),
  ),
  animals: animals.length,
  orders: orders.length,
  lostAnimals: await countLost(animals, findAnimals),
  lostOrders: await countLost(orders, findOrders),
  lostEvents: await countLostEvents(),
};
console.log(JSON.stringify(summary));
agent.destroy();

/** Of ten requests three write, one of them with a key for retries. Nothing is sent twice. */
async function send(index: number): Promise<Response> {
  const body = { name: `Added ${index}`, categoryId: 1 + (index % 10) };
  switch (index % 10) {
    case 0:
      return add(body, {});
    case 3:
      return add(body, { 'idempotency-key': randomUUID() });
    case 6: {
      const petId = animals[toOrder];
      if (petId === undefined) break;
      toOrder += 1;
      const adopter = { name: 'Ada Lovelace', email: `adopter-${index}@example.org` };
      const placed = await call('POST', '/v1/store/orders', { petId, adopter });
      if (placed.status === 201) orders.push((JSON.parse(placed.text) as { id: number }).id);
      return placed;
    }
    case 8:
      return call('GET', '/v1/events?cursor=latest');
  }
  return call('GET', `/v1/pets?limit=20&categoryId=${1 + (index % 7)}`);
}

async function add(body: object, headers: Readonly<Record<string, string>>): Promise<Response> {
  const added = await call('POST', '/v1/pets', body, headers);
  if (added.status === 201) animals.push((JSON.parse(added.text) as { id: number }).id);
  return added;
}

async function countLost(ids: readonly number[], findThese: (ids: readonly number[]) => Promise<ReadonlySet<number>>): Promise<number> {
  let lost = 0;
  for (let from = 0; from < ids.length; from += idsMax) {
    const some = ids.slice(from, from + idsMax);
    const found = await findThese(some);
    lost += some.filter((id) => !found.has(id)).length;
  }
  return lost;
}

async function findAnimals(ids: readonly number[]): Promise<ReadonlySet<number>> {
  const { text } = await lookUp(`/v1/pets?limit=${idsMax}&${ids.map((id) => `id=${id}`).join('&')}`);
  return new Set((JSON.parse(text) as Array<{ id: number }>).map(({ id }) => id));
}

async function findOrders(ids: readonly number[]): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  for (const id of ids) if ((await lookUp(`/v1/store/orders/${id}`)).status === 200) found.add(id);
  return found;
}

/** What was lost is 404. Anything else than 200, such as 503 on a busy machine, says nothing of it, and is asked again. */
async function lookUp(path: string): Promise<Response> {
  for (let left = lookUpsMax; ; left -= 1) {
    const found = await call('GET', path);
    if (found.status === 200 || found.status === 404) return found;
    if (left === 1) throw new Error(`GET ${path}: ${found.status} ${found.text}`);
    await sleep(500);
  }
}

/** Each animal and each order must be in the feed once. */
async function countLostEvents(): Promise<number> {
  const seen = new Set<string>();
  const isSeen = () => animals.every((id) => seen.has(`pet.created ${id}`)) && orders.every((id) => seen.has(`order.placed ${id}`));
  let twice = 0;
  let path = '/v1/events?limit=100';
  for (const deadlineMs = performance.now() + feedTimeoutMs; !isSeen() && performance.now() < deadlineMs; ) {
    const page = await call('GET', path);
    const events = page.status === 200 ? (JSON.parse(page.text) as FeedEvent[]) : [];
    for (const { type, data } of events) {
      const subject = `${type} ${(data.order ?? data.pet)?.id}`;
      if (seen.has(subject) && /created|placed/.test(type)) twice += 1;
      seen.add(subject);
    }
    if (events.length === 0) await sleep(200);
    path = /<([^>]+)>; rel="next"/.exec(String(page.headers.link))?.[1] ?? path;
  }
  const missing = (type: string, ids: readonly number[]) => ids.filter((id) => !seen.has(`${type} ${id}`)).length;
  return twice + missing('pet.created', animals) + missing('order.placed', orders);
}

interface FeedEvent {
  readonly type: string;
  readonly data: { readonly pet?: { readonly id: number }; readonly order?: { readonly id: number } };
}

/** Never rejects: the reason is shown with the claim. */
async function call(method: string, path: string, body?: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const payload = body && JSON.stringify(body);
  return new Promise((resolve) => {
    const fail = (error: Error) => resolve({ status: 0, headers: {}, text: String(error) });
    const all = { authorization: `Bearer ${key}`, ...(payload && { 'content-type': 'application/json' }), ...headers };
    const outgoing = request(`${url}${path}`, { agent, method, headers: all, timeout: timeoutMs }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => (text += part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      response.on('error', fail);
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no response in ${timeoutMs} ms`)));
    outgoing.on('error', fail);
    outgoing.end(payload);
  });
}
