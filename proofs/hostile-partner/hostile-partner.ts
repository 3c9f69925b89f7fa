// One partner attacks a store in every way, as fast as it can. How much does another partner notice?
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createKey } from '../../service/src/clients/clients.ts';
import { defaultScopes } from '../../service/src/domain/scopes.ts';
import { planBounds } from '../../service/src/rate-limit/plans.ts';
import { generous, queryStore } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { plantMutant } from '../../testkit/mutant.ts';
import { quantile } from '../../testkit/quantile.ts';
import { Staff } from '../../testkit/staff.ts';
import { loadFor, type Sample } from '../../testkit/steady-load.ts';
import { type Key, Store } from '../../testkit/store.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { HonestClient, honestPerSecond } from './honest-client.ts';
import type { Target } from './hostile-attacks.ts';
import type { Command, Report } from './hostile-caller.ts';

export const hostilePartner: Proof = {
  name: 'hostile-partner',
  promise:
    'a partner that attacks in every way slows others no more than as many ordinary callers do, and gets no more than its plan allows',
  hasMutant: true,
  runsAlone: true,
  isNightly: true,
  run,
};

const bounds = planBounds.business;
/** More animals than one client may order, so that some are left for others. */
const animalCount = bounds.openOrders + 300;
/** Far more orders than the client may have open, but within its plan's requests per minute. */
const occupiedCount = bounds.openOrders + 250;
const hostileKeyCount = 12;
const slowdownMax = 1.5;
/** Tolerance of the short form: a phase of 3 s has only 3 requests above its p99, so the figure is noisy. */
const shortSlackMs = 100;
const warmUpMs = 2_000;
const replyTimeoutMs = 60_000;

