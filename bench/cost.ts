// The CPU time of the service's process for a request, compared to the source tree of a git revision:
// npm run bench -- cost --base REV [--bar 1.05] [--rounds N] [--lists N] [--orders N] [--json]
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { quantile } from '../testkit/quantile.ts';
import { commitOf, UnknownRevision } from '../testkit/revision-checkout.ts';
import { MissingServer } from '../testkit/servers.ts';
import { createKind, type Kind, keyAt, listKind, measureTurn, orderText, type Run, writeConnections } from './cost-kinds.ts';
import { countOrders, openTrees, type Tree } from './cost-trees.ts';
import { warningsIn } from './program.ts';
import { SocketLoad } from './socket-load.ts';
import { type Spread, spreadOf } from './summary.ts';

/** At these maximums, each of the 200 clients has 4,500 open orders: fewer than its bound of 10,000. */
const bounds = { rounds: 100, lists: 10_000, orders: 150 };
/** Base, present, present, base, and so on. Turns are short, so that other load on the machine affects both trees alike. */
const measuredTurns = 40;
/** To warm up the compiler, the connections, and the caches of keys and pages. */
const warmingTurns = 20;
const turnsInRound = warmingTurns + measuredTurns;

const usage = `Usage: npm run bench -- cost --base REV [--bar 1.05] [--rounds N] [--lists N] [--orders N] [--json]

  --base REV   the git revision to compare the present tree with
  --bar N      the highest ratio that passes (1.05); exit status 1 beyond it
  --rounds N   how often both trees take their turns (10)
  --lists N    lists, and listings, in a turn; a tree has ${turnsInRound} turns in a round, ${warmingTurns} of them to warm up (500)
  --orders N   orders placed, and animals added, in a turn (50)
  --json       prints all numbers as the last line`;

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    bar: { type: 'string', default: '1.05' },
    rounds: { type: 'string', default: '10' },
    lists: { type: 'string', default: '500' },
    orders: { type: 'string', default: '50' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const progress = (text: string) => void (process.stderr.isTTY && process.stderr.write(`\r\x1b[K${text}`));

// So that exit handlers, such as the one that removes the checkout, also run after a signal.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));
process.exitCode = await main();

interface Options {
  readonly base: string;
  readonly bar: number;
  readonly rounds: number;
  readonly lists: number;
  readonly orders: number;
}

async function main(): Promise<number> {
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const options = readOptions();
  if (!options) {
    console.error(usage);
    return 2;
  }
  try {
    const report = await measure(options);
    progress('');
    print(report);
    if (values.json) console.log(JSON.stringify(report, (_, value) => (typeof value === 'number' ? Number(value.toFixed(3)) : value)));
    return report.kinds.every(({ holds }) => holds) ? 0 : 1;
  } catch (error) {
    progress('');
    const expected = error instanceof MissingServer || error instanceof UnknownRevision;
    console.error(expected ? error.message : error);
    return 1;
  }
}

function readOptions(): Options | undefined {
  const [rounds, lists, orders] = (['rounds', 'lists', 'orders'] as const).map((name) => {
    const count = Number(values[name]);
    if (Number.isInteger(count) && count >= 1 && count <= bounds[name]) return count;
    console.error(`--${name} must be an integer from 1 to ${bounds[name]}; got "${values[name]}".`);
    return undefined;
  });
  const bar = Number(values.bar);
  if (!(bar > 0)) console.error(`--bar must be a number above 0; got "${values.bar}".`);
  if (!values.base) console.error('--base is missing.');
  return values.base && bar > 0 && rounds && lists && orders ? { base: values.base, bar, rounds, lists, orders } : undefined;
}

interface Figures extends Spread {
  readonly byRound: readonly number[];
}

interface KindReport {
  readonly kind: string;
  readonly requestsPerTurn: number;
  /** In µs per request. */
  readonly base: Figures;
  readonly present: Figures;
  /** Present tree divided by base. */
  readonly ratio: Figures;
  readonly holds: boolean;
}

interface Report {
  readonly base: string;
  readonly bar: number;
  readonly rounds: number;
  readonly machine: { readonly processor: string; readonly cores: number; readonly node: string };
  readonly kinds: readonly KindReport[];
  /** The trees' warnings, such as the loss of Redis: after one, a tree may not have done the work that was to be measured. */
  readonly warnings: Readonly<Record<Tree['name'], readonly string[]>>;
}

async function measure(options: Options): Promise<Report> {
  const { base, bar, rounds, lists, orders } = options;
  const commit = commitOf(base);
  const ordersOfTree = orders * rounds * turnsInRound;
  progress(`checking out ${commit}, starting PostgreSQL and Redis, filling both databases`);
  await using trees = await openTrees(base, ordersOfTree);
  const kinds = [listKind('/v1/pets', lists), listKind('/v1/listings', lists), createKind(orders), orderKind(orders)];
  const figures = new Map(kinds.map((kind) => [kind, [] as RoundFigures[]]));
  const warnings = { base: [] as string[], present: [] as string[] };
  for (let round = 0; round < rounds; round += 1) {
    // New processes each round: JIT compilation and garbage collection make one process differ from the next by some percent.
    await using ofBase = await trees.base.serve();
    await using ofPresent = await trees.present.serve();
    const runs = [
      { tree: trees.base, program: ofBase },
      { tree: trees.present, program: ofPresent },
    ] as const;
    for (const kind of kinds) {
      progress(`round ${round + 1} of ${rounds}: ${kind.name}`);
      figures.get(kind)?.push(await measureRound(kind, runs, round));
    }
    for (const { tree, program } of runs) warnings[tree.name].push(...warningsIn(program.log()));
  }
  for (const tree of [trees.base, trees.present]) {
    const placed = await countOrders(tree);
    if (placed !== ordersOfTree) throw new Error(`the ${tree.name} tree has ${placed} orders instead of ${ordersOfTree}`);
  }
  const machine = { processor: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
  const described = [...figures].map(([kind, byRound]) => describe(kind, byRound, bar));
  return { base: commit, bar, rounds, machine, kinds: described, warnings };
}

interface RoundFigures {
  /** µs per request. */
  readonly base: number;
  readonly present: number;
  /** The median ratio of consecutive turns of the two trees. */
  readonly ratio: number;
}

/** Returns medians over the turns, so that a turn in which the process got too little CPU, or Redis was late, has no undue weight. */
async function measureRound(kind: Kind, [base, present]: readonly [Run, Run], round: number): Promise<RoundFigures> {
  using toBase = await SocketLoad.open(base.program.origin, kind.connections);
  using toPresent = await SocketLoad.open(present.program.origin, kind.connections);
  const spent = { base: [] as number[], present: [] as number[] };
  const pair = [
    { run: base, load: toBase },
    { run: present, load: toPresent },
  ];
  for (let i = 0; i < turnsInRound; i += 1) {
    for (const { run, load } of i % 2 === 0 ? pair : pair.toReversed()) {
      const us = await measureTurn(kind, run, load, round * turnsInRound + i);
      if (i >= warmingTurns) spent[run.tree.name].push(us);
    }
  }
  const ratios = spent.present.map((us, i) => us / (spent.base[i] ?? Number.NaN));
  return { base: quantile(spent.base, 0.5), present: quantile(spent.present, 0.5), ratio: quantile(ratios, 0.5) };
}

/** Each order is for a new animal and a new adopter; the clients take turns. */
function orderKind(count: number): Kind {
  return {
    name: 'POST /v1/store/orders',
    requestsPerTurn: count,
    connections: writeConnections,
    status: 201,
    requests: ({ keys, freshPetIds }, turn) =>
      freshPetIds.slice(turn * count, (turn + 1) * count).map((petId, i) => {
        const number = turn * count + i;
        return orderText(keyAt(keys, number), Number(petId), number);
      }),
  };
}

function describe({ name, requestsPerTurn }: Kind, rounds: readonly RoundFigures[], bar: number): KindReport {
  const [base, present, ratio] = (['base', 'present', 'ratio'] as const).map((figure): Figures => {
    const byRound = rounds.map((round) => round[figure]);
    return { ...spreadOf(byRound), byRound };
  }) as [Figures, Figures, Figures];
  return { kind: name, requestsPerTurn, base, present, ratio, holds: ratio.median <= bar };
}

function print({ base, bar, rounds, kinds, warnings }: Report): void {
  console.log("CPU time of the service's process per request, in µs: the median and, in brackets, the lowest and the highest");
  console.log(
    `  the present tree compared to ${base}; ${rounds} rounds with new processes, each of ${measuredTurns} turns per tree: base, present, present, base, and so on\n`,
  );
  for (const kind of kinds) {
    const line = (name: string, { median, min, max }: Spread, digits: number) =>
      console.log(`  ${name.padEnd(8)}  ${median.toFixed(digits).padStart(7)}  (${min.toFixed(digits)}–${max.toFixed(digits)})`);
    console.log(`${kind.kind}: ${kind.requestsPerTurn.toLocaleString('en')} requests a turn`);
    line('base', kind.base, 1);
    line('present', kind.present, 1);
    line('ratio', kind.ratio, 3);
    console.log(`  by round  ${kind.ratio.byRound.map((ratio) => ratio.toFixed(3)).join(' ')}`);
    console.log(`  ${kind.holds ? 'within' : 'OVER'} the bar of ${bar}\n`);
  }
  for (const name of ['base', 'present'] as const) {
    for (const [warning, same] of Map.groupBy(warnings[name], (one) => one)) {
      console.log(`The ${name} tree warned ${same.length} times: ${warning}`);
    }
  }
}
