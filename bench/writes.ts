// What a write costs PostgreSQL, compared to a git revision: the CPU time of adding an animal, the WAL of an order for an animal with a long
// description, and how long adding and listing takes beside a transaction that holds a new word:
// npm run bench -- writes --base REV [--turns N] [--creates N] [--orders N] [--pairs N] [--json]
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { HttpClient } from '../testkit/http.ts';
import { connectTo } from '../testkit/postgres.ts';
import { cpuMs } from '../testkit/process-cpu.ts';
import { quantile } from '../testkit/quantile.ts';
import { commitOf } from '../testkit/revision-checkout.ts';
import { keyAt } from './cost-kinds.ts';
import { openTrees, type Tree } from './cost-trees.ts';
import { requestText, SocketLoad } from './socket-load.ts';
import { type Spread, spreadOf } from './summary.ts';

const createRatioMax = 0.65;
const orderWalBytesMax = 400;
const besideRatioMax = 1.2;
const warmingTurns = 5;
const connections = 4;
const turnTimeoutMs = 60_000;
/** Words of descriptions; 0: the animal has no profile. */
const descriptions = [0, 24, 150, 400, 1_200];
const namesOf = { words: 5_000, inName: 2 };
const besideRequests = 50;

const usage = `Usage: npm run bench -- writes --base REV [--turns N] [--creates N] [--orders N] [--pairs N] [--json]

  --base REV    the git revision to compare the present tree with
  --turns N     turns of each tree, after ${warmingTurns} to warm up (40)
  --creates N   animals added in a turn (200)
  --orders N    orders for each length of a description (100)
  --pairs N     phases of ${besideRequests} creates and lists with and without a transaction that holds a new word (20)
  --json        prints all numbers as the last line`;

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    turns: { type: 'string', default: '40' },
    creates: { type: 'string', default: '200' },
    orders: { type: 'string', default: '100' },
    pairs: { type: 'string', default: '20' },
    json: { type: 'boolean', default: false },
  },
});
const say = (sentence: string) => void process.stderr.write(`${sentence}\n`);
// So that exit handlers, such as the one that removes the checkout, also run after a signal.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));

interface Counts {
  readonly turns: number;
  readonly creates: number;
  readonly orders: number;
  readonly pairs: number;
}

async function main(): Promise<number> {
  const [turns = 0, creates = 0, orders = 0, pairs = 0] = [values.turns, values.creates, values.orders, values.pairs].map(Number);
  if (!values.base || ![turns, creates, orders, pairs].every((count) => Number.isSafeInteger(count) && count > 0)) {
    console.error(usage);
    return 2;
  }
  const report = await measure(values.base, { turns, creates, orders, pairs });
  print(report);
  if (values.json) console.log(JSON.stringify(report));
  return report.holds ? 0 : 1;
}

interface Report extends Counts {
  readonly base: string;
  /** µs of PostgreSQL for each animal added. */
  readonly create: { readonly base: Spread; readonly present: Spread; readonly ratio: Spread };
  /** Bytes of WAL of an order, by the words of the description. */
  readonly orderWal: ReadonlyArray<{ readonly words: number; readonly base: number; readonly present: number }>;
  readonly beside: { readonly p99Ms: number; readonly aloneP99Ms: number; readonly ratio: number; readonly failed: number };
  readonly holds: boolean;
}

