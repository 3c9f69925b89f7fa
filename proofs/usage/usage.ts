// Many keys of several clients at a high rate on two processes, one that is stopped in order and one that is killed.
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { connectTo } from '../../testkit/postgres.ts';
import { endProcess } from '../../testkit/running-processes.ts';
import { Staff } from '../../testkit/staff.ts';
import { type Key, type ServeProcess, Store } from '../../testkit/store.ts';
import { grouped } from '../claims.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { type Line, type Received, sendPipelined } from './pipelined-load.ts';

const processes = 2;
const keyCount = 16;
const deviationMax = 0.001;
const writesPerSecondMax = 5;
/** The longest interval between two writes of a process, and a second for the write. */
const lostSecondsMax = 7;
const killedPerSecond = 100;
const unavailableShareMax = 0.001;
const generous = { perMinute: 1_000_000, perDay: 100_000_000 };
/** Lists are served by the fast path. The animal does not exist, and its operation is deprecated. */
const list = '/v1/pets?limit=1';
const paths = [...Array.from({ length: 19 }, () => list), '/v1/pets/none'];
const deprecatedOperation = 'GET /v1/pets/{petId}';

export const usage: Proof = {
  name: 'usage',
  promise: 'the usage of every key is counted, exactly and with few writes',
  // The mutant stores what was counted last, in place of adding it.
  mutant: [{ file: 'access/usage/usage-queries.ts', from: 'set total = used.total + excluded.total', to: 'set total = excluded.total' }],
  isNightly: true,
  about: ['service/src/access/usage', 'service/src/access/admission', 'proofs/usage'],
  run,
};

interface Counted {
  readonly key: number;
  readonly kind: string;
  readonly name: string;
  readonly total: number;
}

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  await using store = await Store.open({
    processes,
    settings: { shared_preload_libraries: 'pg_stat_statements' },
    env: { LOG_LEVEL: 'warn' },
    root,
  });
  await using staff = await Staff.of(store);
  await using owner = await connectTo(store.postgres.url);
  await owner.query('create extension pg_stat_statements');
  // In CI other proofs run at the same time, so half of the rate will do.
  const [perSecond, seconds, rateShareMin] = short ? [1_000, 10, 0.5] : [5_000, 60, 0.95];
  progress(`${perSecond} requests a second for ${seconds} s`);
  const load = await measureLoad(store, staff, owner, { perSecond, seconds });
  progress('a process that is killed');
  const killed = await measureKill(store, staff, owner, short ? 9 : 20);
  return [...judge(load, rateShareMin), judgeKill(killed)];
}

interface Load {
  readonly perSecond: number;
  readonly asked: number;
  readonly writesPerSecond: number;
  /** Responses with 503, which are left out below. */
  readonly unavailable: number;
  /** By key, kind and name. */
  readonly sent: ReadonlyMap<string, number>;
  readonly counted: ReadonlyMap<string, number>;
}

