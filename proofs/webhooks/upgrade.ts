// A store of the release before is upgraded under load, with deliveries in every state: nothing is lost, and both workers run for a while.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { generous, queryStore } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { plantMutant } from '../../testkit/mutant.ts';
import { checkOut } from '../../testkit/revision-checkout.ts';
import { type Key, Store } from '../../testkit/store.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { releaseBefore } from '../release-before.ts';
import { type Endpoint, type Era, EventWriter, SwitchedReceiver, type WrittenEvent } from './upgrade-cast.ts';
import { upgradeServe } from './upgrade-serve.ts';

export const upgrade: Proof = {
  name: 'upgrade',
  promise:
    'a store is upgraded while its workers send and both releases serve: no request fails, no event is lost or out of order, and deliveries stay readable',
  hasMutant: true,
  isNightly: true,
  about: ['service/migrations', 'service/src/changes', 'service/src/animals/list-cache', 'proofs/release-before.ts', 'proofs/webhooks'],
  parts: ['workers', 'serve'],
  run,
};

interface Size {
  /** A prime, so that every animal has events of every type. */
  readonly animals: number;
  readonly history: number;
  /** For two endpoints that are down. */
  readonly backlog: number;
  readonly perSecond: number;
  /** Each stage of the upgrade. */
  readonly stageMs: number;
  /** Retries that are due in more seconds than this are made due now. */
  readonly scaledFromSeconds: number;
  readonly timeoutMs: number;
}

const sizes: Record<'short' | 'long', Size> = {
  short: {
    animals: 41,
    history: 60,
    backlog: 1_100,
    perSecond: 50,
    stageMs: 1_200,
    scaledFromSeconds: 0,
    timeoutMs: 40_000,
  },
  long: {
    animals: 499,
    history: 2_000,
    backlog: 5_000,
    perSecond: 100,
    stageMs: 10_000,
    scaledFromSeconds: 35,
    timeoutMs: 300_000,
  },
};
/** What the slow endpoint takes during the upgrade, so that an old worker is killed while it sends. */
const slowMs = 9_000;
const duplicatesMax = 0.01;
const oldTests = 5;
/** What the mutant loses does not come later either. */
const mutantTimeoutMs = 15_000;

async function run(context: ProofContext): Promise<Claim[]> {
  using tree = context.mutant ? plantMutant([]) : undefined;
  if (tree) writeFileSync(path.join(tree.root, 'service/migrations/9001_mutant.sql'), mutantMigration);
  using before = checkOut(releaseBefore().commit);
  const { short, progress, parts } = context;
  const isRun = (part: string) => parts.length === 0 || parts.includes(part);
  const releases = { short, before: before.root, root: tree?.root, progress };
  return [
    ...(isRun('workers') ? await upgradeWorkers(context, before.root, tree?.root) : []),
    ...(isRun('serve') ? await upgradeServe(releases) : []),
  ];
}

