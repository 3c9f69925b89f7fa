// The latency of applications in a store that has 50 thousand and in one that has 5 million, and the plans of their statements:
// npm run bench -- applications [--sizes 50000,5000000] [--samples N] [--json] [--folder PATH]
import { parseArgs } from 'node:util';
import { HttpClient } from '../testkit/http.ts';
import { queryAt } from '../testkit/postgres.ts';
import { quantile } from '../testkit/quantile.ts';
import { Store } from '../testkit/store.ts';
import { fillApplications, type Landmarks, largeShelterId } from './applications-fill.ts';
import { type Explained, explainStatements } from './applications-plans.ts';
import { type Keys, lists, prepareTarget, type Target, timeActs, timeCompletions, timeList } from './applications-requests.ts';
import { insertKeys } from './seed.ts';

const sizesDefault = [50_000, 5_000_000];
const samplesDefault = 200;
const p50MsMax = 15;
const p99MsMax = 100;
const ratioMax = 1.5;
const completionMsMax = 400;
/** Of a client with a hundred thousand open ones. */
const submissionP50MsMax = 20;
const warmUpRounds = 20;
const partnersCount = 1_000;
const sheltersDrawn = 50;

interface Options {
  readonly sizes: readonly number[];
  readonly samples: number;
}

interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Disk {
  readonly relation: string;
  readonly bytes: number;
  /** The uses since the store was filled; undefined: it is no index. */
  readonly scans: number | undefined;
}

interface Measured {
  readonly target: Target;
  readonly timesMs: Map<string, number[]>;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { sizes: { type: 'string' }, samples: { type: 'string' }, json: { type: 'boolean' }, folder: { type: 'string' } },
  });
  const sizes = (values.sizes?.split(',').map(Number) ?? sizesDefault).sort((a, b) => a - b);
  const samples = Number(values.samples ?? samplesDefault);
  if (![...sizes, samples].every((value) => Number.isSafeInteger(value) && value > 0) || (sizes[0] ?? 0) < 50_000) {
    console.error('Usage: npm run bench -- applications [--sizes 50000,5000000] [--samples 200] [--json] [--folder PATH]');
    return 2;
  }
  // The servers put their data there, and remove them when they end, even if this process is killed.
  if (values.folder) process.env['TMPDIR'] = values.folder;
  return measure({ sizes, samples }, values.json ?? false);
}

async function measure({ sizes, samples }: Options, asJson: boolean): Promise<number> {
  const settings = { shared_buffers: '2GB', max_wal_size: '8GB', wal_level: 'minimal', max_wal_senders: '0' };
  await using store = await Store.open({ processes: 0, settings, env: { LOG_LEVEL: 'warn' } });
  const { keys, partners, shelterKeys } = await makeKeys(store.postgres.url);
  const measured: Measured[] = [];
  for (const size of sizes) {
    const databaseUrl = await copyDatabase(store.postgres.url, `applications_${size}`);
    const landmarks = await fillApplications(databaseUrl, {
      applications: size,
      largeClientId: keys.large.clientId,
      clients: { firstId: partners[0] ?? 0, count: partners.length },
      progress: (step) => say(`Filling a store with ${count(size)} applications: ${step}`),
    });
    await bindKeys(databaseUrl, shelterKeys, landmarks);
    const { url } = await store.serve({ DATABASE_URL: databaseUrl });
    const given = { partnerId: partners[0] ?? 0, candidates: 2 * (samples + warmUpRounds) };
    measured.push({ target: await prepareTarget({ ...landmarks, url, databaseUrl, keys }, given), timesMs: new Map() });
  }
  const largest = measured.at(-1)?.target;
  if (!largest) throw new Error('there must be a size');
  await queryAt(largest.databaseUrl, 'select pg_stat_reset()');
  // Before anything changes: what is read because it has just changed says nothing about a plan.
  const plans = await explainStatements(largest);
  await time(measured, samples);
  using http = new HttpClient(1);
  const completions = await timeCompletions(http, largest);
  const disk = await diskOf(largest.databaseUrl);
  return report({ measured, samples, completions, plans, disk, asJson });
}

