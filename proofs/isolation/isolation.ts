// Every kind of caller calls every operation, a client calls every operation on another client's objects, and clients read the feed.
import type { Scope } from '../../service/src/domain/scopes.ts';
import { adopter, generous } from '../../testkit/adopters.ts';
import { HttpClient, type Response } from '../../testkit/http.ts';
import { type ApiPaths, differencesFrom, matrix, unusedOrigin } from '../../testkit/isolation-matrix.ts';
import { Staff } from '../../testkit/staff.ts';
import { type Key, Store } from '../../testkit/store.ts';
import { none } from '../claims.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { callAll, callersOf } from './isolation-callers.ts';
import { addEndpoint, adopt, type Reader, readAll, submitApplication, typesQueued, untilPublished } from './isolation-feed.ts';
import { callAcrossShelters, readAcrossShelters } from './isolation-shelters.ts';
import { sendToEndpoints } from './isolation-webhooks.ts';

/** The ids of orders, of applications and of endpoints. */
const ids = [1, 2, 3];
/** The id of the test of each of these endpoints. Tests have ids above all events'. */
const testIdOf = (id: number) => 2_000_000_000_000_000 + id - 1;
const endpointPath = '/hooks-of-the-owner';
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

export const isolation: Proof = {
  name: 'isolation',
  promise:
    "a key can do only what its scopes allow, and another client's object, or another shelter's order or application, looks like one that does not exist",
  /**
   * In the mutant any client finds any order, and any shelter any application; one operation requires no scope, the feed shows every order to everyone, what waits for an
   * endpoint is sent whatever its key may read, and a key that manages one shelter manages the animals of all.
   */
  mutant: [
    {
      file: 'adoption/orders/order-queries.ts',
      from: "isVisible('$2', '$3', '$4')",
      to: "'($2::boolean or client_id <> 0 or $3::bigint = $4::bigint)'",
    },
    {
      file: 'animals/categories/category-routes.ts',
      from: "scope: 'store:manage',\n      operationId: 'putCategory',",
      to: "operationId: 'putCategory',",
    },
    {
      file: 'adoption/applications/application-queries.ts',
      from: '($3::boolean or shelter_id = $4::bigint)',
      to: '($3::boolean or $4::bigint is not null)',
    },
    { file: 'changes/events/events.ts', from: '&& isVisible(event, orders)', to: '&& (isVisible(event, orders) || true)' },
    { file: 'changes/delivery/sending-queries.ts', from: 'when not ((types', to: 'when false and not ((types' },
    { file: 'access/admission/access.ts', from: 'isOwnShelter = key.shelterId === shelterId', to: 'isOwnShelter = shelterId !== 0n' },
  ],
  run,
};

