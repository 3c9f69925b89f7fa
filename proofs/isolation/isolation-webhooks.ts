// Events wait for endpoints; their keys, addresses and types change; then they are sent, and replayed in every way, to real receivers.

import { setTimeout as sleep } from 'node:timers/promises';
import type { NewEvent } from '../../service/src/changes/events/event-queries.ts';
import { recordEvents } from '../../service/src/changes/events/events.ts';
import { Publisher } from '../../service/src/changes/events/publisher.ts';
import { theService } from '../../service/src/domain/actor.ts';
import { type EventType, eventTypes, isPrivateEvent } from '../../service/src/domain/event-types.ts';
import { insertAnimals, queryStore } from '../../testkit/adopters.ts';
import type { HttpClient } from '../../testkit/http.ts';
import { serveLocally } from '../../testkit/local-server.ts';
import { endProcess } from '../../testkit/running-processes.ts';
import type { Staff } from '../../testkit/staff.ts';
import type { Key, Store } from '../../testkit/store.ts';
import { until } from '../../testkit/until.ts';
import {
  addSubjects,
  type Hold,
  isPermitted,
  managedShelter,
  nothing,
  otherShelter,
  type Subject,
  type ToldEvent,
  type Tools,
} from './isolation-endpoints.ts';

export interface WebhookFindings {
  /** Events that were sent to an endpoint that may not get them: without a change of its permissions, and after one. */
  readonly leaks: { readonly unchanged: readonly string[]; readonly changed: readonly string[] };
  /** Events that an endpoint must get and did not. */
  readonly missing: readonly string[];
  readonly expected: number;
  readonly arrivals: number;
  readonly changes: number;
}

interface Arrival {
  readonly path: string;
  readonly position: number;
  readonly isAccepted: boolean;
}

const timeoutMs = 20_000;
const quietMs = 1_000;
const whileFailing: Hold = 'its deliveries fail';
const whileUnverified: Hold = 'it is unverified';

export async function sendToEndpoints(parts: { store: Store; staff: Staff; http: HttpClient; url: string }): Promise<WebhookFindings> {
  const { store, staff, http, url } = parts;
  await using receiver = await openPathReceiver();
  const tools: Tools = { http, url, staff, otherUrl: ({ name }) => receiver.urlOf(name + other) };
  const ofShelters = await addSheltersWithPets(store);
  const subjects = await addSubjects(tools, (name) => receiver.urlOf(name));
  for (const { name, hold } of subjects) {
    if (hold === whileFailing) receiver.rejectsEvents.add(name);
    if (hold === whileUnverified) receiver.rejectsTests.add(name);
  }
  const clientIds = [...new Set(subjects.map(({ key }) => key.clientId))];
  const pets = await insertAnimals(store, eventTypes.length);
  const clients = await clientsIn(store, clientIds);

  const firstWorker = store.work();
  await untilVerified(store, subjects);
  await tell(staff, pets, clients, ofShelters);
  await until('deliveries have failed', () => receiver.hasRejected(subjects.filter(({ hold }) => hold === whileFailing)));
  await receiver.untilQuiet();
  await endProcess(firstWorker, 'SIGTERM');
  await failSome(store, subjects);
  await tell(staff, pets, clients, ofShelters);
  await publishAll(staff);
  const events = await eventsIn(store);

  const record = new Record(receiver, subjects, events);
  record.judge(({ before }) => before, isFirstAddress);
  for (const subject of subjects) await subject.change.apply(subject, tools);
  receiver.rejectsEvents.clear();
  receiver.rejectsTests.clear();
  const secondWorker = store.work();
  await sendAgain(parts, subjects, events);
  await record.untilArrived(store, ({ change }) => change.after);
  record.judge(({ change }) => change.after, isLastAddress);

  const resumed = new Map<Subject, Subject['before']>();
  for (const subject of subjects) {
    const permission = await subject.change.resume?.(subject, tools);
    if (permission) resumed.set(subject, permission);
  }
  await sendAgain(parts, [...resumed.keys()], events);
  await record.untilArrived(store, (subject) => resumed.get(subject) ?? nothing);
  record.judge((subject) => resumed.get(subject) ?? subject.change.after, isLastAddress);
  await endProcess(secondWorker, 'SIGTERM');
  return { ...record.findings, changes: subjects.filter(({ change }) => change.name).length };
}

/** What arrived in each stage, compared with what each endpoint may get in it. */
class Record {
  readonly #receiver: PathReceiver;
  readonly #subjects: readonly Subject[];
  readonly #events: ReadonlyMap<number, ToldEvent>;
  readonly #leaks = { unchanged: new Set<string>(), changed: new Set<string>() };
  readonly #missing = new Set<string>();
  #expected = 0;
  #from = 0;

  constructor(receiver: PathReceiver, subjects: readonly Subject[], events: readonly ToldEvent[]) {
    this.#receiver = receiver;
    this.#subjects = subjects;
    this.#events = new Map(events.map((event) => [event.position, event]));
  }

