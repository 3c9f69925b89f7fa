// Shelter × operation: what keys of two shelters, a partner, a stranger and the store read and change of the shelters' animals, orders and applications.
import { defaultScopes, type Scope } from '../../service/src/domain/scopes.ts';
import { adopterOf, generous } from '../../testkit/adopters.ts';
import type { HttpClient } from '../../testkit/http.ts';
import type { Staff } from '../../testkit/staff.ts';
import type { Key } from '../../testkit/store.ts';
import { type Adoption, addEndpoint, readAll, submitApplication, typesQueued, untilPublished } from './isolation-feed.ts';

type Name = 'its shelter' | 'the other shelter' | 'the partner' | 'a stranger' | 'the store';
type Callers = Readonly<Record<Name, Key>>;

interface Row {
  readonly method: string;
  /** {order}, {application} and {pet} are of the shelter {shelter}; {owned} was added by the partner, without a shelter. */
  readonly path: string;
  readonly body?: unknown;
  /** Done by the store before each call, so that the call is possible. */
  readonly before?: readonly string[];
  readonly statuses: Readonly<Record<Name, number>>;
}

const statuses = (own: number, other: number, partner: number, stranger: number, store: number): Row['statuses'] => ({
  'its shelter': own,
  'the other shelter': other,
  'the partner': partner,
  'a stranger': stranger,
  'the store': store,
});

const action = (name: string, before: readonly string[], expected: Row['statuses']): Row => ({
  method: 'POST',
  path: `/store/orders/{order}/${name}`,
  before,
  statuses: expected,
});

/** Each call is made for an order of the partner, for an animal of the shelter; both are new. */
const orderRows: readonly Row[] = [
  { method: 'GET', path: '/store/orders/{order}', statuses: statuses(200, 404, 200, 404, 200) },
  action('approve', [], statuses(200, 404, 403, 403, 200)),
  action('complete', ['approve'], statuses(200, 404, 403, 403, 200)),
  action('return', ['approve', 'complete'], statuses(200, 404, 403, 403, 200)),
  action('cancel', [], statuses(200, 404, 200, 404, 200)),
];

const applicationAction = (name: string, expected: Row['statuses'], body?: unknown): Row => ({
  method: 'POST',
  path: `/applications/{application}/${name}`,
  before: ['cancel'],
  body,
  statuses: expected,
});

/** The same for an application of the partner for this animal, with a note. */
const applicationRows: readonly Row[] = [
  { method: 'GET', path: '/applications/{application}', statuses: statuses(200, 404, 200, 404, 200) },
  { method: 'PATCH', path: '/applications/{application}', body: { note: 'Ours.' }, statuses: statuses(200, 404, 403, 403, 200) },
  applicationAction('review', statuses(200, 404, 403, 403, 200)),
  applicationAction('accept', statuses(200, 404, 403, 403, 200)),
  applicationAction('decline', statuses(200, 404, 403, 403, 200), {}),
  // It is open, which only those learn who see it.
  applicationAction('reopen', statuses(409, 404, 403, 403, 409)),
  applicationAction('withdraw', statuses(200, 404, 200, 404, 200)),
];

const petRows: readonly Row[] = [
  { method: 'PATCH', path: '/pets/{pet}', body: { name: 'Renamed' }, statuses: statuses(200, 403, 403, 403, 200) },
  { method: 'DELETE', path: '/pets/{pet}', before: ['cancel'], statuses: statuses(204, 403, 403, 403, 204) },
  { method: 'PUT', path: '/pets/{pet}/shelter', body: { shelterId: 1 }, statuses: statuses(403, 403, 403, 403, 200) },
];

/** What its client may do with an animal that it has added without a shelter, and not others; and what stays with staff. */
const ownedRows: readonly Row[] = [
  { method: 'PUT', path: '/pets/{owned}/profile', body: {}, statuses: statuses(403, 403, 200, 403, 200) },
  { method: 'PATCH', path: '/pets/{owned}/profile', body: {}, statuses: statuses(403, 403, 200, 403, 200) },
  { method: 'PATCH', path: '/pets/{owned}/photos/4711', body: { alt: 'A' }, statuses: statuses(403, 403, 404, 403, 404) },
  { method: 'DELETE', path: '/pets/{owned}/photos/4711', statuses: statuses(403, 403, 404, 403, 404) },
  { method: 'PATCH', path: '/pets/{owned}', body: { name: 'Renamed' }, statuses: statuses(403, 403, 200, 403, 200) },
  { method: 'PATCH', path: '/pets/{owned}', body: { status: 'sold' }, statuses: statuses(403, 403, 403, 403, 200) },
  { method: 'DELETE', path: '/pets/{owned}', statuses: statuses(403, 403, 204, 403, 204) },
  { method: 'PUT', path: '/pets/{owned}/shelter', body: { shelterId: 1 }, statuses: statuses(403, 403, 403, 403, 200) },
];

