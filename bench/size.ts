// The latency of requests to a store of ten thousand and of a hundred million animals:
// npm run bench -- size [--sizes 10000,1000000,…] [--samples N] [--json] [--folder PATH]
import { totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { quantile } from '../testkit/quantile.ts';
import { endProcess } from '../testkit/running-processes.ts';
import { type ServeProcess, Store } from '../testkit/store.ts';
import { copyDatabase, type DiskUse, fill, measureDiskUse, type Progress, restartForFilling, type Step } from './size-fill.ts';
import {
  countBlocks,
  findFilters,
  type Kind,
  kinds,
  listKinds,
  pageSize,
  prepareTarget,
  type Samples,
  timeRequests,
} from './size-requests.ts';

const sizesDefault = [10_000, 1_000_000, 10_000_000, 100_000_000];
const samplesDefault = 500;
const ratioMax = 1.3;
const noLimits = { perMinute: 999_999_999, perDay: 999_999_999 };

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { sizes: { type: 'string' }, samples: { type: 'string' }, json: { type: 'boolean' }, folder: { type: 'string' } },
  });
  const sizes = values.sizes?.split(',').map(Number) ?? sizesDefault;
  const samples = Number(values.samples ?? samplesDefault);
  if (![...sizes, samples].every((value) => Number.isSafeInteger(value) && value > 0)) {
    console.error('Usage: npm run bench -- size [--sizes 10000,1000000] [--samples 500] [--json] [--folder PATH]');
    return 2;
  }
  const report = await measureSizes({ sizes, samples, folder: values.folder, progress: progressOn(process.stderr) });
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  printReport(report);
  if (values.json) console.log(JSON.stringify(report, (_, value) => (typeof value === 'number' ? Number(value.toFixed(3)) : value)));
  return report.holds ? 0 : 1;
}

interface SizeOptions {
  readonly sizes?: readonly number[];
  /** Requests of each kind that are timed at each size. */
  readonly samples?: number;
  /** The folder for the data until the end; by default the system's temporary folder. */
  readonly folder?: string | undefined;
  readonly progress?: Progress;
}

interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

type Blocks = Awaited<ReturnType<typeof countBlocks>>;

interface SizeFigures {
  readonly animals: number;
  readonly fillSteps: readonly Step[];
  readonly disk: DiskUse;
  readonly latencies: Readonly<Record<Kind, Latency>>;
  readonly blocks: Blocks;
}

interface Ratio {
  readonly kind: string;
  readonly smallest: Latency;
  readonly largest: Latency;
  /** The median at the largest size divided by that at the smallest. */
  readonly p50Ratio: number;
  /** Undefined if it is only reported, without a bar. */
  readonly holds: boolean | undefined;
}

interface SizeReport {
  readonly samples: number;
  readonly memoryBytes: number;
  readonly sizes: readonly SizeFigures[];
  /** Both sizes measured in turns. */
  readonly comparison: {
    readonly smallest: number;
    readonly largest: number;
    readonly ratioMax: number;
    readonly ratios: readonly Ratio[];
  };
  readonly holds: boolean;
}

/** Measures a store that grows from size to size, and for comparison a copy that stays at the smallest size. */
async function measureSizes(options: SizeOptions = {}): Promise<SizeReport> {
  const { samples = samplesDefault, progress = () => {} } = options;
  const [smallest = 0, ...larger] = [...(options.sizes ?? sizesDefault)].sort((a, b) => a - b);
  const largest = larger.at(-1) ?? smallest;
  // The servers put their data there, and remove them when they end, even if this process is killed.
  if (options.folder) process.env['TMPDIR'] = options.folder;
  await using store = await Store.open({ processes: 0, env: { HOMEWARD_PAGE_CACHE: 'off', LOG_LEVEL: 'warn' } });
  await restartForFilling(store.postgres);
  const { key } = await store.createKey('bench', noLimits);
  const databaseUrl = store.postgres.url;

  const named =
    (animals: number): Progress =>
    (step, fraction) =>
      progress(`${count(animals)} animals: ${step}`, fraction);
  const firstSteps = await fill(databaseUrl, smallest, named(smallest));
  const filters = await findFilters(databaseUrl);
  const copyUrl = await copyDatabase(databaseUrl, 'smallest');

  const sizes: SizeFigures[] = [];
  for (const animals of [smallest, ...larger]) {
    const fillSteps = animals === smallest ? firstSteps : await fill(databaseUrl, animals, named(animals));
    const disk = await measureDiskUse(databaseUrl);
    await using serve = await serveOn(store, databaseUrl);
    const target = await prepareTarget({ url: serve.url, key, databaseUrl, animals }, filters);
    const [timed] = await timeRequests([target], samples, named(animals));
    sizes.push({ animals, fillSteps, disk, latencies: latenciesOf(timed as Samples), blocks: await countBlocks(databaseUrl, target) });
  }

  // Both processes are new, so that neither had more time to warm up.
  await using serve = await serveOn(store, databaseUrl);
  await using serveCopy = await serveOn(store, copyUrl);
  const targets = [
    await prepareTarget({ url: serveCopy.url, key, databaseUrl: copyUrl, animals: smallest }, filters),
    await prepareTarget({ url: serve.url, key, databaseUrl, animals: largest }, filters),
  ];
  const timed = await timeRequests(targets, samples, (step, fraction) => progress(`side by side: ${step}`, fraction));
  const ratios = compare(timed[0] as Samples, timed[1] as Samples);
  const holds = ratios.every((ratio) => ratio.holds !== false);
  return { samples, memoryBytes: totalmem(), sizes, comparison: { smallest, largest, ratioMax, ratios }, holds };
}