  /** Ends a stage, in which the endpoints had these permissions and addresses. */
  judge(permissionOf: (subject: Subject) => Subject['before'], isAddress: (subject: Subject, path: string) => boolean): void {
    const byName = new Map(this.#subjects.map((subject) => [subject.name, subject]));
    for (const { path, position } of this.#receiver.arrivals.slice(this.#from)) {
      const [subject, event] = [byName.get(pathOf(path)), this.#events.get(position)];
      if (!subject || !event) throw new Error(`event ${position} arrived at ${path}`);
      if (isAddress(subject, path) && isPermitted(permissionOf(subject), event, subject.key.clientId)) continue;
      const whose = event.clientId !== null && event.clientId !== subject.key.clientId ? "another client's " : '';
      const leak = `${whose}${event.type} to an endpoint ${subject.change.name || `with ${subject.before.scopes.join(' and ')}`}, while ${subject.hold}`;
      this.#leaks[subject.change.name ? 'changed' : 'unchanged'].add(leak);
    }
    this.#from = this.#receiver.arrivals.length;
  }

  /** Waits until every endpoint has got in this stage what it may get, and for what it may not get, a little longer. */
  async untilArrived(store: Store, permissionOf: (subject: Subject) => Subject['before']): Promise<void> {
    const expected = this.#subjects.flatMap((subject) =>
      [...this.#events.values()]
        .filter((event) => isPermitted(permissionOf(subject), event, subject.key.clientId))
        .map(({ position }) => `${subject.name} ${position}`),
    );
    const left = () => {
      const arrived = new Set(this.#receiver.arrivals.slice(this.#from).map(({ path, position }) => `${pathOf(path)} ${position}`));
      return expected.filter((name) => !arrived.has(name));
    };
    const deadlineMs = performance.now() + timeoutMs;
    while (left().length > 0 && performance.now() < deadlineMs) {
      await makeDueNow(store);
      await sleep(200);
    }
    await this.#receiver.untilQuiet();
    this.#expected += expected.length;
    for (const name of left()) this.#missing.add(name);
  }

  get findings(): Omit<WebhookFindings, 'changes'> {
    return {
      leaks: { unchanged: [...this.#leaks.unchanged], changed: [...this.#leaks.changed] },
      missing: [...this.#missing],
      expected: this.#expected,
      arrivals: this.#receiver.arrivals.length,
    };
  }
}

const other = '-other';
const pathOf = (path: string) => path.replace(other, '');
const isFirstAddress = ({ name }: Subject, path: string) => path === name;
const isLastAddress = ({ name, change }: Subject, path: string) => path === (change.isRepointed ? name + other : name);

/** The key that is in charge, and one that may only manage webhooks, replay a time range, what failed, and single deliveries. */
async function sendAgain(
  { http, url, store }: { http: HttpClient; url: string; store: Store },
  subjects: readonly Subject[],
  events: readonly ToldEvent[],
): Promise<void> {
  const range = { from: new Date(Date.now() - 3_600_000).toISOString(), to: new Date(Date.now() + 1_000).toISOString() };
  await until('endpoints are verified', async () => (await countUnverified(store, subjects)) === 0);
  for (const { id, key, manager } of subjects) {
    const samples = [
      events.find(({ type }) => !isPrivateEvent(type)),
      events.find(({ clientId }) => clientId === key.clientId),
      events.find(({ clientId }) => clientId !== null && clientId !== key.clientId),
      events.find(({ shelterId }) => shelterId === managedShelter),
      events.find(({ shelterId }) => shelterId === otherShelter),
    ];
    const bodies = [range, { failed: true }, ...samples.map((event) => ({ deliveryId: event?.position ?? 0 }))];
    // The manager's key is valid whatever has become of the other one. Where the endpoint is disabled, it gets an error.
    for (const body of bodies) await replay(http, `${url}/webhooks/${id}/replay`, manager, body);
  }
}

/** A client has one replay of a time range at a time. */
async function replay(http: HttpClient, url: string, { key }: Key, body: unknown): Promise<void> {
  await until('the replay has begun', async () => {
    const { text } = await http.send(url, { method: 'POST', key, body });
    return (JSON.parse(text) as { code?: string }).code !== 'replay_in_progress';
  });
}

/** HTTP servers of partners, one for each path. */
type PathReceiver = Awaited<ReturnType<typeof openPathReceiver>>;

async function openPathReceiver() {
  /** Of events; tests are not recorded. */
  const arrivals: Arrival[] = [];
  const rejectsEvents = new Set<string>();
  const rejectsTests = new Set<string>();
  let lastAtMs = performance.now();
  const server = await serveLocally((request, response) => {
    const path = (request.url ?? '').slice(1);
    const id = String(request.headers['webhook-id']);
    const isTest = id.startsWith('test_');
    const isAccepted = !(isTest ? rejectsTests : rejectsEvents).has(path);
    if (!isTest) arrivals.push({ path, position: Number(id.replace('evt_', '')), isAccepted });
    lastAtMs = performance.now();
    response.writeHead(isAccepted ? 204 : 500).end();
  });
  return {
    ...server,
    arrivals,
    rejectsEvents,
    rejectsTests,
    urlOf: (path: string) => `${server.origin}/${path}`,
    hasRejected: (subjects: readonly Subject[]) =>
      subjects.every(({ name }) => arrivals.some(({ path, isAccepted }) => path === name && !isAccepted)),
    async untilQuiet(): Promise<void> {
      const startMs = performance.now();
      while (performance.now() - Math.max(lastAtMs, startMs) < quietMs) await sleep(50);
    },
  };
}

/** An animal of each of two shelters, and a client that orders both and has no endpoint. */
interface OfShelters {
  readonly pets: readonly bigint[];
  readonly clientId: bigint;
}

async function addSheltersWithPets(store: Store): Promise<OfShelters> {
  const shelters = [managedShelter, otherShelter];
  await queryStore(store, `insert into shelters (name) select 'Shelter' from generate_series((select max(id) from shelters) + 1, $1)`, [
    Math.max(...shelters),
  ]);
  const rows = await queryStore<{ id: string }>(
    store,
    `insert into pets (name, category_id, status, shelter_id) select 'Animal', 1, 'available', id from unnest($1::bigint[]) as shelter (id)
      returning id::text`,
    [shelters],
  );
  const [client] = await queryStore<{ id: string }>(
    store,
    `insert into clients (name, plan) values ('orders at two shelters', 'pro') returning id::text`,
  );
  return { pets: rows.map(({ id }) => BigInt(id)), clientId: BigInt(client?.id ?? 0) };
}

/** Records an event of each type: of an animal, or of an order of each client; and of orders at the shelters. */
async function tell(
  { dependencies: { db } }: Staff,
  pets: readonly bigint[],
  clientIds: readonly bigint[],
  ofShelters: OfShelters,
): Promise<void> {
  const events = eventTypes.flatMap((type, i): NewEvent[] => {
    const petId = pets[i] ?? 1n;
    if (!isPrivateEvent(type)) return [{ type, petId, clientId: null, data: `{"pet":{"id":${petId}}}` }];
    const of = (clientId: bigint, ofPet = petId) => ({ type, petId: ofPet, clientId, data: `{"order":{"id":1,"petId":${ofPet}}}` });
    return [...clientIds.map((clientId) => of(clientId)), ...ofShelters.pets.map((pet) => of(ofShelters.clientId, pet))];
  });
  await db.transaction((tx) => recordEvents(tx, ...events), theService);
}

/** As a worker does; none is running. */
async function publishAll({ dependencies: { db } }: Staff): Promise<void> {
  const publisher = new Publisher({ db, batchSizeMax: 500, beforePublishing: async () => {} });
  while ((await publisher.publish()) > 0);
}

async function eventsIn(store: Store): Promise<ToldEvent[]> {
  return queryStore<{ position: number; type: EventType; clientId: number | null; shelterId: number | null }>(
    store,
    `select position::int, type, client_id::int as "clientId", shelter_id::int as "shelterId" from events order by position`,
  );
}

const clientsIn = async (store: Store, ids: readonly number[]): Promise<bigint[]> => {
  const rows = await queryStore<{ id: string }>(store, 'select id::text from clients where id = any($1) order by id', [ids]);
  return rows.map(({ id }) => BigInt(id));
};

async function countUnverified(store: Store, subjects: readonly Subject[]): Promise<number> {
  const [row] = await queryStore<{ count: number }>(
    store,
    `select count(*)::int from webhooks where id = any($1) and verified_at is null and status = 'enabled' and not suspended`,
    [subjects.map(({ id }) => id)],
  );
  await makeDueNow(store);
  return row?.count ?? 0;
}

const untilVerified = async (store: Store, subjects: readonly Subject[]): Promise<void> => {
  const verified = subjects.filter(({ hold }) => hold !== whileUnverified);
  await until('endpoints are verified', async () => (await countUnverified(store, verified)) === 0);
};

/** Every other delivery that waits for its next attempt has failed for good. The next one of its animal is due then. */
async function failSome(store: Store, subjects: readonly Subject[]): Promise<void> {
  const ids = [subjects.map(({ id }) => id)];
  const own = 'webhook_id = any($1) and pet_id is not null';
  await queryStore(store, `update delivery_exceptions set status = 'failed' where ${own} and delivery_id % 2 = 0`, ids);
  await queryStore(
    store,
    `update delivery_exceptions set next_attempt_at = now() where ${own} and next_attempt_at = 'infinity' and not exists (
      select from delivery_exceptions as earlier where earlier.webhook_id = delivery_exceptions.webhook_id
        and earlier.pet_id = delivery_exceptions.pet_id and earlier.status = 'pending' and earlier.delivery_id < delivery_exceptions.delivery_id)`,
    ids,
  );
}

/** Retries are due in up to hours. */
async function makeDueNow(store: Store): Promise<void> {
  await queryStore(
    store,
    `with due as (
        update delivery_exceptions set next_attempt_at = now() where status = 'pending' and next_attempt_at > now() and next_attempt_at < 'infinity'
          returning webhook_id)
      update webhooks set is_changed = true, revision = revision + 1 where id in (select webhook_id from due)`,
  );
}
