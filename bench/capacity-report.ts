import type { Facts } from './capacity-facts.ts';
import type { Comparison } from './capacity-measure.ts';
import { type Load, type Prediction, predict } from './capacity-model.ts';
import { printRows } from './report.ts';

/** Prediction and measurement may differ by this factor, up or down. */
const ratioMax = 1.25;
const replacementsPerWriteMax = 1.05;

export const fields: Readonly<Record<keyof Load, string>> = {
  writes: 'changes of animals a second',
  clients: 'clients that are active',
  keys: 'their keys',
  requests: 'lists a second',
  pages: 'different pages that are requested',
  touched: 'share of these pages that a write changes',
  endpoints: 'webhook endpoints',
  subscribed: 'share of endpoints that an event is for',
  processes: '`serve` processes',
};
export const names = Object.keys(fields) as Array<keyof Load>;
export const shares: ReadonlyArray<keyof Load> = ['touched', 'subscribed'];

export function printPredictions(loads: readonly Load[], facts: Facts): void {
  const predictions = loads.map((load) => ({ load, ...predict(load, facts) }));
  const row = (name: string, cell: (one: Prediction & { load: Load }) => string) => [name, ...predictions.map(cell)];
  console.log('Predicted, a second unless another unit is given\n');
  printRows([
    ...names.map((name) => row(fields[name], ({ load }) => (shares.includes(name) ? percent(load[name]) : grouped(load[name])))),
    row('', () => ''),
    row('pages read from PostgreSQL', ({ pageReads, missShare }) => `${grouped(pageReads)} (${percent(missShare)})`),
    row('keys read from PostgreSQL', ({ keyReads }) => grouped(keyReads)),
    row('looks for changes in PostgreSQL', ({ looks }) => grouped(looks)),
    row('replacements of the token', ({ replacements }) => grouped(replacements)),
    row('deliveries to endpoints', ({ deliveries }) => grouped(deliveries)),
    row('workers for these', ({ workers }) => grouped(workers)),
    row('busy cores: serve', ({ cores }) => cores.serve.toFixed(1)),
    row('busy cores: Redis, which has one', ({ cores }) => cores.redis.toFixed(2)),
    row('busy cores: PostgreSQL', ({ cores }) => cores.postgres.toFixed(2)),
    row('connections to PostgreSQL', ({ connections }) => grouped(connections)),
    row('MB of a process: keys', ({ bytes }) => megabytes(bytes.keys)),
    row('MB of a process: pages', ({ bytes }) => megabytes(bytes.pages)),
    row('MB of a process: clients', ({ bytes }) => megabytes(bytes.clients)),
    row('MB of Redis', ({ bytes }) => megabytes(bytes.redis)),
  ]);
}

export function printComparison({ load, seconds, counts, replacementsPerWrite, connections, costs, failed, warnings }: Comparison): void {
  const described = names.filter((name) => name !== 'endpoints' && name !== 'subscribed').map((name) => `${name} ${rounded(load[name])}`);
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
    ['connections to PostgreSQL', grouped(connections.predicted), grouped(connections.measured), '', ''],
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