async function measure(base: string, counts: Counts): Promise<Report> {
  say(`Starting both trees, of ${commitOf(base)} and of the present one`);
  await using trees = await openTrees(base, counts.orders);
  const pair = [await openTarget(trees.base), await openTarget(trees.present)] as const;
  try {
    say('Adding animals');
    const create = await measureCreates(pair, counts);
    say('Placing orders');
    const [ofBase, ofPresent] = [await measureOrders(pair[0], counts.orders), await measureOrders(pair[1], counts.orders)];
    const orderWal = descriptions.map((words, i) => ({ words, base: ofBase[i] ?? Number.NaN, present: ofPresent[i] ?? Number.NaN }));
    say('Adding and listing beside a transaction that holds a new word');
    const beside = await measureBeside(pair[1], counts.pairs);
    const without = orderWal[0]?.present ?? Number.NaN;
    const holds =
      create.ratio.median <= createRatioMax &&
      orderWal.every(({ present }) => present - without <= orderWalBytesMax) &&
      beside.ratio <= besideRatioMax &&
      beside.failed === 0;
    return { ...counts, base: commitOf(base), create, orderWal, beside, holds };
  } finally {
    for (const { program, client } of pair) {
      await client.end();
      await program[Symbol.asyncDispose]();
    }
  }
}

interface Target {
  readonly tree: Tree;
  readonly program: Awaited<ReturnType<Tree['serve']>>;
  readonly client: pg.Client;
}

async function openTarget(tree: Tree): Promise<Target> {
  return { tree, program: await tree.serve(), client: await connectTo(tree.databaseUrl) };
}

async function measureCreates(pair: readonly [Target, Target], { turns, creates }: Counts): Promise<Report['create']> {
  const spent = { base: [] as number[], present: [] as number[] };
  const loads = await Promise.all(pair.map(({ program }) => SocketLoad.open(program.origin, connections)));
  try {
    for (let turn = 0; turn < warmingTurns + turns; turn += 1) {
      const order = turn % 2 === 0 ? [0, 1] : [1, 0];
      for (const i of order) {
        const [target, load] = [pair[i], loads[i]];
        if (!target || !load) throw new Error('there must be two trees');
        const requests = Array.from({ length: creates }, (_, n) => createRequest(target.tree, turn * creates + n));
        const before = await postgresCpuMs(target);
        await load.send(requests, { status: 201, timeoutMs: turnTimeoutMs });
        const us = (((await postgresCpuMs(target)) - before) * 1_000) / creates;
        if (turn >= warmingTurns) spent[target.tree.name].push(us);
      }
    }
  } finally {
    for (const load of loads) load[Symbol.dispose]();
  }
  const ratios = spent.present.map((us, i) => us / (spent.base[i] ?? Number.NaN));
  return { base: spreadOf(spent.base), present: spreadOf(spent.present), ratio: spreadOf(ratios) };
}

const createRequest = ({ keys }: Tree, number: number) =>
  requestText('POST', '/v1/pets', keyAt(keys, number), { name: nameOf(number), categoryId: 1 + (number % 10) });

const nameOf = (number: number) =>
  Array.from({ length: namesOf.inName }, (_, i) => wordOf((number * 7_919 + i * 104_729) % namesOf.words)).join(' ');

/** A word of letters: the same for the same number. */
const wordOf = (number: number) => [...String(number + 10_000)].map((digit) => 'balemotuxi'[Number(digit)]).join('');