/** Those of shelters are bound when there are shelters. */
async function makeKeys(url: string): Promise<{ keys: Keys; partners: number[]; shelterKeys: number[] }> {
  const partners = await insertKeys(url, { clients: partnersCount, perClient: 1, named: 'partner' });
  const [large] = await insertKeys(url, { clients: 1, perClient: 1, named: 'large' });
  const [staff] = await insertKeys(url, { clients: 1, perClient: 1, named: 'staff', scopes: ['orders:read', 'store:manage'] });
  const [shelter, ...shelters] = await insertKeys(url, { clients: 1 + sheltersDrawn, perClient: 1, named: 'shelter' });
  if (!large || !staff || !shelter) throw new Error('a key is missing');
  return {
    keys: {
      staff: staff.key,
      shelter: shelter.key,
      shelters: shelters.map(({ key }) => key),
      large,
      partners: partners.map(({ key }) => key),
    },
    partners: partners.map(({ clientId }) => clientId),
    shelterKeys: [shelter, ...shelters].map(({ id }) => id),
  };
}

/** The first to the largest shelter, the others to those with the crowded animals and to any. */
async function bindKeys(url: string, ids: readonly number[], { crowdedPets }: Landmarks): Promise<void> {
  await queryAt(
    url,
    `update api_keys set scopes = '{orders:read,shelter:manage}', shelter_id = case n when 1 then $2 else (select shelter_id from pets where id = case when n % 2 = 0 then 1 + n % $3 else 1000 + n end) end
      from unnest($1::bigint[]) with ordinality as bound (key_id, n) where id = key_id`,
    [ids, largeShelterId, crowdedPets.length],
  );
}

/** With the keys, so that every store has them, and another prefix in Redis. */
async function copyDatabase(url: string, name: string): Promise<string> {
  await queryAt(new URL('/template1', url).href, `create database ${name} template postgres`);
  const copy = new URL(`/${name}`, url).href;
  await queryAt(copy, 'update deployment set id = md5(id || $1)', [name]);
  return copy;
}

/** One request at a time. In every round each store gets every request, so that other load on the machine affects all of them alike. */
async function time(measured: readonly Measured[], samples: number): Promise<void> {
  using http = new HttpClient(1);
  for (let round = -warmUpRounds; round < samples; round += 1) {
    if (round % 20 === 0) say(`Requests: round ${round} of ${samples}`);
    const note = (timesMs: Map<string, number[]>, kind: string, tookMs: number) => {
      if (round >= 0) timesMs.set(kind, [...(timesMs.get(kind) ?? []), tookMs]);
    };
    for (const name of Object.keys(lists)) {
      for (const { target, timesMs } of measured) note(timesMs, name, await timeList(http, target, name));
    }
    for (const { target, timesMs } of measured) {
      for (const [name, tookMs] of Object.entries(await timeActs(http, target))) note(timesMs, name, tookMs);
    }
  }
}

async function diskOf(url: string): Promise<Disk[]> {
  const rows = await queryAt<{ relation: string; bytes: string; scans: string | null }>(
    url,
    `select pg_class.relname as relation, case relkind when 'i' then pg_relation_size(pg_class.oid) else pg_table_size(pg_class.oid) end as bytes, idx_scan as scans
      from pg_class left join pg_stat_user_indexes on indexrelid = pg_class.oid
      where pg_class.relname in ('applications', 'application_history') or pg_class.oid in
        (select indexrelid from pg_index where indrelid in ('applications'::regclass, 'application_history'::regclass)) order by relkind desc, 2 desc`,
  );
  return rows.map(({ relation, bytes, scans }) => ({ relation, bytes: Number(bytes), scans: scans === null ? undefined : Number(scans) }));
}