async function upgradeWorkers({ short, mutant, progress }: ProofContext, before: string, root: string | undefined): Promise<Claim[]> {
  await using resources = new AsyncDisposableStack();
  const size = { ...sizes[short ? 'short' : 'long'], ...(mutant && { timeoutMs: mutantTimeoutMs }) };
  const env = { LOG_LEVEL: 'warn', HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' };
  progress('the release before');
  const old = resources.use(await Store.open({ processes: 1, root: before, env }));
  const oldUrl = old.processes[0]?.url ?? '';
  const [partner, other] = await Promise.all([old.createKey('partner', generous), old.createKey('other', generous)]);
  const writer = resources.use(await EventWriter.open(old, size.animals, partner.clientId));
  const firstWorker = old.work();
  await until(async () => (await countWorkers(old)) === 1, 'worker', size.timeoutMs);
  const secondWorker = old.work();
  const cast = await fill(old, oldUrl, { partner, other, writer, size, resources });
  writer.start(size.perSecond);
  await sleep(size.stageMs);
  const shownBefore = await readDeliveries(oldUrl, cast.disabled);

  progress('the migration');
  cast.slow.receiver.respondsAfterMs = slowMs;
  const requests = pollOldServe(oldUrl, partner, cast.quick.id);
  const startMs = performance.now();
  const store = resources.use(await Store.open({ processes: 1, root, env, beside: old }));
  const migratedMs = performance.now() - startMs;
  const url = store.processes[0]?.url ?? '';
  firstWorker.kill('SIGKILL');
  // Its endpoints are free after 20 s.
  if (short) await queryStore(old, 'update webhook_workers set expires_at = now() where id = (select min(id) from webhook_workers)');
  const shownAfter = await readDeliveries(url, cast.disabled);
  const failedRequests = await requests.stop();
  const testIds = await testThroughOldServe(oldUrl, cast.quick);
  const replayStatus = await replayThroughOldServe(oldUrl, cast.slow);

  progress('both workers');
  store.work();
  for (const { receiver } of cast.all) receiver.isUp = true;
  await sleep(size.stageMs);
  cast.slow.receiver.hurry();
  await old.stopWorker(secondWorker);
  await resume(store, url, writer, cast);
  writer.start(size.perSecond);
  await sleep(size.stageMs);
  await writer.pause();
  await untilArrived(store, cast, writer.events, size, progress);
  const lostTests = testIds.filter((id) => !cast.quick.receiver.tests.has(id));
  return [
    ...judge(cast.all, writer.events, `migrated and \`serve\` started in ${(migratedMs / 1_000).toFixed(1)} s`),
    {
      claim: 'The first deliveries of the disabled endpoint, as `serve` of this release shows them after the migration',
      bar: 'as before',
      figure: shownAfter === shownBefore ? `as before, ${format(shownBefore.length)} bytes` : 'DIFFERENT',
      holds: shownAfter === shownBefore && shownBefore.length > 1_000,
    },
    {
      claim: 'Requests to `serve` of the release before, during the migration, that got 5xx',
      bar: '0',
      figure: `${failedRequests.failed} of ${failedRequests.sent}`,
      holds: failedRequests.failed === 0 && failedRequests.sent > 0,
      isTimed: true,
    },
    {
      claim: 'Tests that it queued after the migration and that were not sent; its response to a replay',
      bar: '0; 202',
      figure: `${lostTests.length} of ${testIds.length}; ${replayStatus}`,
      holds: lostTests.length === 0 && replayStatus === 202,
    },
  ];
}

/** In the mutant, a migration takes away what the release before writes. */
const mutantMigration = 'drop table webhook_attempts;\n';

interface Cast {
  readonly quick: Endpoint;
  readonly slow: Endpoint;
  readonly disabled: Endpoint;
  readonly all: readonly Endpoint[];
}

/** Fills the store until it has endpoints in every state. */
async function fill(
  store: Store,
  url: string,
  parts: { partner: Key; other: Key; writer: EventWriter; size: Size; resources: AsyncDisposableStack },
): Promise<Cast> {
  const { partner, other, writer, size, resources } = parts;
  using http = new HttpClient();
  const ordinary = ['pet.created', 'pet.updated', 'pet.status_changed', 'order.placed'];
  const add = async (name: string, key: Key, behaviour: Parameters<typeof SwitchedReceiver.open>[0], types: string[]) => {
    const receiver = resources.use(await SwitchedReceiver.open(behaviour));
    const added = await call<{ id: number }>(http, 'POST', `${url}/webhooks`, key, { url: receiver.url, types });
    const isVerified = async () => (await call<{ status: string }>(http, 'GET', `${url}/webhooks/${added.id}`, key)).status === 'enabled';
    await until(isVerified, 'verified endpoint', size.timeoutMs);
    const isOfType = ({ type, clientId }: WrittenEvent) => types.includes(type) && (clientId === null || clientId === key.clientId);
    return { name, id: added.id, key, receiver, wants: isOfType };
  };
  const quick = await add('quick', partner, {}, ordinary);
  const slow = await add('slow', partner, { respondsAfterMs: 200 }, ['pet.status_changed']);
  const flaky = await add('flaky', partner, { rejectsEvery: 11 }, ordinary);
  await writer.write(size.history);
  await writer.pause();
  await until(() => missingAt(quick, writer.events) + missingAt(slow, writer.events) === 0, 'history', size.timeoutMs);

  writer.era = 'before';
  const behind = withWants(await add('down', partner, {}, [writer.backlogType, 'pet.updated']), isNeither('history', 'gap'));
  const disabled = withWants(await add('disabled', partner, {}, [writer.backlogType, ...ordinary]), isNeither('history', 'meanwhile'));
  const suspended = withWants(await add('suspended', other, {}, ordinary), isNeither('history', 'meanwhile'));
  for (const { receiver } of [behind, disabled, suspended]) receiver.isUp = false;
  await writer.write(size.backlog, writer.backlogType);
  writer.start(size.perSecond);
  await sleep(size.stageMs);
  await writer.pause();
  writer.era = 'gap';
  await call(http, 'PATCH', `${url}/webhooks/${behind.id}`, partner, { status: 'disabled' });
  await writer.write(size.animals);
  await writer.pause();
  await call(http, 'PATCH', `${url}/webhooks/${behind.id}`, partner, { status: 'enabled' });
  writer.era = 'before';
  await writer.write(size.animals);
  await writer.pause();
  await call(http, 'PATCH', `${url}/webhooks/${disabled.id}`, partner, { status: 'disabled' });
  await store.homeward('clients', 'suspend', 'other');
  writer.era = 'meanwhile';
  return { quick, slow, disabled, all: [quick, slow, flaky, behind, disabled, suspended] };
}

const isNeither =
  (...eras: readonly Era[]) =>
  ({ era }: WrittenEvent) =>
    !eras.includes(era);

const withWants = (endpoint: Endpoint, also: Endpoint['wants']): Endpoint => ({
  ...endpoint,
  wants: (event) => endpoint.wants(event) && also(event),
});

async function countWorkers(store: Store): Promise<number> {
  const [row] = await queryStore<{ count: number }>(store, 'select count(*)::int as count from webhook_workers');
  return row?.count ?? 0;
}

/** As the API shows them. */
async function readDeliveries(url: string, { id, key }: Endpoint): Promise<string> {
  using http = new HttpClient();
  return (await http.send(`${url}/webhooks/${id}/deliveries?limit=100`, { key: key.key })).text;
}

interface Polling {
  stop(): Promise<{ readonly sent: number; readonly failed: number }>;
}

/** Clients of the release before go on with their requests. */
function pollOldServe(url: string, key: Key, endpointId: number): Polling {
  const http = new HttpClient();
  let isStopped = false;
  const counts = { sent: 0, failed: 0 };
  const polling = (async () => {
    while (!isStopped) {
      const responses = await Promise.all([
        http.send(`${url}/webhooks/${endpointId}/deliveries`, { key: key.key }),
        http.send(`${url}/webhooks/${endpointId}`, { method: 'PATCH', key: key.key, body: { description: 'The site' } }),
        http.send(`${url}/events?cursor=latest`, { key: key.key }),
      ]);
      counts.sent += responses.length;
      counts.failed += responses.filter(({ status }) => status >= 500).length;
      await sleep(20);
    }
  })();
  // If the migration fails, that is the error to report.
  polling.catch(() => {});
  return {
    async stop() {
      isStopped = true;
      await polling;
      http[Symbol.dispose]();
      return counts;
    },
  };
}

async function testThroughOldServe(url: string, { id: endpointId, key }: Endpoint): Promise<string[]> {
  using http = new HttpClient();
  const ids: string[] = [];
  for (let i = 0; i < oldTests; i += 1) {
    const { id } = await call<{ id: number }>(http, 'POST', `${url}/webhooks/${endpointId}/test`, key);
    ids.push(`test_${id}`);
  }
  return ids;
}

async function replayThroughOldServe(url: string, { id, key }: Endpoint): Promise<number> {
  using http = new HttpClient();
  // Before the first event, so that none is sent twice.
  const body = { from: new Date(Date.now() - 7_200_000).toISOString(), to: new Date(Date.now() - 3_600_000).toISOString() };
  const { status } = await http.send(`${url}/webhooks/${id}/replay`, { method: 'POST', key: key.key, body });
  return status;
}

/** Serves the disabled endpoint and the suspended client again. */
async function resume(store: Store, url: string, writer: EventWriter, { disabled }: Cast): Promise<void> {
  using http = new HttpClient();
  await writer.pause();
  writer.era = 'after';
  await call(http, 'PATCH', `${url}/webhooks/${disabled.id}`, disabled.key, { status: 'enabled' });
  await store.homeward('clients', 'resume', 'other');
}

async function untilArrived(
  store: Store,
  { all }: Cast,
  events: readonly WrittenEvent[],
  { timeoutMs, scaledFromSeconds }: Size,
  progress: ProofContext['progress'],
): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  for (let left = Infinity; left > 0 && performance.now() < deadlineMs; ) {
    // Retries are due in up to hours.
    await queryStore(
      store,
      `with due_now as (
          update delivery_exceptions set next_attempt_at = now()
            where status = 'pending' and next_attempt_at > now() + make_interval(secs => $1) and next_attempt_at < 'infinity'
            returning webhook_id)
        update webhooks set is_changed = true, revision = revision + 1 where id in (select webhook_id from due_now)`,
      [scaledFromSeconds],
    );
    left = all.reduce((sum, endpoint) => sum + missingAt(endpoint, events), 0);
    progress(`${format(left)} deliveries left`);
    await sleep(250);
  }
}

