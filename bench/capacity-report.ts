import type { MeasuredCost } from './capacity-costs.ts';
import { type Facts, type Kind, kinds, type Part, parts } from './capacity-facts.ts';
import { byScarcity, sumOf } from './capacity-limits.ts';
import type { Comparison } from './capacity-measure.ts';
import { type Load, type Prediction, predict } from './capacity-model.ts';
import { printRows } from './report.ts';

/** Prediction and measurement may differ by this factor, up or down. */
const ratioMax = 1.25;
const replacementsPerWriteMax = 1.05;

export const fields: Readonly<Record<keyof Load, string>> = {
  writes: 'changes of animals a second',
  applications: 'applications a second',
  photos: 'photos that are added, a second',
  pictures: 'pictures that are requested, a second',
  clients: 'clients that are active',
  keys: 'their keys',
  requests: 'lists and searches a second',
  searches: 'share of these that are searches',
  pages: 'different pages of lists that are requested',
  touched: 'share of these pages that a write changes',
  searched: 'different searches that are requested',
  searchTouched: 'share of these that a write or a photo changes',
  shelters: 'shelters',
  endpoints: 'webhook endpoints, for one shelter each',
  unfiltered: 'endpoints that want every event',
  processes: '`serve` processes',
};
export const names = Object.keys(fields) as Array<keyof Load>;
export const shares: ReadonlyArray<keyof Load> = ['searches', 'touched', 'searchTouched'];

export function printPredictions(loads: readonly Load[], facts: Facts): void {
  const predictions = loads.map((load) => ({ load, ...predict(load, facts) }));
  const row = (name: string, cell: (one: Prediction & { load: Load }) => string) => [name, ...predictions.map(cell)];
  console.log('Predicted, a second unless another unit is given\n');
  printRows([
    ...names.map((name) => row(fields[name], ({ load }) => (shares.includes(name) ? percent(load[name]) : grouped(load[name])))),
    row('', () => ''),
    row('lists read from PostgreSQL', ({ rates, missShare }) => `${grouped(rates.miss)} (${percent(missShare)})`),
    row('searches read from PostgreSQL', ({ rates, searchMissShare }) => `${grouped(rates.search)} (${percent(searchMissShare)})`),
    row('keys read from PostgreSQL', ({ rates }) => grouped(rates.keyRead)),
    row('rows of usage written', ({ rates }) => grouped(rates.usageRow)),
    row('looks for changes in PostgreSQL', ({ rates }) => grouped(rates.look)),
    row('replacements of the token', ({ replacements }) => grouped(replacements)),
    row('reads of the changes by all processes', ({ rates }) => grouped(rates.logRead)),
    row('deliveries to endpoints', ({ rates }) => grouped(rates.delivery)),
    row('workers for these', ({ workers }) => grouped(workers)),
    ...parts.map((part) => row(`busy cores: ${partNames[part]}`, ({ cores }) => cores[part].toFixed(1))),
    row('connections of serve and workers to PostgreSQL', ({ connections }) => grouped(sumOf(connections))),
    row('MB of a process: keys', ({ bytes }) => megabytes(bytes.keys)),
    row('MB of a process: pages', ({ bytes }) => megabytes(bytes.pages)),
    row('MB of a process: clients', ({ bytes }) => megabytes(bytes.clients)),
    row('MB of Redis', ({ bytes }) => megabytes(bytes.redis)),
    row('million rows of history a year', ({ stored }) => grouped(stored.historyRows / 1e6)),
    row('GB of history a year', ({ stored }) => grouped(stored.history / 1e9)),
    row('GB of usage, while it is kept', ({ stored }) => grouped(stored.usage / 1e9)),
    row('GB of applications a year', ({ stored }) => grouped(stored.applications / 1e9)),
    row('GB of answers, while they are kept', ({ stored }) => grouped(stored.answers / 1e9)),
    row('TB of photos a year', ({ stored }) => grouped(stored.photos / 1e12)),
  ]);
  for (const { load, ...prediction } of predictions) {
    console.log(`What is scarce at ${grouped(load.requests)} requests a second, the scarcest first\n`);
    const rows = byScarcity(prediction, load, facts).map(({ name, need, has, evidence }) => [name, `${percent(need)} of ${has}`, evidence]);
    printRows(rows);
  }
}

