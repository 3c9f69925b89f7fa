// What a write costs PostgreSQL, compared to a git revision: the CPU time and the WAL of adding an animal, ordering it, changing it and
// approving the order; the WAL of an order for an animal with a long description; and how long adding and listing takes beside a
// transaction that holds a new word:
// npm run bench -- writes --base REV [--turns N] [--writes N] [--orders N] [--pairs N] [--json]
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

const ratioMax = 0.8;
const orderWalBytesMax = 400;
const besideRatioMax = 1.2;
const warmingTurns = 5;
const connections = 4;
const turnTimeoutMs = 60_000;
/** Words of descriptions; 0: the animal has no profile. */
const descriptions = [0, 24, 150, 400, 1_200];
const namesOf = { words: 5_000, inName: 2 };
const besideRequests = 50;

const usage = `Usage: npm run bench -- writes --base REV [--turns N] [--writes N] [--orders N] [--pairs N] [--json]

  --base REV    the git revision to compare the present tree with
  --turns N     turns of each tree, after ${warmingTurns} to warm up (40)
  --writes N    writes of each kind in a turn (200)
  --orders N    orders for each length of a description (100)
  --pairs N     phases of ${besideRequests} creates and lists with and without a transaction that holds a new word (20)
  --json        prints all numbers as the last line`;

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    turns: { type: 'string', default: '40' },
    writes: { type: 'string', default: '200' },
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
  readonly writes: number;
  readonly orders: number;
  readonly pairs: number;
}

async function main(): Promise<number> {
  const [turns = 0, writes = 0, orders = 0, pairs = 0] = [values.turns, values.writes, values.orders, values.pairs].map(Number);
  if (!values.base || ![turns, writes, orders, pairs].every((count) => Number.isSafeInteger(count) && count > 0)) {
    console.error(usage);
    return 2;
  }
  const report = await measure(values.base, { turns, writes, orders, pairs });
  print(report);
  if (values.json) console.log(JSON.stringify(report));
  return report.holds ? 0 : 1;
}

interface Report extends Counts {
  readonly base: string;
  readonly costs: Readonly<Record<Write, { readonly cpuUs: Compared; readonly walBytes: Compared }>>;
  /** Bytes of WAL of an order, by the words of the description. */
  readonly orderWal: ReadonlyArray<{ readonly words: number; readonly base: number; readonly present: number }>;
  readonly beside: { readonly p99Ms: number; readonly aloneP99Ms: number; readonly ratio: number; readonly failed: number };
  readonly holds: boolean;
}

/** Of one write. The WAL has no whole pages, which depend on when a checkpoint was: the server writes none. */
interface Compared {
  readonly base: Spread;
  readonly present: Spread;
  readonly ratio: Spread;
}

