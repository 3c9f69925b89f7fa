// What metrics and traces cost a cached list, in CPU time of the service's process, compared to a revision without them:
// npm run bench -- telemetry --base REV [--rounds N] [--lists N] [--json]
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { serveLocally } from '../testkit/local-server.ts';
import { quantile } from '../testkit/quantile.ts';
import { commitOf, UnknownRevision } from '../testkit/revision-checkout.ts';
import { freePort, MissingServer } from '../testkit/servers.ts';
import { listKind, measureTurn, type Run } from './cost-kinds.ts';
import { openTrees, type Trees } from './cost-trees.ts';
import { SocketLoad } from './socket-load.ts';
import { type Spread, spreadOf } from './summary.ts';

/** Short turns, since the speed of a shared core changes within a second: the turns of a sweep are then as fast as each other. */
const measuredTurns = 160;
/** V8 goes on compiling for tens of thousands of requests. */
const warmingRequests = 60_000;
const warmingTurnRequests = 3_000;

/** The bars are ratios to the base. */
const variants = [
  { name: 'base', about: 'the revision', bar: undefined },
  { name: 'off', about: 'no metrics, no traces', bar: 1.05 },
  { name: 'metrics', about: 'metrics', bar: 1.05 },
  { name: 'traces', about: 'metrics, and traces of 1% of requests', bar: 1.1 },
] as const;
type Name = (typeof variants)[number]['name'];

const usage = `Usage: npm run bench -- telemetry --base REV [--rounds N] [--lists N] [--json]

  --base REV   the git revision to compare the present tree with
  --rounds N   rounds with new processes, in each of which all variants take turns (10)
  --lists N    requests in a turn (200)
  --json       prints all numbers as the last line`;

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    rounds: { type: 'string', default: '10' },
    lists: { type: 'string', default: '200' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const progress = (text: string) => void (process.stderr.isTTY && process.stderr.write(`\r\x1b[K${text}`));

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));
process.exitCode = await main();

async function main(): Promise<number> {
  const [rounds, lists] = [Number(values.rounds), Number(values.lists)];
  const isValid =
    values.base !== undefined && Number.isInteger(rounds) && rounds >= 1 && Number.isInteger(lists) && lists >= 1 && lists <= 10_000;
  if (values.help || !isValid) {
    console.log(usage);
    return values.help ? 0 : 2;
  }
  try {
    const report = await measure(values.base ?? '', rounds, lists);
    progress('');
    print(report);
    if (values.json) console.log(JSON.stringify(report));
    return report.variants.every(({ holds }) => holds) ? 0 : 1;
  } catch (error) {
    progress('');
    console.error(error instanceof MissingServer || error instanceof UnknownRevision ? error.message : error);
    return 1;
  }
}

interface Variant {
  readonly name: Name;
  readonly about: string;
  /** In µs per request. */
  readonly us: Spread;
  readonly ratio: Spread;
  readonly ratios: readonly number[];
  readonly bar: number | undefined;
  readonly holds: boolean;
}

interface Report {
  readonly base: string;
  readonly rounds: number;
  readonly lists: number;
  readonly loadBefore: number;
  readonly loadAfter: number;
  readonly variants: readonly Variant[];
}

async function measure(base: string, rounds: number, lists: number): Promise<Report> {
  const [loadBefore = 0] = loadavg();
  progress('checking out the base, starting PostgreSQL and Redis, filling both databases');
  await using collector = await openCollector();
  await using trees = await openTrees(base, 1);
  const byRound: Array<Record<Name, Figures>> = [];
  for (let round = 0; round < rounds; round += 1) {
    progress(`round ${round + 1} of ${rounds}`);
    byRound.push(await measureRound(trees, collector.origin, lists));
  }
  const [loadAfter = 0] = loadavg();
  const described = variants.map(({ name, about, bar }): Variant => {
    const ratios = byRound.map((figures) => figures[name].ratio);
    const ratio = spreadOf(ratios);
    const holds = bar === undefined || ratio.median <= bar;
    return { name, about, us: spreadOf(byRound.map((figures) => figures[name].us)), ratio, ratios, bar, holds };
  });
  return { base: commitOf(base), rounds, lists, loadBefore, loadAfter, variants: described };
}