async function run({ short, mutant, progress }: ProofContext): Promise<Claim[]> {
  // The mutant's business clients may have any number of open orders and register any number of categories.
  using tree = mutant
    ? plantMutant([
        {
          file: 'rate-limit/plans.ts',
          from: 'business: { openOrders: 500, newCategoriesPerDay: 500,',
          to: 'business: { openOrders: 999_999, newCategoriesPerDay: 999_999,',
        },
      ])
    : undefined;
  const env = { LOG_LEVEL: 'fatal', HOMEWARD_TRUSTED_PROXIES: '127.0.0.1', HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' };
  await using store = await Store.open({ processes: 2, root: tree?.root, env });
  await prefill(store, short ? 20_000 : 150_000);
  const { honest, hostile, target, accomplice } = await makeClients(store);
  store.work();
  await using caller = new HostileCaller();
  using http = new HttpClient(256);
  const client = new HonestClient(http, target.urls, honest);

  progress('the hostile partner orders all that it can');
  const occupied = await caller.request({ do: 'occupy', target, firstPetId: 1, count: occupiedCount });
  // Warm up with another client: the first requests of any kind take a process longer.
  caller.send({ do: 'attack', target: accomplice });
  await loadFor(warmUpMs, honestPerSecond, (i) => client.send(i));
  await caller.request({ do: 'stop' });
  const phaseMs = short ? 3_000 : 30_000;
  const outcome = await runPhases(caller, client, target, phaseMs, progress);
  const finalOrders: number[] = [];
  for (const url of target.urls) finalOrders.push((await client.orderAvailable(url))?.status ?? 0);
  return [
    ...judgeHonest(outcome, finalOrders, short ? shortSlackMs : 0),
    ...(await judgeHostile(store, hostile, [occupied, ...outcome.attacks])),
    await judgeCategories(store, http, honest, hostile),
  ];
}

interface Outcome {
  /**
   * Samples of the honest client: during attacks, while as many callers only list at full speed, and while they list at
   * the attack's rate.
   */
  readonly attacked: readonly Sample[];
  readonly beside: readonly Sample[];
  readonly besideRate: readonly Sample[];
  readonly attacks: readonly Report[];
  readonly lists: readonly Report[];
}

/** Runs the phases attack, lists, lists at the attack's rate, lists, attack. The order is symmetric, so that drift affects all alike. */
async function runPhases(
  caller: HostileCaller,
  client: HonestClient,
  target: Target,
  phaseMs: number,
  progress: ProofContext['progress'],
): Promise<Outcome> {
  const [attacked, beside, besideRate, attacks, lists] = [[] as Sample[], [] as Sample[], [] as Sample[], [] as Report[], [] as Report[]];
  let sent = 0;
  const phase = async (command: Command, samples: Sample[], reports: Report[]) => {
    progress(`${command.do}, ${phaseMs / 1_000} s`);
    caller.send(command);
    const from = sent;
    const measured = await loadFor(phaseMs, honestPerSecond, (i) => client.send(from + i));
    sent += measured.length;
    samples.push(...measured);
    reports.push(await caller.request({ do: 'stop' }));
  };
  const attack = () => phase({ do: 'attack', target }, attacked, attacks);
  const list = () => phase({ do: 'list', target }, beside, lists);
  await attack();
  await list();
  await phase({ do: 'list', target, perSecond: rateOf(attacks) }, besideRate, []);
  await list();
  await attack();
  return { attacked, beside, besideRate, attacks, lists };
}

const rateOf = (reports: readonly Report[]) =>
  reports.reduce((sum, { responded }) => sum + responded, 0) /
  Math.max(
    reports.reduce((sum, { seconds }) => sum + seconds, 0),
    0.001,
  );

function judgeHonest({ attacked, beside, besideRate, attacks, lists }: Outcome, finalOrders: readonly number[], slackMs: number): Claim[] {
  const at = (q: number) => (samples: readonly Sample[]) =>
    quantile(
      samples.map(({ sinceDueMs }) => sinceDueMs),
      q,
    );
  const [p99, median] = [at(0.99), at(0.5)];
  const [attackedMs, besideMs] = [p99(attacked), p99(beside)];
  const all = [...attacked, ...beside, ...besideRate];
  const count = (matches: (status: number) => boolean) => all.filter(({ response }) => matches(response?.status ?? 0)).length;
  const [faults, limited, failed] = [count((status) => status >= 500), count((status) => status === 429), count((status) => status === 0)];
  return [
    {
      claim: `An honest client's requests during the attack, at p99, compared to when as many callers send ordinary lists at full speed`,
      bar: `at most ${slowdownMax} times${slackMs > 0 ? ` and ${slackMs} ms` : ''}`,
      figure: `${(attackedMs / besideMs).toFixed(2)} times (${attackedMs.toFixed(1)} ms against ${besideMs.toFixed(1)} ms, at the median ${median(attacked).toFixed(1)} against ${median(beside).toFixed(1)} ms; ${rateOf(attacks).toFixed(0)} hostile requests a second against ${rateOf(lists).toFixed(0)} lists; ${p99(besideRate).toFixed(1)} ms beside only as many lists a second)`,
      holds: attackedMs <= slowdownMax * besideMs + slackMs,
      isTimed: true,
      // The short form has some slack, and must hold.
      isKnownMiss: slackMs === 0,
    },
    {
      claim: 'Its requests that got 5xx, 429, or no response',
      bar: '0, 0, 0',
      figure: `${faults}, ${limited}, ${failed} of ${all.length.toLocaleString('en')}`,
      holds: faults + limited + failed === 0 && all.length > 0,
    },
    {
      claim: 'Afterwards it orders an available animal on each process',
      bar: '201',
      figure: finalOrders.map((status) => (status === 0 ? 'no animal is available' : status)).join(', '),
      holds: finalOrders.every((status) => status === 201),
    },
  ];
}

async function judgeHostile(store: Store, { clientId }: Key, reports: readonly Report[]): Promise<Claim[]> {
  const [held] = await queryStore<{ orders: number; most: number; implausible: number; raw: number }>(
    store,
    `with open as (select lower(adopter_email) as email from orders where client_id = $1 and status in ('placed', 'approved'))
      select (select count(*)::int from open) as orders,
        (select coalesce(max(count), 0)::int from (select count(*) from open group by email) as of_adopter) as most,
        (select count(*)::int from open where email = 'x@x') as implausible,
        (select count(*)::int from webhooks where client_id = $1 and (url || description) ~ '[\\u0001-\\u0009\\u000b-\\u001f\\u007f-\\u009f\\u202a-\\u202e]') as raw`,
    [clientId],
  );
  const { orders = -1, most = -1, implausible = -1, raw = -1 } = held ?? {};
  const faults = reports.flatMap((report) => report.faults);
  const tried = countOf(reports, 'orders of every animal');
  return [
    {
      claim: `Open orders of the hostile client, in total and for one adopter, after ${tried.toLocaleString('en')} attempts`,
      bar: `${bounds.openOrders}, ${bounds.openOrdersOfAdopter}`,
      figure: `${orders}, ${most}`,
      holds: orders === bounds.openOrders && most === bounds.openOrdersOfAdopter,
    },
    {
      claim: 'Orders with an invalid address, and endpoints with control characters or bidirectional overrides, that were stored',
      bar: '0, 0',
      figure: `${implausible}, ${raw}`,
      holds: implausible === 0 && raw === 0,
    },
    {
      claim: '5xx responses to the hostile client, except 503 with Retry-After',
      bar: '0',
      figure: `${faults.length} of ${reports.reduce((sum, { responded }) => sum + responded, 0).toLocaleString('en')}${faults.length > 0 ? ` (${faults.slice(0, 3).join('; ')})` : ''}: ${summaryOf(reports)}`,
      holds: faults.length === 0,
    },
  ];
}

/** The statuses by attack, which show that each attack did reach the store. */
function summaryOf(reports: readonly Report[]): string {
  const names = [...new Set(reports.flatMap(({ statuses }) => Object.keys(statuses)))];
  return names
    .map((name) => {
      const totals = new Map<string, number>();
      for (const { statuses } of reports) {
        for (const [status, count] of Object.entries(statuses[name] ?? {})) totals.set(status, (totals.get(status) ?? 0) + count);
      }
      return `${name} ${[...totals].map(([status, count]) => `${count}× ${status === '0' ? 'no response' : status}`).join(', ')}`;
    })
    .join('; ');
}

const countOf = (reports: readonly Report[], name: string) =>
  reports.reduce((sum, { statuses }) => sum + Object.values(statuses[name] ?? {}).reduce((a, b) => a + b, 0), 0);

async function judgeCategories(store: Store, http: HttpClient, { key }: Key, { clientId }: Key): Promise<Claim> {
  const { text } = await http.send(`${store.processes[0]?.url}/categories`, { key });
  const named = (JSON.parse(text) as Array<{ name?: string }>).filter(({ name }) => name !== undefined).length;
  const [count] = await queryStore<{ registered: number; all: number }>(
    store,
    `select (select coalesce(sum(count), 0)::int from category_registrations where client_id = $1) as registered,
      (select count(*)::int from categories where name is null) as all`,
    [clientId],
  );
  const { registered = -1, all = -1 } = count ?? {};
  return {
    claim: 'Named categories on the first page of the list, and categories that the hostile client registered in a day',
    bar: `10, at most ${bounds.newCategoriesPerDay}`,
    figure: `${named}, ${registered} (${all} without a name)`,
    holds: named === 10 && all <= bounds.newCategoriesPerDay,
  };
}

async function prefill(store: Store, events: number): Promise<void> {
  await queryStore(
    store,
    `insert into pets (category_id, status, name) select 1 + i % 10, 'available', 'Animal ' || i from generate_series(1, $1::int) as i`,
    [animalCount],
  );
  await queryStore(
    store,
    `insert into events (position, type, pet_id, at, data)
      select i, 'pet.updated', 1 + i % $2::int, now(), format('{"pet":{"id":%s,"name":"Animal %s","categoryId":1,"status":"available"}}', 1 + i % $2::int, i)
        from generate_series(1, $1::int) as i`,
    [events, animalCount],
  );
  await queryStore(store, 'update feed set last_position = $1', [events]);
  await queryStore(store, 'analyze', []);
}

async function makeClients(store: Store): Promise<{ honest: Key; hostile: Key; target: Target; accomplice: Target }> {
  await using staff = await Staff.of(store);
  const [honest] = await staff.createKeys('honest', generous, 1);
  const [ordinary] = await staff.createKeys('ordinary', generous, 1);
  const hostile = await Promise.all(Array.from({ length: hostileKeyCount }, () => createHostileKey(staff, 'hostile')));
  const other = await createHostileKey(staff, 'accomplice');
  const [first] = hostile;
  const revoked = await createHostileKey(staff, 'hostile');
  await staff.revoke(revoked);
  if (!honest || !ordinary || !first) throw new Error('no keys');
  const urls = store.processes.map(({ url }) => url);
  const target = { urls, keys: hostile.map(({ key }) => key), revokedKey: revoked.key, ordinaryKey: ordinary.key };
  return { honest, hostile: first, target, accomplice: { ...target, keys: [other.key] } };
}

async function createHostileKey({ dependencies: { db } }: Staff, client: string): Promise<Key> {
  const { key, record } = await createKey(db, {
    client,
    limits: { plan: 'business', perMinute: null, perDay: null },
    scopes: defaultScopes,
    expiresAt: null,
    environment: 'production',
  });
  return { id: Number(record.id), clientId: Number(record.clientId), key };
}

/** The process that attacks. It ends when this process ends, or at the end of an `await using` block. */
class HostileCaller implements AsyncDisposable {
  readonly #child: ChildProcess = fork(fileURLToPath(new URL('hostile-caller.ts', import.meta.url)), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });

  send(command: Command): void {
    this.#child.send(command);
  }

  async request(command: Command): Promise<Report> {
    const replied = once(this.#child, 'message', { signal: AbortSignal.timeout(replyTimeoutMs) });
    this.send(command);
    const [report] = (await replied) as [Report];
    return report;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}
