// Two clients over every operation that names an object: another's answers exactly as if it weren't there.
import { adopter, generous } from './adopters.ts';
import { type Answer, HttpClient } from './http.ts';
import { plantMutant } from './mutant.ts';
import type { Claim, Proof, ProofContext } from './proof.ts';
import { Staff } from './staff.ts';
import { type Key, Store } from './store.ts';

/** Every operation with an id in its path. A client's own objects are in the matrix; the catalogue is everybody's. */
const operations: Record<string, { owned: boolean; body?: unknown }> = {
  'get /pets/{petId}': { owned: false },
  'patch /pets/{petId}': { owned: false },
  'delete /pets/{petId}': { owned: false },
  'put /categories/{categoryId}': { owned: false },
  'delete /categories/{categoryId}': { owned: false },
  'get /store/orders/{orderId}': { owned: true },
  'post /store/orders/{orderId}/approve': { owned: true },
  'post /store/orders/{orderId}/complete': { owned: true },
  'post /store/orders/{orderId}/cancel': { owned: true },
  'post /store/orders/{orderId}/return': { owned: true },
  'get /webhooks/{webhookId}': { owned: true },
  'patch /webhooks/{webhookId}': { owned: true, body: { status: 'disabled' } },
  'delete /webhooks/{webhookId}': { owned: true },
  'post /webhooks/{webhookId}/rotate-secret': { owned: true },
  'post /webhooks/{webhookId}/test': { owned: true },
  'get /webhooks/{webhookId}/deliveries': { owned: true },
  'get /webhooks/{webhookId}/deliveries/{deliveryId}': { owned: true },
  'post /webhooks/{webhookId}/replay': { owned: true, body: { failed: true } },
};
/** Of orders, endpoints and deliveries alike. */
const ids = [1, 2, 3];
const endpointHost = 'owner.example.org';
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

export const isolation: Proof = {
  name: 'isolation',
  promise: "another client's object answers like one that does not exist",
  hasMutant: true,
  run,
};

async function run({ mutant }: ProofContext): Promise<Claim[]> {
  using tree = mutant
    ? plantMutant([
        {
          file: 'orders/order-queries.ts',
          from: 'from orders where id = $1 and ($2::bigint is null or client_id = $2)`,',
          to: 'from orders where id = $1 and ($2::bigint is null or client_id <> 0)`,',
        },
      ])
    : undefined;
  await using store = await Store.open({ processes: 1, root: tree?.root, env: { LOG_LEVEL: 'warn' } });
  await using staff = await Staff.of(store);
  using http = new HttpClient();
  const url = store.processes[0]?.url ?? '';
  const [owner] = await staff.createKeys('owner', generous, 1);
  const [stranger] = await staff.createKeys('stranger', generous, 1);
  if (!owner || !stranger) throw new Error('no keys');

  const absent = await askForAll(http, url, stranger);
  const absentLists = await listsOf(http, url, stranger);
  await placeOrders(http, url, owner);
  await addEndpoints(http, url, owner);
  const foreign = await askForAll(http, url, stranger);
  const foreignLists = await listsOf(http, url, stranger);
  const own = await http.send(`${url}/store/orders/1`, { key: owner.key });
  const ownDelivery = await http.send(`${url}/webhooks/1/deliveries/1`, { key: owner.key });

  const differing = [...absent].filter(([what, answer]) => foreign.get(what) !== answer).map(([what]) => what);
  const leaking = [...foreign.values(), ...foreignLists].filter(
    (answer) => answer.includes(adopter.email) || answer.includes(endpointHost),
  );
  const missing = await operationsNotListed(http, url);
  return [
    {
      claim: 'Operations that name an object and are not in the matrix',
      bar: 'none',
      figure: missing.join(', ') || 'none',
      holds: missing.length === 0,
    },
    {
      claim:
        "Requests for another client's order, endpoint or delivery (every operation, every method) that answer differently from the same id absent",
      bar: '0',
      figure: `${differing.length} of ${absent.size}${differing.length > 0 ? ` (${differing.slice(0, 3).join(', ')})` : ''}`,
      holds: differing.length === 0 && own.status === 200 && ownDelivery.status === 200,
    },
    {
      claim: "Answers to a stranger that hold an adopter's data or an endpoint's address",
      bar: '0',
      figure: String(leaking.length),
      holds: leaking.length === 0 && own.text.includes(adopter.email),
    },
    {
      claim: 'Lists, with every filter, in which another client’s order or endpoint shows',
      bar: '0',
      figure: `${foreignLists.filter((answer, i) => answer !== absentLists[i]).length} of ${foreignLists.length}`,
      holds: foreignLists.join() === absentLists.join(),
    },
  ];
}

/** Every operation and every other method on its path, for each id, as one comparable text. */
async function askForAll(http: HttpClient, url: string, key: Key): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  const paths = new Set(
    Object.entries(operations)
      .filter(([, { owned }]) => owned)
      .map(([operation]) => operation.split(' ')[1] ?? ''),
  );
  for (const path of paths) {
    for (const method of methods) {
      const body = operations[`${method.toLowerCase()} ${path}`]?.body;
      for (const id of ids) {
        const answer = await http.send(url + path.replaceAll(/\{\w+\}/g, String(id)), { method, key: key.key, body });
        answers.set(`${method} ${path} ${id}`, comparable(answer));
      }
    }
  }
  return answers;
}

async function listsOf(http: HttpClient, url: string, key: Key): Promise<string[]> {
  const queries = ['', '?status=placed', '?status=cancelled', '?petId=1', '?petId=2&status=placed', '?limit=1'];
  const lists = [...queries.map((query) => `/store/orders${query}`), '/webhooks', '/webhooks?limit=1'];
  return Promise.all(lists.map(async (list) => comparable(await http.send(url + list, { key: key.key }))));
}

async function placeOrders(http: HttpClient, url: string, key: Key): Promise<void> {
  for (const id of ids) {
    await http.send(`${url}/pets`, { method: 'POST', key: key.key, body: { name: 'Biscuit', categoryId: 1 } });
    const placed = await http.send(`${url}/store/orders`, { method: 'POST', key: key.key, body: { petId: id, adopter } });
    if (placed.status !== 201) throw new Error(`an order was not placed: ${placed.text}`);
  }
  await http.send(`${url}/store/orders/2/cancel`, { method: 'POST', key: key.key });
}

async function addEndpoints(http: HttpClient, url: string, key: Key): Promise<void> {
  for (const id of ids) {
    await http.send(`${url}/webhooks`, { method: 'POST', key: key.key, body: { url: `https://${endpointHost}/hooks` } });
    const queued = await http.send(`${url}/webhooks/${id}/test`, { method: 'POST', key: key.key });
    if (queued.status !== 202) throw new Error(`no delivery was queued: ${queued.text}`);
  }
}

/** All of an answer but what differs between any two. */
function comparable({ status, headers, text }: Answer): string {
  const kept = Object.entries(headers).filter(([name]) => !/^(date|x-request-id|ratelimit.*|x-ratelimit-.*)$/.test(name));
  return JSON.stringify([status, kept.sort(), text]);
}

async function operationsNotListed(http: HttpClient, url: string): Promise<string[]> {
  const document = JSON.parse((await http.send(url.replace('/v1', '/openapi.json'))).text) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const found = Object.entries(document.paths).flatMap(([path, item]) => Object.keys(item).map((method) => `${method} ${path}`));
  return found.filter((operation) => operation.includes('{') && !(operation in operations));
}