const shelterRows: readonly Row[] = [
  { method: 'PATCH', path: '/shelters/{shelter}', body: { phone: null }, statuses: statuses(200, 403, 403, 403, 200) },
  { method: 'PUT', path: '/shelters/{shelter}/questions', body: { questions: [] }, statuses: statuses(200, 403, 403, 403, 200) },
];
/** What only the shelter's staff and the store's may change, and the client of an animal. */
const staffRows = [...petRows, ...ownedRows, ...shelterRows];

export interface ShelterFindings {
  readonly cells: number;
  readonly rejected: number;
  readonly wrong: readonly string[];
  readonly wrongOnApplications: readonly string[];
  readonly wrongOnAnimals: readonly string[];
}

export async function callAcrossShelters(http: HttpClient, url: string, staff: Staff): Promise<ShelterFindings> {
  const { callers, shelterId } = await callersOf(staff, http, url);
  const names = Object.keys(callers) as Name[];
  const found = { cells: 0, rejected: 0, wrong: [] as string[], wrongOnApplications: [] as string[], wrongOnAnimals: [] as string[] };
  for (const row of [...orderRows, ...applicationRows, ...staffRows]) {
    for (const name of names) {
      const made: { petId: number; id?: number; applicationId?: number } = row.path.includes('{owned}')
        ? { petId: (await addTo(http, url, callers['the partner'])).id }
        : await makeOrder(http, url, callers, row.before ?? []);
      const { petId, ...others } = made;
      const ids: Record<string, unknown> = { ...namesOf(others), pet: petId, owned: petId, shelter: shelterId };
      const path = row.path.replace(/\{(\w+)\}/, (_, name) => String(ids[name]));
      const { status, text } = await http.send(url + path, { method: row.method, key: callers[name].key, body: row.body });
      found.cells += 1;
      if (row.statuses[name] >= 400) found.rejected += 1;
      const leaks = [
        ...(row.statuses[name] >= 400 && text.includes(adopterOf(made.petId).email) ? ['the adopter'] : []),
        ...(!isStaff(name) && text.includes(note) ? ["the staff's note"] : []),
      ];
      if (status === row.statuses[name] && leaks.length === 0) continue;
      const list = applicationRows.includes(row) ? found.wrongOnApplications : staffRows.includes(row) ? found.wrongOnAnimals : found.wrong;
      list.push(
        `${row.method} ${row.path} by ${name}: ${status}, not ${row.statuses[name]}${leaks.map((leak) => `, with ${leak}`).join('')}`,
      );
    }
  }
  const lists = await wrongLists(http, url, callers);
  found.wrong.push(...lists.ofOrders);
  found.wrongOnApplications.push(...lists.ofApplications);
  return { ...found, cells: found.cells + names.length };
}

const namesOf = ({ id, applicationId }: { id?: number; applicationId?: number }) => ({ order: id, application: applicationId });

const note = 'Only staff read this.';
const isStaff = (name: string) => name === 'its shelter' || name === 'the store';

/** The lists, with every filter, have an order and an application of the shelter for those that may see them, and for nobody else. */
async function wrongLists(
  http: HttpClient,
  url: string,
  callers: Callers,
): Promise<{ ofOrders: readonly string[]; ofApplications: readonly string[] }> {
  const { id, applicationId, petId, shelterId } = await makeOrder(http, url, callers, []);
  const wrong = { ofOrders: [] as string[], ofApplications: [] as string[] };
  for (const [name, { key }] of Object.entries(callers)) {
    const isShown = name !== 'the other shelter' && name !== 'a stranger';
    for (const query of [`petId=${petId}`, `petId=${petId}&status=placed`]) {
      const { text } = await http.send(`${url}/store/orders?${query}`, { key });
      const ids = (JSON.parse(text) as Array<{ id: number }>).map((order) => order.id);
      if (ids.includes(id) !== isShown) wrong.ofOrders.push(`GET /store/orders?${query} by ${name}: ${text.slice(0, 80)}`);
    }
    const filters = [`petId=${petId}`, `shelterId=${shelterId}&limit=100`, `petId=${petId}&shelterId=${shelterId}`, 'limit=100'];
    for (const query of filters.flatMap((filter) => [filter, `${filter}&status=submitted`])) {
      const { text } = await http.send(`${url}/applications?${query}`, { key });
      const ids = (JSON.parse(text) as Array<{ id: number }>).map((application) => application.id);
      // The store sees those of earlier callers too, which fill more than a page.
      const isBeyond = name === 'the store' && query.startsWith('limit');
      const isWrong = (ids.includes(applicationId) !== isShown && !isBeyond) || (!isStaff(name) && text.includes(note));
      if (isWrong) wrong.ofApplications.push(`GET /applications?${query} by ${name}: ${text.slice(0, 80)}`);
    }
  }
  return wrong;
}