function missingAt({ receiver, wants }: Endpoint, events: readonly WrittenEvent[]): number {
  const accepted = new Set(receiver.arrivals.filter(({ isAccepted }) => isAccepted).map(({ number }) => number));
  return events.filter((event) => wants(event) && !accepted.has(event.number)).length;
}

function judge(endpoints: readonly Endpoint[], events: readonly WrittenEvent[], how: string): Claim[] {
  const byNumber = new Map(events.map((event) => [event.number, event]));
  const counts = { wanted: 0, missing: 0, accepted: 0, twice: 0, unwanted: 0, outOfOrder: 0 };
  const faulty: string[] = [];
  for (const endpoint of endpoints) {
    const { arrivals } = endpoint.receiver;
    const accepted = arrivals.filter(({ isAccepted }) => isAccepted).map(({ number }) => number);
    const distinct = new Set(accepted);
    const missing = missingAt(endpoint, events);
    counts.wanted += events.filter((event) => endpoint.wants(event)).length;
    counts.missing += missing;
    counts.accepted += accepted.length;
    counts.twice += accepted.length - distinct.size;
    if (missing > 0) faulty.push(`${endpoint.name} ${missing}`);
    for (const number of distinct) {
      const event = byNumber.get(number);
      if (!event || !endpoint.wants(event)) counts.unwanted += 1;
    }
    counts.outOfOrder += countOutOfOrder(arrivals);
  }
  return [
    {
      claim: `Events missing at ${endpoints.length} endpoints: quick, slow, failing once, down, disabled, and of a suspended client`,
      bar: '0',
      figure: `${counts.missing} of ${format(counts.wanted)}${firstOf(faulty)}, ${how}`,
      holds: counts.missing === 0 && counts.wanted > 0,
    },
    {
      claim: 'Events accepted more than once, by webhook-id; accepted by an endpoint that should not get them',
      bar: `at most ${duplicatesMax * 100}%; 0`,
      figure: `${counts.twice} of ${format(counts.accepted)} (${((100 * counts.twice) / counts.accepted).toFixed(2)}%); ${counts.unwanted}`,
      holds: counts.twice <= duplicatesMax * counts.accepted && counts.unwanted === 0,
    },
    {
      claim: 'Requests with an event that arrived after a later event of the same animal',
      bar: '0',
      figure: String(counts.outOfOrder),
      holds: counts.outOfOrder === 0,
    },
  ];
}

function countOutOfOrder(arrivals: SwitchedReceiver['arrivals']): number {
  const lastOf = new Map<number, number>();
  let outOfOrder = 0;
  for (const { petId, number } of arrivals) {
    if (number < (lastOf.get(petId) ?? -1)) outOfOrder += 1;
    lastOf.set(petId, Math.max(number, lastOf.get(petId) ?? -1));
  }
  return outOfOrder;
}

const format = (count: number) => count.toLocaleString('en');
const firstOf = (names: readonly string[]) => (names.length > 0 ? ` (${names.slice(0, 3).join(', ')})` : '');

async function call<Body>(http: HttpClient, method: string, url: string, { key }: Key, body?: unknown): Promise<Body> {
  const { status, text } = await http.send(url, { method, key, body });
  if (status >= 300) throw new Error(`${method} ${url}: ${status} ${text}`);
  return JSON.parse(text) as Body;
}

async function until(condition: () => boolean | Promise<boolean>, what: string, timeoutMs: number): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadlineMs) throw new Error(`no ${what} in ${timeoutMs} ms`);
    await sleep(50);
  }
}