const partNames: Readonly<Record<Part, string>> = {
  serve: 'serve',
  worker: 'workers',
  postgres: 'PostgreSQL',
  redis: 'Redis, which has one',
};

/** By the sum of all parts: where a kind of work spends its time may shift between them. */
export function compareCosts(costs: readonly MeasuredCost[], { cpuUs }: Facts): CostComparison[] {
  const sum = (of: Readonly<Partial<Record<Part, number>>>) => parts.reduce((total, part) => total + (of[part] ?? 0), 0);
  return costs.map((cost) => {
    const [predicted, measured] = [sum(cpuUs[cost.kind]), sum(cost.cpuUs)];
    return { ...cost, predicted, measured, ratio: measured / predicted };
  });
}

export interface CostComparison extends MeasuredCost {
  readonly predicted: number;
  readonly measured: number;
  readonly ratio: number;
}

export function printCosts(comparisons: readonly CostComparison[]): void {
  console.log("What one costs, in µs of CPU time on the machine of the model's figures. This one took so many times as long.\n");
  printRows([
    ['', 'predicted', 'measured', 'ratio', '', ...parts, 'times'],
    ...comparisons.map(({ kind, predicted, measured, ratio, cpuUs, slowness }) => [
      kinds[kind],
      grouped(predicted),
      grouped(measured),
      ratio.toFixed(2),
      verdictOf(kind, ratio),
      ...parts.map((part) => grouped(cpuUs[part])),
      slowness.toFixed(2),
    ]),
  ]);
}

/** The others are shown only: a turn of them is too short to be measured well. */
const judged: ReadonlySet<Kind> = new Set<Kind>(['list', 'miss', 'search', 'create', 'delivery', 'photo']);

function verdictOf(kind: Kind, ratio: number): string {
  if (!judged.has(kind)) return 'not judged';
  return isClose(ratio) ? `within ${percent(ratioMax - 1)}` : 'OUT OF THE BAR';
}

export const areCostsClose = (comparisons: readonly CostComparison[]) =>
  comparisons.every(({ kind, ratio }) => !judged.has(kind) || isClose(ratio));

export function printComparison({ load, seconds, counts, replacementsPerWrite, connections, costs, failed, warnings }: Comparison): void {
  const described = names.filter((name) => load[name] > 0).map((name) => `${name} ${rounded(load[name])}`);
  console.log(`Measured in the first ${seconds} s of a store: ${described.join(', ')}\n`);
  printRows([
    ['', 'predicted', 'measured', 'ratio', ''],
    ...counts.map(({ name, predicted, measured }) => [
      name,
      grouped(predicted),
      grouped(measured),
      (measured / predicted).toFixed(2),
      isClose(measured / predicted) ? `within ${percent(ratioMax - 1)}` : 'OUT OF THE BAR',
    ]),
    [
      'replacements of the token a write',
      '',
      replacementsPerWrite.toFixed(2),
      '',
      replacementsPerWrite <= replacementsPerWriteMax ? `within ${replacementsPerWriteMax}` : 'OUT OF THE BAR',
    ],
    ['connections of serve to PostgreSQL', grouped(connections.predicted), grouped(connections.measured), '', ''],
  ]);
  console.log('Costs in this run. With so few requests a second each costs more than under full load.\n');
  printRows(costs.map(({ name, figure }) => [name, figure]));
  if (failed > 0) console.log(`${failed} requests failed.\n`);
  for (const [warning, same] of Map.groupBy(warnings, (one) => one)) console.log(`The store warned ${same.length} times: ${warning}`);
}

const isClose = (ratio: number) => ratio <= ratioMax && ratio >= 1 / ratioMax;

export const holds = ({ counts, replacementsPerWrite, failed }: Comparison) =>
  failed === 0 &&
  replacementsPerWrite <= replacementsPerWriteMax &&
  counts.every(({ predicted, measured }) => isClose(measured / predicted));

export const rounded = (value: number) => Number(value.toPrecision(4));
const grouped = (value: number) => (value < 10 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value).toLocaleString('en'));
const percent = (share: number) => `${rounded(share * 100)} %`;
const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
