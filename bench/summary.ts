import { quantile } from '../testkit/quantile.ts';
import { type CpuUs, type LostTurn, perCpuSecond, type Rounds, type Sample } from './rounds.ts';
import { type Contender, labels, type RatioSpec, type Scenario } from './scenarios.ts';

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export interface ContenderResult {
  readonly name: string;
  readonly label: string;
  readonly perSecond: Spread;
  /** By process and PostgreSQL together; undefined if not measured. */
  readonly perCpuSecond: Spread | undefined;
  /** Without those that were not measured. */
  readonly cpuUs: Readonly<Partial<Record<keyof CpuUs, Spread>>>;
  readonly samples: readonly Sample[];
}

export interface RatioResult extends Spread {
  readonly key: string;
  readonly of: string;
  readonly to: string;
}

export interface ScenarioResult {
  readonly name: string;
  readonly about: string;
  readonly seconds: number;
  readonly rounds: number;
  readonly contenders: readonly ContenderResult[];
  readonly ratios: readonly RatioResult[];
  /** Homeward's warnings during the scenario. */
  readonly warnings: readonly string[];
  /** The turns that gave no sample. They were repeated. */
  readonly lost: readonly LostTurn[];
}

export function summarise(
  scenario: Scenario,
  { samples, lost }: Rounds,
  { seconds, rounds, warnings }: { seconds: number; rounds: number; warnings: readonly string[] },
): ScenarioResult {
  const { name, about } = scenario;
  const contenders = scenario.contenders.map((one): ContenderResult => {
    const own = samples.get(one) ?? [];
    return {
      name: one,
      label: labels[one],
      perSecond: spreadOf(own.map(({ perSecond }) => perSecond)),
      perCpuSecond: measuredSpread(own.map(perCpuSecond)),
      cpuUs: Object.fromEntries(cpuParts.flatMap((part) => cpuOf(part, own))),
      samples: own,
    };
  });
  const find = (wanted: Contender) => contenders.filter((one) => one.name === wanted);
  const ratios = scenario.ratios.flatMap(({ key, of, to, divide, speed = ({ perSecond }) => perSecond }) => {
    const medianOf = (one: ContenderResult) => quantile(one.samples.map(speed), 0.5);
    const [against] = to.flatMap(find).sort((a, b) => medianOf(b) - medianOf(a));
    return against ? find(of).flatMap((one) => ratioOf(key, one, against, divide)) : [];
  });
  return { name, about, seconds, rounds, contenders, ratios, warnings, lost };
}

const cpuParts = ['own', 'redis', 'postgres'] as const;

function cpuOf(part: keyof CpuUs, samples: readonly Sample[]): [[keyof CpuUs, Spread]] | [] {
  const spread = measuredSpread(samples.map(({ cpuUs }) => cpuUs?.[part] ?? Number.NaN));
  return spread ? [[part, spread]] : [];
}

/** Undefined if a value was not measured. */
const measuredSpread = (values: readonly number[]): Spread | undefined =>
  values.length > 0 && values.every(Number.isFinite) ? spreadOf(values) : undefined;

/** The ratio within each round, then the median of these. None if it was not measured. */
function ratioOf(key: string, of: ContenderResult, to: ContenderResult, divide: RatioSpec['divide']): RatioResult[] {
  const ratios = of.samples.flatMap((sample, round) => {
    const against = to.samples[round];
    return against ? divide(sample, against) : [];
  });
  return ratios.every(Number.isFinite) ? [{ key, of: of.name, to: to.name, ...spreadOf(ratios) }] : [];
}

export const spreadOf = (values: readonly number[]): Spread => ({
  median: quantile(values, 0.5),
  min: Math.min(...values),
  max: Math.max(...values),
});