async function run({ mutant, root, progress }: ProofContext): Promise<Claim[]> {
  await using store = await Store.open({
    processes: 1,
    root,
    env: { LOG_LEVEL: 'warn', HOMEWARD_TRUSTED_PROXIES: '127.0.0.1', HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' },
  });
  await using staff = await Staff.of(store);
  using http = new HttpClient();
  const url = store.processes[0]?.url ?? '';
  const claims = [
    ...(await compareWithAbsent(http, url, staff, progress)),
    ...(await callEverything(http, url, staff, progress)),
    ...(await checkEndpoints(http, url, staff, store, progress)),
    ...(await readFeeds(http, url, staff, store, progress)),
    ...(await checkShelters(http, url, staff, progress)),
  ];
  if (!mutant) return claims.map(({ catches: _, ...claim }) => claim);
  // Each of the mutant's edits must break a claim with `catches`. If one of those holds, return only that: the proof then fails as a
  // mutant run.
  const blind = claims.filter(({ catches, holds }) => catches && holds);
  return blind.length > 0 ? blind : claims;
}

/** `catches`: one of the mutant's edits must break this claim. */
type CatchingClaim = Claim & { readonly catches?: boolean };
const caught = (claim: Claim): CatchingClaim => ({ ...claim, catches: true });

async function compareWithAbsent(http: HttpClient, url: string, staff: Staff, progress: (text: string) => void): Promise<CatchingClaim[]> {
  const [owner, stranger] = [await keyOf(staff, 'owner'), await keyOf(staff, 'stranger')];
  progress("another client's objects");
  const absent = await requestAll(http, url, stranger);
  const absentLists = await listsOf(http, url, stranger);
  await submitAndPlace(http, url, owner);
  await addEndpoints(http, url, owner);
  const foreign = await requestAll(http, url, stranger);
  const foreignLists = await listsOf(http, url, stranger);
  const own = await http.send(`${url}/store/orders/1`, { key: owner.key });
  const ownApplication = await http.send(`${url}/applications/1`, { key: owner.key });
  const ownDelivery = await http.send(`${url}/webhooks/1/deliveries/${testIdOf(1)}`, { key: owner.key });
  const differing = [...absent].filter(([what, response]) => foreign.get(what) !== response).map(([what]) => what);
  const leaking = [...foreign.values(), ...foreignLists].filter(
    (response) => response.includes(adopter.email) || response.includes(endpointPath),
  );
  return [
    caught(
      none(
        "Requests for another client's order, application, endpoint or delivery (every operation, every method) whose response differs from that for a missing id",
        differing,
        { of: absent.size, control: own.status === 200 && ownApplication.status === 200 && ownDelivery.status === 200 },
      ),
    ),
    caught(
      none("Responses to another client that contain an adopter's data or an endpoint's URL", leaking.length, {
        control: own.text.includes(adopter.email),
      }),
    ),
    none(
      "Lists, with every filter, that show another client's order, application or endpoint",
      foreignLists.filter((response, i) => response !== absentLists[i]).length,
      { of: foreignLists.length },
    ),
  ];
}

async function callEverything(http: HttpClient, url: string, staff: Staff, progress: (text: string) => void): Promise<CatchingClaim[]> {
  const document = JSON.parse((await http.send(url.replace('/v1', '/openapi.json'))).text) as ApiPaths;
  const differences = differencesFrom(document);
  const callers = await callersOf(staff, 'owner');
  progress(`${Object.keys(matrix).length} operations by ${callers.length} callers`);
  const { cells, rejected, wrong } = await callAll(http, url, callers);
  return [
    caught(
      none(
        "Operations that differ between the service's OpenAPI document and the matrix: missing in either, or with another scope",
        differences,
        { of: Object.keys(matrix).length },
      ),
    ),
    caught(
      none(
        `Requests by ${callers.length} kinds of caller, to every operation, whose acceptance or rejection differs from the matrix`,
        wrong,
        { of: cells, more: `, ${rejected} of which must be rejected for their scope`, control: rejected > 0 },
      ),
    ),
  ];
}

/** Two shelters, a partner that orders and applies for animals of both, a stranger, and the store. */
async function checkShelters(http: HttpClient, url: string, staff: Staff, progress: (text: string) => void): Promise<CatchingClaim[]> {
  progress('shelters');
  const { cells, wrong, wrongOnApplications, wrongOnAnimals, rejected } = await callAcrossShelters(http, url, staff);
  const { leaks, events, expected } = await readAcrossShelters(http, url, staff);
  return [
    caught(
      none(
        'Reads and changes of orders, with their adopters, by keys of two shelters, a partner, a stranger and the store, whose outcome is wrong',
        wrong,
        { of: cells, more: `, ${rejected} of which must be rejected`, control: rejected > 0 },
      ),
    ),
    caught(none('The same with applications, and notes of staff that reached others', wrongOnApplications)),
    caught(
      none(
        "The same with animals and shelters: a shelter's key changes no other shelter, and changes, removes and moves none of its animals",
        wrongOnAnimals,
      ),
    ),
    caught(
      none(
        'Events of orders and applications that reached a key of another shelter: in the feed, with every filter, in streams, and queued for endpoints',
        leaks,
        { of: events, more: ` events, ${expected} of them private ones that the reader may see`, control: expected > 0 },
      ),
    ),
  ];
}

/** Endpoints of every kind of key, and changes between an event and its sending. */
async function checkEndpoints(
  http: HttpClient,
  url: string,
  staff: Staff,
  store: Store,
  progress: (text: string) => void,
): Promise<CatchingClaim[]> {
  progress('events at endpoints');
  const { leaks, missing, expected, arrivals, changes } = await sendToEndpoints({ http, url, staff, store });
  return [
    none(
      "Events of any type that reached the server of an endpoint whose key lacks the scope for them, or of another client's order: sent, retried, replayed one by one, by time or after they failed",
      leaks.unchanged,
      { of: arrivals, more: ' requests' },
    ),
    caught(
      none(
        `The same after ${changes} changes while the events waited: repointed, types changed, key revoked, expired or rotated, client suspended, endpoint disabled`,
        leaks.changed,
      ),
    ),
    none('Events that such an endpoint may get and that did not arrive', missing, { of: expected }),
  ];
}

/** Three clients with webhook endpoints, two of them with orders and applications; one of these also has a key that may not read orders. */
async function readFeeds(
  http: HttpClient,
  url: string,
  staff: Staff,
  store: Store,
  progress: (text: string) => void,
): Promise<CatchingClaim[]> {
  progress('events');
  const [one, other, orderless] = [await keyOf(staff, 'one'), await keyOf(staff, 'other'), await keyOf(staff, 'none')];
  const withoutOrders = await keyOf(staff, 'one', ['pets:read', 'webhooks:manage']);
  const endpoints = new Map<Key, number>();
  for (const key of [one, withoutOrders, other, orderless]) endpoints.set(key, await addEndpoint(http, url, key));
  const [first, second] = [await adopt(http, url, one), await adopt(http, url, other)];
  const readers: Reader[] = [
    { name: 'its owner', key: one, adoptions: [first] },
    { name: "its owner's key without orders:read", key: withoutOrders, adoptions: [] },
    { name: 'another client with orders', key: other, adoptions: [second] },
    { name: 'a client without orders', key: orderless, adoptions: [] },
  ];
  store.work();
  await untilPublished(http, url, one, first.id);
  await untilPublished(http, url, other, second.id);
  const found = await readAll(http, url, readers, async () => ({ ...(await adopt(http, url, one)), visibleTo: readers.slice(0, 1) }));
  // For each of the three orders, everyone gets two events of the animal (added, pending); only its client gets one of the order and
  // one of the application.
  const [animals, own] = [6, 4];
  const queued = {
    owner: await typesQueued(http, url, one, endpoints.get(one) ?? 0, animals + own),
    others: [
      ...(await typesQueued(http, url, withoutOrders, endpoints.get(withoutOrders) ?? 0, animals)),
      ...(await typesQueued(http, url, orderless, endpoints.get(orderless) ?? 0, animals)),
    ],
  };
  const sent = queued.others.filter((type) => !type.startsWith('pet.'));
  const ownSent = queued.owner.filter((type) => !type.startsWith('pet.'));
  return [
    caught(
      none(
        "Events of an order or an application, in the feed, with every filter, and in streams, that are sent to another client or to its own client's key without orders:read",
        found.leaks,
        { of: found.events, more: ' events', control: found.own > 0 },
      ),
    ),
    none('Events of orders and applications queued for an endpoint of another client, or of a key without orders:read', sent.length, {
      of: queued.others.length,
      more: `, and ${ownSent.length} to their owner`,
      control: ownSent.length >= own,
    }),
  ];
}

const keyOf = (staff: Staff, client: string, scopes?: readonly Scope[]): Promise<Key> => staff.createKey(client, generous, scopes);

/** Sends every method to the path of every operation on an object, for each id; returns the responses as comparable text. */
async function requestAll(http: HttpClient, url: string, key: Key): Promise<Map<string, string>> {
  const responses = new Map<string, string>();
  const paths = new Set(
    Object.entries(matrix)
      .filter(([, { owned }]) => owned)
      .map(([operation]) => operation.split(' ')[1] ?? ''),
  );
  for (const path of paths) {
    for (const method of methods) {
      const body = matrix[`${method.toLowerCase()} ${path}`]?.body;
      for (const id of ids) {
        const target = path.replace('{deliveryId}', String(testIdOf(id))).replaceAll(/\{\w+\}/g, String(id));
        const response = await http.send(url + target, { method, key: key.key, body });
        responses.set(`${method} ${path} ${id}`, comparable(response));
      }
    }
  }
  return responses;
}

async function listsOf(http: HttpClient, url: string, key: Key): Promise<string[]> {
  const queries = ['', '?status=placed', '?status=cancelled', '?petId=1', '?petId=2&status=placed', '?limit=1'];
  const ofApplications = [
    '',
    '?status=submitted',
    '?status=withdrawn',
    '?petId=1',
    '?shelterId=1',
    '?shelterId=1&status=submitted',
    '?limit=1',
  ];
  const lists = [
    ...queries.map((query) => `/store/orders${query}`),
    ...ofApplications.map((query) => `/applications${query}`),
    ...['/webhooks', '/webhooks?limit=1'],
  ];
  return Promise.all(lists.map(async (list) => comparable(await http.send(url + list, { key: key.key }))));
}

async function submitAndPlace(http: HttpClient, url: string, key: Key): Promise<void> {
  for (const id of ids) {
    await http.send(`${url}/pets`, { method: 'POST', key: key.key, body: { name: 'Biscuit', categoryId: 1 } });
    await submitApplication(http, url, key, { petId: id, adopter });
    const placed = await http.send(`${url}/store/orders`, { method: 'POST', key: key.key, body: { petId: id, adopter } });
    if (placed.status !== 201) throw new Error(`an order was not placed: ${placed.text}`);
  }
  await http.send(`${url}/store/orders/2/cancel`, { method: 'POST', key: key.key });
  await http.send(`${url}/applications/2/withdraw`, { method: 'POST', key: key.key });
}

async function addEndpoints(http: HttpClient, url: string, key: Key): Promise<void> {
  for (const id of ids) {
    await http.send(`${url}/webhooks`, { method: 'POST', key: key.key, body: { url: unusedOrigin + endpointPath } });
    const queued = await http.send(`${url}/webhooks/${id}/test`, { method: 'POST', key: key.key });
    if (queued.status !== 202) throw new Error(`no delivery was queued: ${queued.text}`);
  }
}

/** A response as text, without the headers that differ between any two responses. */
function comparable({ status, headers, text }: Response): string {
  const compared = Object.entries(headers).filter(([name]) => !/^(date|x-request-id|ratelimit.*|x-ratelimit-.*)$/.test(name));
  return JSON.stringify([status, compared.sort(), text]);
}