async function serveOn(store: Store, databaseUrl: string): Promise<ServeProcess & AsyncDisposable> {
  const serve = await store.serve({ DATABASE_URL: databaseUrl });
  return { ...serve, [Symbol.asyncDispose]: () => endProcess(serve.child) };
}

function latenciesOf(samples: Samples): Record<Kind, Latency> {
  return Object.fromEntries(kinds.map((kind) => [kind, latencyOf(samples[kind])])) as Record<Kind, Latency>;
}

function latencyOf(samplesMs: readonly number[]): Latency {
  return { p50Ms: quantile(samplesMs, 0.5), p99Ms: quantile(samplesMs, 0.99) };
}

function compare(smallest: Samples, largest: Samples): Ratio[] {
  const ratioOf = (kind: string, pooled: readonly Kind[], isPromised: boolean): Ratio => {
    const [small, large] = [smallest, largest].map((samples) => latencyOf(pooled.flatMap((one) => samples[one]))) as [Latency, Latency];
    const p50Ratio = large.p50Ms / small.p50Ms;
    return { kind, smallest: small, largest: large, p50Ratio, holds: isPromised ? p50Ratio <= ratioMax : undefined };
  };
  return [
    ratioOf('all lists', listKinds, true),
    ...kinds.map((kind) =>
      ratioOf(
        kind,
        [kind],
        listKinds.some((one) => one === kind),
      ),
    ),
  ];
}

function printReport({ samples, memoryBytes, sizes, comparison }: SizeReport): void {
  console.log(
    `Median and 99th percentile in ms of ${samples} requests of each kind, one at a time, the page cache off, pages of ${pageSize}.`,
  );
  console.log(`Filled animals have no history. PostgreSQL runs without fsync. The machine has ${megabytes(memoryBytes)} of memory.\n`);
  printTable([
    ['animals', ...kinds],
    ...sizes.map(({ animals, latencies }) => [count(animals), ...kinds.map((kind) => latencyText(latencies[kind]))]),
  ]);
  console.log('\nBlocks that PostgreSQL touches for a page, at the median\n');
  printTable([
    ['animals', ...listKinds],
    ...sizes.map(({ animals, blocks }) => [count(animals), ...listKinds.map((kind) => String(blocks[kind]))]),
  ]);
  const { smallest, largest, ratios } = comparison;
  console.log(
    `\nBoth sizes in turns; the median of a list at ${count(largest)} may be at most ${ratioMax} times that at ${count(smallest)}\n`,
  );
  printTable([
    ['', count(smallest), count(largest), 'ratio', ''],
    ...ratios.map((ratio) => [
      ratio.kind,
      latencyText(ratio.smallest),
      latencyText(ratio.largest),
      ratio.p50Ratio.toFixed(2),
      verdict(ratio),
    ]),
  ]);
  console.log('\nDisk space, and the time to fill the store\n');
  const indexes = Object.keys(sizes[0]?.disk.indexBytes ?? {});
  printTable([
    ['animals', 'table', ...indexes, 'database', 'seconds'],
    ...sizes.map(({ animals, disk, fillSteps }) => [
      count(animals),
      ...[disk.tableBytes, ...indexes.map((name) => disk.indexBytes[name] ?? 0), disk.databaseBytes].map(megabytes),
      fillSteps.reduce((sum, { seconds }) => sum + seconds, 0).toFixed(0),
    ]),
  ]);
  const last = sizes.at(-1);
  console.log(`\nThe steps of the last fill: ${last?.fillSteps.map(({ name, seconds }) => `${name} ${seconds.toFixed(0)} s`).join(', ')}`);
}

function count(value: number) {
  return value.toLocaleString('en');
}
function megabytes(bytes: number) {
  return `${count(Math.round(bytes / 1e6))} MB`;
}
function latencyText({ p50Ms, p99Ms }: Latency) {
  return `${p50Ms.toFixed(2)} / ${p99Ms.toFixed(2)}`;
}

function verdict({ holds }: Ratio): string {
  if (holds === undefined) return '';
  return holds ? 'holds' : 'BROKEN';
}

function printTable(rows: readonly string[][]): void {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  for (const row of rows) {
    const cells = row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)));
    console.log(cells.join('  ').trimEnd());
  }
}

/** A progress bar on a terminal; elsewhere one line for each step and each tenth of it. */
function progressOn(stream: NodeJS.WriteStream): Progress {
  let shown = '';
  return (step, fraction = 0) => {
    const tenths = Math.floor(fraction * 10);
    const bar = '█'.repeat(tenths * 2).padEnd(20, '░');
    const line = stream.isTTY ? `${bar} ${Math.floor(fraction * 100)} % ${step}` : `${step}, ${tenths * 10} %`;
    if (line === shown) return;
    shown = line;
    stream.write(stream.isTTY ? `\r\x1b[K${line}` : `${line}\n`);
  };
}