async function measure(base: string, counts: Counts): Promise<Report> {
  say(`Starting both trees, of ${commitOf(base)} and of the present one`);
  await using trees = await openTrees(base, counts.orders + (warmingTurns + counts.turns) * counts.writes, { autovacuum: 'off' });
  const pair = [await openTarget(trees.base), await openTarget(trees.present)] as const;
  try {
    say('Adding, ordering and changing animals, and approving orders');
    const costs = await measureCosts(pair, counts);
    say('Placing orders for animals with descriptions');
    const [ofBase, ofPresent] = [await measureOrders(pair[0], counts.orders), await measureOrders(pair[1], counts.orders)];
    const orderWal = descriptions.map((words, i) => ({ words, base: ofBase[i] ?? Number.NaN, present: ofPresent[i] ?? Number.NaN }));
    say('Adding and listing beside a transaction that holds a new word');
    const beside = await measureBeside(pair[1], counts.pairs);
    const without = orderWal[0]?.present ?? Number.NaN;
    const holds =
      writeKinds.every(({ name }) => Object.values(costs[name]).every(({ ratio }) => ratio.median <= ratioMax)) &&
      orderWal.every(({ present }) => present - without <= orderWalBytesMax) &&
      beside.ratio <= besideRatioMax &&
      beside.failed === 0;
    return { ...counts, base: commitOf(base), costs, orderWal, beside, holds };
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

type Write = 'create' | 'order' | 'change' | 'approve';

interface WriteKind {
  readonly name: Write;
  readonly status: number;
  /** `n` counts the writes of this kind over all turns. An order is approved in the turn in which it was placed. */
  requests(target: Target, numbers: readonly number[]): Promise<string[]> | string[];
}

const writeKinds: readonly WriteKind[] = [
  {
    name: 'create',
    status: 201,
    requests: ({ tree: { keys } }, numbers) =>
      numbers.map((n) => requestText('POST', '/v1/pets', keyAt(keys, n), { name: nameOf(n), categoryId: 1 + (n % 10) })),
  },
  {
    name: 'order',
    status: 201,
    requests: ({ tree: { keys, freshPetIds } }, numbers) =>
      numbers.map((n) => {
        const petId = Number(freshPetIds[n]);
        const adopter = { name: 'Ada Lovelace', email: `ada${petId}@example.org` };
        return requestText('POST', '/v1/store/orders', keyAt(keys, n), { petId, adopter });
      }),
  },
  {
    name: 'change',
    status: 200,
    requests: ({ tree: { staff } }, numbers) =>
      numbers.map((n) => requestText('PATCH', `/v1/pets/${1 + n}`, staff.key, { name: nameOf(n + 1) })),
  },
  {
    name: 'approve',
    status: 200,
    requests: async ({ tree: { staff }, client }, { length }) => {
      const { rows } = await client.query<{ id: string }>(`select id from orders where status = 'placed' order by id limit $1`, [length]);
      return rows.map(({ id }) => requestText('POST', `/v1/store/orders/${id}/approve`, staff.key));
    },
  },
];

async function measureCosts(pair: readonly [Target, Target], { turns, writes }: Counts): Promise<Report['costs']> {
  const spent = writeKinds.map(() => ({ cpuUs: { base: [], present: [] }, walBytes: { base: [], present: [] } }) as Spent);
  const turn = async (number: number, loads: readonly SocketLoad[]) => {
    const numbers = Array.from({ length: writes }, (_, n) => number * writes + n);
    for (const [k, kind] of writeKinds.entries()) {
      for (const i of number % 2 === 0 ? [0, 1] : [1, 0]) {
        const [target, load, of] = [pair[i], loads[i], spent[k]];
        if (!target || !load || !of) throw new Error('there must be two trees');
        const requests = await kind.requests(target, numbers);
        const [cpuBefore, walBefore] = [await postgresCpuMs(target), await readWal(target.client)];
        await load.send(requests, { status: kind.status, timeoutMs: turnTimeoutMs });
        const [cpu, wal] = [(await postgresCpuMs(target)) - cpuBefore, (await readWal(target.client)) - walBefore];
        if (number < warmingTurns) continue;
        of.cpuUs[target.tree.name].push((cpu * 1_000) / writes);
        of.walBytes[target.tree.name].push(wal / writes);
      }
    }
  };
  for (const [from, to] of [
    [0, warmingTurns],
    [warmingTurns, warmingTurns + turns],
  ] as const) {
    const loads = await Promise.all(pair.map(({ program }) => SocketLoad.open(program.origin, connections)));
    for (let number = from; number < to; number += 1) await turn(number, loads);
    for (const load of loads) load[Symbol.dispose]();
    // Otherwise autovacuum would do it in some turn of one of them.
    for (const { client } of pair) await client.query('vacuum analyze');
  }
  const entries = writeKinds.map(({ name }, k) => [name, { cpuUs: compare(spent[k]?.cpuUs), walBytes: compare(spent[k]?.walBytes) }]);
  return Object.fromEntries(entries);
}

/** By turn. */
type Spent = Readonly<Record<'cpuUs' | 'walBytes', Readonly<Record<Tree['name'], number[]>>>>;

const compare = ({ base, present }: Spent['cpuUs'] = { base: [], present: [] }): Compared => ({
  base: spreadOf(base),
  present: spreadOf(present),
  ratio: spreadOf(present.map((value, i) => value / (base[i] ?? Number.NaN))),
});

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
    const ids = words === 0 ? target.tree.freshPetIds.slice(-orders) : await addDescribed(target.client, orders, words);
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

function print({ base, costs, orderWal, beside, turns, holds }: Report): void {
  const text = ({ median, min, max }: Spread, digits: number) =>
    `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
  console.log(`The present tree compared to ${base}.\n`);
  console.log(`PostgreSQL for one write, ${turns} turns: median and, in brackets, the lowest and the highest; ratio ${ratioMax} may be`);
  for (const { name } of writeKinds) {
    for (const [what, { base: ofBase, present, ratio }] of Object.entries(costs[name])) {
      const unit = what === 'cpuUs' ? 'µs of CPU time' : 'bytes of WAL';
      console.log(`  ${name}, ${unit}: base ${text(ofBase, 0)}, present ${text(present, 0)}, ratio ${text(ratio, 2)}`);
    }
  }
  console.log('');
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