interface Result {
  readonly measured: readonly Measured[];
  readonly samples: number;
  readonly completions: readonly number[];
  readonly plans: readonly Explained[];
  readonly disk: readonly Disk[];
  readonly asJson: boolean;
}

function report({ measured, samples, completions, plans, disk, asJson }: Result): number {
  const [smallest, largest] = [measured[0] as Measured, measured.at(-1) as Measured];
  const kinds = [...largest.timesMs.keys()].map((kind) => {
    const [small, large] = [smallest, largest].map(({ timesMs }) => latencyOf(timesMs.get(kind) ?? [])) as [Latency, Latency];
    const ratio = large.p50Ms / small.p50Ms;
    const holds = kind in lists ? large.p50Ms <= p50MsMax && large.p99Ms <= p99MsMax && ratio <= ratioMax : undefined;
    return { kind, small, large, ratio, holds };
  });
  const completion = { p50Ms: quantile(completions, 0.5), maxMs: Math.max(...completions) };
  const submission = kinds.find(({ kind }) => kind === 'submit, the large client')?.large.p50Ms ?? Number.NaN;
  const holds =
    kinds.every((kind) => kind.holds !== false) &&
    plans.every((plan) => plan.holds) &&
    completion.maxMs <= completionMsMax &&
    submission <= submissionP50MsMax;

  console.log(`Median and 99th percentile in ms of ${samples} requests of each kind, one at a time, pages of 20.`);
  console.log(`The large client has ${count(largest.target.openOfLargeClient)} open applications in the largest store.\n`);
  console.log(`| | ${count(smallest.target.applications)} | ${count(largest.target.applications)} | Ratio | |\n|---|---|---|---|---|`);
  for (const { kind, small, large, ratio, holds: does } of kinds) {
    console.log(`| ${kind} | ${text(small)} | ${text(large)} | ${ratio.toFixed(2)} | ${verdict(does)} |`);
  }
  console.log(
    `\nA list may take ${p50MsMax} ms at the median, ${p99MsMax} ms at the 99th percentile, and ${ratioMax} times as long as in the smallest store.`,
  );
  console.log(`Submitting for the large client: ${submission.toFixed(1)} ms at the median; it may take ${submissionP50MsMax}.`);
  console.log(
    `Completing an order with 500 open applications, ${completions.length} times: ${completion.p50Ms.toFixed(0)} ms at the median, ${completion.maxMs.toFixed(0)} at most; it may take ${completionMsMax}.\n`,
  );
  console.log('| Statement | Rows read | returned | Blocks | Indexes | |\n|---|---|---|---|---|---|');
  for (const { name, read, returned, blocks, indexes, faults } of plans) {
    console.log(`| ${name} | ${count(read)} | ${count(returned)} | ${count(blocks)} | ${indexes.join(', ')} | ${faults.join('; ')} |`);
  }
  console.log('\n| Relation | MB | Bytes for each application | Scans |\n|---|---|---|---|');
  for (const { relation, bytes, scans } of disk) {
    const each = bytes / largest.target.applications;
    console.log(
      `| \`${relation}\` | ${count(Math.round(bytes / 1e6))} | ${each.toFixed(0)} | ${scans === undefined ? '' : count(scans)} |`,
    );
  }
  console.log(holds ? '\nAll hold.' : '\nBROKEN');
  if (asJson) console.log(JSON.stringify({ samples, kinds, completions, plans, disk, holds }));
  return holds ? 0 : 1;
}

const latencyOf = (timesMs: readonly number[]): Latency => ({ p50Ms: quantile(timesMs, 0.5), p99Ms: quantile(timesMs, 0.99) });
const text = ({ p50Ms, p99Ms }: Latency) => `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)}`;
const count = (value: number) => value.toLocaleString('en');
const say = (sentence: string) => void process.stderr.write(`${sentence}\n`);
const verdict = (holds: boolean | undefined) => (holds === undefined ? '' : holds ? 'holds' : 'BROKEN');

process.exitCode = await main();