/** Ends with the shutdown of all processes, which write what they have counted last. */
async function measureLoad(
  store: Store,
  staff: Staff,
  owner: pg.Client,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<Load> {
  const keys = await staff.createKeys('busy', generous, keyCount - 1);
  // It has few requests, so most of its responses are 429.
  const limited = await staff.createKey('limited', { perMinute: 20, perDay: 100_000 });
  const lines = store.processes.flatMap((process) => [...keys, limited].map((key) => lineOf(process, key)));
  const writesBefore = await countWrites(owner);
  const startedAtMs = performance.now();
  const received = await sendPipelined(lines, perSecond, seconds * 1_000);
  const tookSeconds = (performance.now() - startedAtMs) / 1_000;
  // In the same time: writes at the shutdown come after it.
  const writes = (await countWrites(owner)) - writesBefore;
  for (const { child } of store.processes.splice(0)) await endProcess(child, 'SIGTERM');
  const sent = new Map<string, number>();
  for (const [i, one] of received.entries()) addReceived(sent, [...keys, limited][i % keyCount]?.id ?? 0, one);
  const responses = received.reduce((sum, one) => sum + one.responses, 0);
  return {
    perSecond: responses / tookSeconds,
    asked: perSecond,
    writesPerSecond: writes / tookSeconds,
    unavailable: [...sent].reduce((sum, [name, count]) => sum + (name.endsWith(' error unavailable') ? count : 0), 0),
    sent: withoutUnavailable(sent),
    counted: withoutUnavailable(await readCounted(owner)),
  };
}

const lineOf = ({ url }: ServeProcess, { key }: Key): Line => ({ port: Number(new URL(url).port), key, paths });

function addReceived(sent: Map<string, number>, key: number, { responses, errors }: Received): void {
  const add = (name: string, count: number) => sent.set(`${key} ${name}`, (sent.get(`${key} ${name}`) ?? 0) + count);
  add('request', responses);
  for (const [code, count] of errors) add(`error ${code}`, count);
  // Every call of the deprecated operation is for an animal that does not exist, unless the limit is reached first.
  if (!errors.has('rate_limit_exceeded') && !errors.has('api_key_banned'))
    add(`deprecated ${deprecatedOperation}`, errors.get('pet_not_found') ?? 0);
}

/**
 * Leaves out responses with 503: if a machine is so busy that a process can't check a key in time, the request belongs to nobody and is not
 * counted, but otherwise it is.
 */
function withoutUnavailable(counts: ReadonlyMap<string, number>): Map<string, number> {
  const kept = [...counts].filter(([name]) => !name.endsWith(' error unavailable'));
  return new Map(
    kept.map(([name, count]) => [
      name,
      count - (counts.get(name.replace(/ request$/, ' error unavailable')) ?? 0) * Number(name.endsWith(' request')),
    ]),
  );
}

/** All statements that write, of whatever part of the program. */
async function countWrites(owner: pg.Client): Promise<number> {
  const { rows } = await owner.query<{ writes: number }>(
    `select coalesce(sum(calls), 0)::int as writes from pg_stat_statements where query ~* '(insert into|update .* set|delete from)'`,
  );
  return rows[0]?.writes ?? 0;
}

async function readCounted(owner: pg.Client): Promise<Map<string, number>> {
  const { rows } = await owner.query<Counted>(
    `select key_id::int as key, kind, name, sum(total)::int as total from key_usage group by 1, 2, 3`,
  );
  return new Map(rows.map(({ key, kind, name, total }) => [`${key} ${kind} ${name}`.trim(), total]));
}

function judge({ perSecond, asked, writesPerSecond, unavailable, sent, counted }: Load, rateShareMin: number): Claim[] {
  const deviations = [...sent].filter(([, count]) => count > 0).map(([name, count]) => Math.abs((counted.get(name) ?? 0) - count) / count);
  const total = (counts: ReadonlyMap<string, number>, kind: RegExp) =>
    [...counts].reduce((sum, [name, count]) => sum + (kind.test(name) ? count : 0), 0);
  const [requests, errors, deprecated] = [total(sent, / request$/), total(sent, / error /), total(sent, / deprecated /)];
  const unknown = [...counted.keys()].filter((name) => !name.includes(' deprecated ') && !sent.has(name));
  return [
    {
      claim: `Requests sent a second, with ${keyCount} keys to ${processes} processes`,
      bar: `${grouped(asked * rateShareMin)} at least, of ${grouped(asked)} tried`,
      figure: `${grouped(Math.round(perSecond))}, ${grouped(requests)} in all, of which ${grouped(errors)} with an error and ${grouped(deprecated)} to a deprecated operation`,
      holds: perSecond >= asked * rateShareMin,
      isTimed: true,
    },
    {
      claim: 'Responses with 503, whose requests belong to nobody if their key could not be checked',
      bar: `${100 * unavailableShareMax}% at most`,
      figure: `${grouped(unavailable)} of ${grouped(requests + unavailable)}`,
      holds: unavailable <= unavailableShareMax * (requests + unavailable),
      isTimed: true,
    },
    {
      claim:
        'Counts of a key (requests, errors by code, calls of a deprecated operation) that differ from what the callers got by more than 0.1%',
      bar: '0',
      figure: `${deviations.filter((one) => one > deviationMax).length} of ${deviations.length}; at most ${(Math.max(...deviations) * 100).toFixed(3)}% off; ${unknown.length} that nobody got`,
      holds: deprecated > 0 && errors > 0 && unknown.length === 0 && deviations.every((one) => one <= deviationMax),
    },
    {
      claim: 'Statements a second that write to PostgreSQL meanwhile, of all processes',
      bar: `more than 0, ${writesPerSecondMax} at most`,
      figure: writesPerSecond.toFixed(2),
      holds: writesPerSecond > 0 && writesPerSecond <= writesPerSecondMax,
    },
  ];
}

interface Killed {
  readonly sent: number;
  readonly counted: number;
}

async function measureKill(store: Store, staff: Staff, owner: pg.Client, seconds: number): Promise<Killed> {
  const key = await staff.createKey('unlucky', generous);
  const process = await store.serve();
  const sending = sendPipelined([lineOf(process, key)], killedPerSecond, seconds * 1_000);
  await sleep(seconds * 1_000 - 500);
  await endProcess(process.child);
  const [received] = await sending;
  return { sent: received?.responses ?? 0, counted: (await readCounted(owner)).get(`${key.id} request`) ?? 0 };
}

function judgeKill({ sent, counted }: Killed): Claim {
  const lost = sent - counted;
  return {
    claim: `Requests of a process that are lost when it is killed, at ${killedPerSecond} a second`,
    bar: `${lostSecondsMax * killedPerSecond} at most, of ${lostSecondsMax} s; the others are counted`,
    figure: `${lost} of ${sent}`,
    holds: counted > 0 && lost <= lostSecondsMax * killedPerSecond,
  };
}