interface Figures {
  /** The median of the turns, per request. */
  readonly us: number;
  /** To the base. */
  readonly ratio: number;
}

async function measureRound({ base, present }: Trees, collectorUrl: string, lists: number): Promise<Record<Name, Figures>> {
  await using resources = new AsyncDisposableStack();
  const [warmingKind, measuredKind] = [listKind('/v1/pets', warmingTurnRequests), listKind('/v1/pets', lists)];
  const warmingTurns = warmingRequests / warmingTurnRequests;
  const [port, otherPort] = [await freePort(), await freePort()];
  const metrics = { HOMEWARD_METRICS_PORT: String(port) };
  const traces = {
    HOMEWARD_METRICS_PORT: String(otherPort),
    OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.01',
  };
  const start = async (name: Name, tree: Run['tree'], env: Readonly<Record<string, string>>) => ({
    name,
    run: { tree, program: resources.use(await tree.serve(env)) },
    spent: [] as number[],
  });
  const turns = [
    await start('base', base, {}),
    await start('off', present, {}),
    await start('metrics', present, metrics),
    await start('traces', present, traces),
  ];
  // Opened with the first turn: a connection on which no request arrives for some seconds is closed.
  const loads = new Map<Name, SocketLoad>();
  for (let i = 0; i < warmingTurns + measuredTurns; i += 1) {
    const kind = i < warmingTurns ? warmingKind : measuredKind;
    for (const { name, run, spent } of inTurn(turns, i)) {
      const load = loads.get(name) ?? resources.use(await SocketLoad.open(run.program.origin, kind.connections));
      loads.set(name, load);
      const us = await measureTurn(kind, run, load, i);
      if (i >= warmingTurns) spent.push(us);
    }
  }
  const ofBase = turns[0]?.spent ?? [];
  const figures = turns.map(({ name, spent }) => {
    const ratios = spent.map((us, i) => us / (ofBase[i] ?? Number.NaN));
    return [name, { us: quantile(spent, 0.5), ratio: quantile(ratios, 0.5) }];
  });
  return Object.fromEntries(figures) as Record<Name, Figures>;
}

/** Each is at each place, before and after each other: what a turn leaves in the core's caches affects the next one. */
function inTurn<T>(turns: readonly T[], sweep: number): T[] {
  const first = sweep % turns.length;
  const rotated = [...turns.slice(first), ...turns.slice(0, first)];
  return Math.floor(sweep / turns.length) % 2 === 0 ? rotated : rotated.toReversed();
}

/** Receives traces, and forgets them. */
function openCollector() {
  return serveLocally((_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
}

function print({ base, rounds, lists, loadBefore, loadAfter, variants: measured }: Report): void {
  console.log(`CPU time of the service's process for a cached list, in µs: the median and, in brackets, the lowest and the highest`);
  console.log(
    `  compared to ${base}; ${rounds} rounds with new processes, ${measuredTurns} turns of ${lists} requests each; load average ${loadBefore.toFixed(1)} before, ${loadAfter.toFixed(1)} after\n`,
  );
  for (const { name, about, us, ratio, bar, holds } of measured) {
    const verdict = bar === undefined ? '' : `  ${holds ? 'within' : 'OVER'} the bar of ${bar}`;
    console.log(
      `  ${name.padEnd(8)} ${us.median.toFixed(1).padStart(6)} (${us.min.toFixed(1)}–${us.max.toFixed(1)})  × ${ratio.median.toFixed(3)} (${ratio.min.toFixed(3)}–${ratio.max.toFixed(3)})${verdict}  ${about}`,
    );
  }
}