/** Of the connections of the service. */
async function postgresCpuMs({ client }: Target): Promise<number> {
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and application_name = 'homeward'`,
  );
  return rows.reduce((sum, { pid }) => sum + cpuMs(pid), 0);
}

/** The median of the WAL of single orders, for each length of a description. */
async function measureOrders(target: Target, orders: number): Promise<number[]> {
  using http = new HttpClient(1);
  const medians: number[] = [];
  for (const words of descriptions) {
    const ids = words === 0 ? target.tree.freshPetIds.slice(0, orders) : await addDescribed(target.client, orders, words);
    const bytes: number[] = [];
    for (const [i, petId] of ids.entries()) {
      const before = await readWal(target.client);
      const { status, text } = await http.send(`${target.program.origin}/v1/store/orders`, {
        method: 'POST',
        key: keyAt(target.tree.keys, i),
        body: { petId: Number(petId), adopter: { name: 'Ada Lovelace', email: `ada${petId}@example.org` } },
      });
      if (status !== 201) throw new Error(`an order got ${status}: ${text}`);
      bytes.push((await readWal(target.client)) - before);
    }
    medians.push(quantile(bytes, 0.5));
  }
  return medians;
}

async function addDescribed(client: pg.Client, count: number, words: number): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `insert into pets (name, category_id, status) select 'Fresh', 1, 'available' from generate_series(1, $1::int) returning id`,
    [count],
  );
  const ids = rows.map(({ id }) => id);
  await client.query(
    `insert into profiles (pet_id, shelter_id, description, breed_primary, sex)
      select id, 1, (select string_agg('w' || substr(md5(id || ' ' || n), 1, 3 + n % 4), ' ') from generate_series(1, $2::int) n), 'Beagle', 'female'
        from unnest($1::bigint[]) id`,
    [ids, words],
  );
  return ids;
}

async function readWal(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>(`select pg_current_wal_insert_lsn() - '0/0' as bytes`);
  return Number(rows[0]?.bytes);
}

/** Phases with and without a transaction that has added an animal with a new word and pauses. All that is added has this word. */
async function measureBeside({ tree, program, client }: Target, pairs: number): Promise<Report['beside']> {
  using http = new HttpClient(connections);
  const times: Record<'with' | 'without', number[]> = { with: [], without: [] };
  let failed = 0;
  for (let i = 0; i < pairs * 2; i += 1) {
    const phase = i % 4 === 0 || i % 4 === 3 ? 'without' : 'with';
    const word = `neuwort${wordOf(i)}`;
    if (phase === 'with') {
      await client.query('begin');
      await client.query(`insert into pets (name, category_id, status) values ($1, 1, 'available')`, [word]);
    }
    const send = async (n: number) => {
      const key = keyAt(tree.keys, i * besideRequests + n);
      const startMs = performance.now();
      const { status } =
        n % 2 === 0
          ? await http.send(`${program.origin}/v1/pets`, { method: 'POST', key, body: { name: word, categoryId: 1 } })
          : await http.send(`${program.origin}/v1/pets?limit=${1 + (n % 50)}`, { key });
      times[phase].push(performance.now() - startMs);
      if (status >= 300) failed += 1;
    };
    await Promise.all(Array.from({ length: 2 * besideRequests }, (_, n) => send(n)));
    if (phase === 'with') await client.query('rollback');
  }
  const [p99Ms, aloneP99Ms] = [quantile(times.with, 0.99), quantile(times.without, 0.99)];
  return { p99Ms, aloneP99Ms, ratio: p99Ms / aloneP99Ms, failed };
}

function print({ base, create, orderWal, beside, turns, holds }: Report): void {
  const text = ({ median, min, max }: Spread, digits: number) =>
    `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
  console.log(`The present tree compared to ${base}.\n`);
  console.log(`CPU time of PostgreSQL to add an animal, in µs, ${turns} turns: median and, in brackets, the lowest and the highest`);
  console.log(
    `  base ${text(create.base, 0)}, present ${text(create.present, 0)}, ratio ${text(create.ratio, 2)}; ${createRatioMax} may be\n`,
  );
  console.log(`WAL of an order in bytes, the median; beyond an order for an animal without a profile ${orderWalBytesMax} may be`);
  for (const { words, base: ofBase, present } of orderWal) {
    const without = orderWal[0] ?? { base: 0, present: 0 };
    const beyond = words === 0 ? '' : ` (+${ofBase - without.base} and +${present - without.present})`;
    console.log(`  ${words === 0 ? 'no profile' : `${words.toLocaleString('en')} words`}: base ${ofBase}, present ${present}${beyond}`);
  }
  console.log(`\nAdding animals and listing beside a transaction that holds a new word: ${beside.failed} failed, 99th percentile`);
  console.log(
    `  ${beside.p99Ms.toFixed(1)} ms, ${beside.aloneP99Ms.toFixed(1)} ms without it, ratio ${beside.ratio.toFixed(2)}; ${besideRatioMax} may be`,
  );
  console.log(holds ? '\nAll hold.' : '\nBROKEN');
}

process.exitCode = await main();