/** What reaches each of them of the events of two orders, each with an application: one at each shelter. A worker publishes. */
export async function readAcrossShelters(
  http: HttpClient,
  url: string,
  staff: Staff,
): Promise<{ leaks: readonly string[]; events: number; expected: number }> {
  const { callers } = await callersOf(staff, http, url);
  const { 'its shelter': one, 'the other shelter': other, 'the partner': partner, 'a stranger': stranger } = callers;
  const endpoints = new Map<Key, number>();
  for (const key of [one, other, stranger]) endpoints.set(key, await addEndpoint(http, url, key));
  const [first, second] = [await makeOrder(http, url, callers, []), await orderAt(http, url, other, partner)];
  await untilPublished(http, url, partner, first.id);
  await untilPublished(http, url, partner, second.id);
  const readers = [
    { name: 'its shelter', key: one, adoptions: [first] },
    { name: 'the other shelter', key: other, adoptions: [second] },
    { name: 'the partner', key: partner, adoptions: [first, second] },
    { name: 'a stranger', key: stranger, adoptions: [] },
  ];
  const found = await readAll(http, url, readers, async () => ({
    ...(await makeOrder(http, url, callers, [])),
    visibleTo: readers.filter(({ name }) => name === 'its shelter' || name === 'the partner'),
  }));
  // Everyone gets two events of each of the three animals; the shelters also one of each of their orders and applications.
  const countOf = async (key: Key, countMin: number) =>
    (await typesQueued(http, url, key, endpoints.get(key) ?? 0, countMin)).filter((type) => !type.startsWith('pet.')).length;
  const queued = { one: await countOf(one, 10), other: await countOf(other, 8), stranger: await countOf(stranger, 6) };
  const wrongQueues = queued.one === 4 && queued.other === 2 && queued.stranger === 0 ? [] : [`queued: ${JSON.stringify(queued)}`];
  return { leaks: [...found.leaks, ...wrongQueues], events: found.events, expected: found.own };
}

/** Each time new shelters and clients: no earlier order is theirs. */
async function callersOf(staff: Staff, http: HttpClient, url: string): Promise<{ callers: Callers; shelterId: bigint }> {
  rounds += 1;
  const keyOf = (client: string, scopes: readonly Scope[], shelterId: bigint | null = null) =>
    staff.createKey(`${client} ${rounds}`, generous, scopes, shelterId);
  const store = await keyOf('the store', [...defaultScopes, 'store:manage']);
  const addShelter = async () => {
    const { status, text } = await http.send(`${url}/shelters`, { method: 'POST', key: store.key, body: { name: 'Shelter' } });
    if (status !== 201) throw new Error(`no shelter was added: ${text}`);
    return BigInt((JSON.parse(text) as { id: number }).id);
  };
  const shelterId = await addShelter();
  const callers = {
    'its shelter': await keyOf('a shelter', [...defaultScopes, 'shelter:manage'], shelterId),
    'the other shelter': await keyOf('another shelter', [...defaultScopes, 'shelter:manage'], await addShelter()),
    'the partner': await keyOf('a partner', defaultScopes),
    'a stranger': await keyOf('a stranger', defaultScopes),
    'the store': store,
  };
  return { callers, shelterId };
}
let rounds = 0;

const makeOrder = async (http: HttpClient, url: string, callers: Callers, before: readonly string[]) => {
  const made = await orderAt(http, url, callers['its shelter'], callers['the partner']);
  for (const one of before) {
    const { status, text } = await http.send(`${url}/store/orders/${made.id}/${one}`, { method: 'POST', key: callers['the store'].key });
    if (status !== 200) throw new Error(`an order could not be prepared: ${text}`);
  }
  return made;
};

/** An application, with a note of the shelter, and an order of the partner for a new animal of a shelter. */
async function orderAt(http: HttpClient, url: string, shelter: Key, partner: Key): Promise<Adoption & { shelterId: number }> {
  const { id: petId } = await addTo(http, url, shelter);
  const body = { petId, adopter: adopterOf(petId) };
  const { id: applicationId, shelterId } = await submitApplication(http, url, partner, body);
  const noted = await http.send(`${url}/applications/${applicationId}`, { method: 'PATCH', key: shelter.key, body: { note } });
  if (noted.status !== 200) throw new Error(`a note was not set: ${noted.text}`);
  const placed = await http.send(`${url}/store/orders`, { method: 'POST', key: partner.key, body });
  if (placed.status !== 201) throw new Error(`an order was not placed: ${placed.text}`);
  return { id: (JSON.parse(placed.text) as { id: number }).id, petId, applicationId, shelterId };
}

async function addTo(http: HttpClient, url: string, { key }: Key): Promise<{ id: number }> {
  const { text } = await http.send(`${url}/pets`, { method: 'POST', key, body: { name: 'Biscuit', categoryId: 1 } });
  return JSON.parse(text) as { id: number };
}
