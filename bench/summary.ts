import { quantile } from '../testkit/quantile.ts';
import type { Sample } from './rounds.ts';
import { type Contender, labels, type Scenario } from './scenarios.ts';

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export interface ContenderResult {
  readonly name: string;
  readonly label: string;
  readonly perSecond: Spread;
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
}

export function summarise(
  scenario: Scenario,
  samples: ReadonlyMap<string, readonly Sample[]>,
  { seconds, rounds, warnings }: { seconds: number; rounds: number; warnings: readonly string[] },
): ScenarioResult {
  const { name, about } = scenario;
  const contenders = scenario.contenders.map((one): ContenderResult => {
    const own = samples.get(one) ?? [];
    return { name: one, label: labels[one], perSecond: spreadOf(own.map(({ perSecond }) => perSecond)), samples: own };
  });
  const find = (wanted: Contender) => contenders.filter((one) => one.name === wanted);
  const ratios = scenario.ratios.flatMap(({ key, of, to }) => {
    const [against] = to.flatMap(find).sort((a, b) => b.perSecond.median - a.perSecond.median);
    return against ? find(of).map((one) => ratioOf(key, one, against)) : [];
  });
  return { name, about, seconds, rounds, contenders, ratios, warnings };
}

/** The ratio within each round, then the median of these. */
function ratioOf(key: string, of: ContenderResult, to: ContenderResult): RatioResult {
  const ratios = of.samples.map(({ perSecond }, round) => perSecond / (to.samples[round]?.perSecond ?? Number.NaN));
  return { key, of: of.name, to: to.name, ...spreadOf(ratios) };
}

export const spreadOf = (values: readonly number[]): Spread => ({
  median: quantile(values, 0.5),
  min: Math.min(...values),
  max: Math.max(...values),
});
