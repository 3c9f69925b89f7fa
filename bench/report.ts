import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { quantile } from '../testkit/quantile.ts';
import type { Machine } from './machine.ts';
import { drawBars } from './plot.ts';
import { describeLost, type Sample } from './rounds.ts';
import type { ContenderResult, RatioResult, ScenarioResult, Spread } from './summary.ts';
import { connections } from './wrk.ts';

const figures = fileURLToPath(new URL('../docs/figures', import.meta.url));

export function printTable(result: ScenarioResult): void {
  console.log(`${result.name}: ${result.about}`);
  console.log(
    `  ${result.rounds} rounds of ${result.seconds} s, ${connections} connections; the median and, in brackets, the lowest and the highest\n`,
  );
  printRows([['', 'requests/s', '', 'p50', 'p99', 'bytes/response'], ...result.contenders.map(rowOf)]);
  if (result.contenders.some(({ cpuUs }) => cpuUs.redis)) {
    console.log('  CPU time per request, in µs');
    printRows([['', 'own process', '', 'Redis', '', 'PostgreSQL', ''], ...result.contenders.map(cpuRowOf)]);
    console.log('  Requests per second of CPU time, of own process and PostgreSQL together');
    printRows(result.contenders.flatMap(({ label, perCpuSecond }) => (perCpuSecond ? [[label, ...cellsOf(perCpuSecond, grouped)]] : [])));
  }
  for (const ratio of result.ratios) console.log(`  ${describeRatio(ratio)}`);
  for (const [warning, same] of Map.groupBy(result.warnings, (one) => one)) {
    console.log(`  Homeward warned ${same.length} times: ${warning}`);
  }
  for (const turn of result.lost) console.log(`  ${describeLost(turn)}`);
  console.log('');
}

export function toJson(results: readonly ScenarioResult[], machine: Machine) {
  const ratios = results.flatMap((result) => result.ratios.map(({ key, median }) => [key, rounded(median, 3)] as const));
  const described = results.map(({ name, ...rest }) => [name, { ...rest, ratios: rest.ratios.map(roundRatio) }] as const);
  return { ratios: Object.fromEntries(ratios), scenarios: Object.fromEntries(described), machine };
}

/** Saves only the numbers of this run: those of other runs were not measured side by side with them. */
export function save(results: readonly ScenarioResult[], machine: Machine): void {
  mkdirSync(figures, { recursive: true });
  for (const result of results) writeFileSync(path.join(figures, `bench-${result.name}.svg`), drawBars(result));
  writeFileSync(path.join(figures, 'bench.json'), `${JSON.stringify(toJson(results, machine), null, 2)}\n`);
}

/** The first column is aligned to the left, the others to the right. */
export function printRows(rows: ReadonlyArray<readonly string[]>): void {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  for (const row of rows) {
    const cells = row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)));
    console.log(`  ${cells.join('  ').trimEnd()}`);
  }
  console.log('');
}

const cpuRowOf = ({ label, cpuUs }: ContenderResult): string[] => [label, ...[cpuUs.own, cpuUs.redis, cpuUs.postgres].flatMap(cpuCells)];

const cpuCells = (spread: Spread | undefined): [string, string] => (spread ? cellsOf(spread, (us) => us.toFixed(1)) : ['–', '']);

const cellsOf = ({ median, min, max }: Spread, write: (value: number) => string): [string, string] => [
  write(median),
  `(${write(min)}–${write(max)})`,
];

function rowOf({ label, perSecond, samples }: ContenderResult): string[] {
  return [
    label,
    ...cellsOf(perSecond, grouped),
    medianOf(samples, 'p50Ms', (ms) => `${ms.toFixed(1)} ms`),
    medianOf(samples, 'p99Ms', (ms) => `${ms.toFixed(1)} ms`),
    medianOf(samples, 'bytesPerAnswer', grouped),
  ];
}

function medianOf(samples: readonly Sample[], field: 'p50Ms' | 'p99Ms' | 'bytesPerAnswer', write: (value: number) => string): string {
  const values = samples.flatMap((sample) => sample[field] ?? []);
  return values.length > 0 ? write(quantile(values, 0.5)) : '–';
}

const describeRatio = ({ key, of, to, median, min, max }: RatioResult) =>
  `${key}  ${median.toFixed(2)}  (${min.toFixed(2)}–${max.toFixed(2)}; ${of} to ${to})`;

const roundRatio = (ratio: RatioResult): RatioResult => ({
  ...ratio,
  median: rounded(ratio.median, 3),
  min: rounded(ratio.min, 3),
  max: rounded(ratio.max, 3),
});

const rounded = (value: number, digits: number) => Number(value.toFixed(digits));
const grouped = (value: number) => Math.round(value).toLocaleString('en');
