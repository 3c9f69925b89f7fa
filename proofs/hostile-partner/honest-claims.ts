import { quantile } from '../../testkit/quantile.ts';
import type { Sample } from '../../testkit/steady-load.ts';
import type { Claim } from '../proof.ts';
import { isServed, type Kind, kindAt } from './honest-client.ts';
import type { Measured, Pair } from './pairs.ts';

const p99RatioMax = 2;
const p99SlackMs = 20;
const medianRatioMax = 1.2;
const growthMax = 200_000_000;

/** What an honest client notices of an attack. */
export function judgeHonest(attack: string, measured: Measured, { isTimed }: { isTimed: boolean }): Claim[] {
  return [...(isTimed ? [judgeTimes(attack, measured.pairs)] : []), judgeFailures(attack, measured), judgeMemory(attack, measured)];
}

function judgeTimes(attack: string, pairs: readonly Pair[]): Claim {
  const p99s = pairs.map(({ without, during }) => ({ without: timeAt(without, 0.99), during: timeAt(during, 0.99) }));
  const medians = pairs.map(({ without, during }) => ({ without: timeAt(without, 0.5), during: timeAt(during, 0.5) }));
  // Of what the bar allows the pair, the part that is used.
  const used = median(p99s.map(({ without, during }) => during / Math.max(p99RatioMax * without, without + p99SlackMs)));
  const medianRatio = ratioOf(medians);
  return {
    claim: `An honest client beside "${attack}": its p99 and its median, compared to without, at the median of ${pairs.length} pairs`,
    bar: `at most ${p99RatioMax} times or ${p99SlackMs} ms more, ${medianRatioMax} times`,
    figure: `${ratioOf(p99s).toFixed(2)} times (${middle(p99s)} ms), ${medianRatio.toFixed(2)} times (${middle(medians)} ms); most noticed by ${describeSlowest(pairs)}`,
    holds: used <= 1 && medianRatio <= medianRatioMax,
    isTimed: true,
  };
}

interface Compared {
  readonly without: number;
  readonly during: number;
}

const ratioOf = (pairs: readonly Compared[]) => median(pairs.map(({ without, during }) => during / without));
const middle = (pairs: readonly Compared[]) =>
  `${median(pairs.map(({ during }) => during)).toFixed(1)} against ${median(pairs.map(({ without }) => without)).toFixed(1)}`;
const median = (values: readonly number[]) => quantile(values, 0.5);
const timeAt = (samples: readonly Sample[], q: number) =>
  quantile(
    samples.map(({ sinceDueMs }) => sinceDueMs),
    q,
  );

/** The kind of request whose p99 grew the most, over all pairs. */
function describeSlowest(pairs: readonly Pair[]): string {
  const [without, during] = [byKind(pairs.flatMap((pair) => pair.without)), byKind(pairs.flatMap((pair) => pair.during))];
  const growths = [...during].map(([kind, samples]) => {
    const [before, after] = [timeAt(without.get(kind) ?? [], 0.99), timeAt(samples, 0.99)];
    return { growth: after - before, text: `"${kind}" (p99 ${after.toFixed(1)} against ${before.toFixed(1)} ms)` };
  });
  return growths.sort((a, b) => b.growth - a.growth)[0]?.text ?? 'none';
}

const byKind = (samples: readonly Sample[]): Map<Kind, Sample[]> => Map.groupBy(samples, ({ index }) => kindAt(index));

function judgeFailures(attack: string, { pairs, scrapes }: Measured): Claim {
  const all = pairs.flatMap(({ without, during }) => [...without, ...during]);
  const failed = all.filter(({ response }) => !isServed(response));
  const count = (matches: (status: number) => boolean) => failed.filter(({ response }) => matches(response?.status ?? 0)).length;
  const [faults, limited] = [count((status) => status >= 500), count((status) => status === 429)];
  const kinds = [
    ...new Set(failed.map(({ index, response }) => `${kindAt(index)} ${response?.status ?? 'no response'} ${codeOf(response?.text)}`)),
  ];
  return {
    claim: `Its requests beside "${attack}" that got 5xx, 429, another error or no response; reads of the metrics that failed`,
    bar: '0, 0, 0; 0',
    figure: `${faults}, ${limited}, ${failed.length - faults - limited} of ${all.length.toLocaleString('en')}; ${scrapes.failed} of ${scrapes.scraped}${kinds.length > 0 ? ` (${kinds.slice(0, 5).join(', ')})` : ''}`,
    holds: failed.length + scrapes.failed === 0 && all.length > 0,
  };
}

const codeOf = (text = ''): string => /"code":"(\w+)"/.exec(text)?.[1] ?? '';

function judgeMemory(attack: string, { growth }: Measured): Claim {
  return {
    claim: `Memory of a \`serve\` beside "${attack}", beyond what it had before`,
    bar: `at most ${growthMax / 1e6} MB`,
    figure: `${Math.round(growth / 1e6)} MB`,
    holds: growth <= growthMax,
  };
}

/** What the attacks leave behind: the honest client before and after all of them. */
export function judgeAftermath(first: Measured, last: Measured): Claim {
  const before = first.pairs.map(({ without }) => without);
  const after = last.pairs.map(({ without }) => without);
  const at = (q: number) => ({
    without: median(before.map((samples) => timeAt(samples, q))),
    during: median(after.map((samples) => timeAt(samples, q))),
  });
  const [p99, middling] = [at(0.99), at(0.5)];
  return {
    claim: 'Its p99 after the attacks, compared to before',
    bar: `at most ${p99RatioMax} times or ${p99SlackMs} ms more`,
    figure: `${(p99.during / p99.without).toFixed(2)} times (${p99.during.toFixed(1)} against ${p99.without.toFixed(1)} ms; at the median ${middling.during.toFixed(1)} against ${middling.without.toFixed(1)} ms)`,
    holds: p99.during <= Math.max(p99RatioMax * p99.without, p99.without + p99SlackMs),
    isTimed: true,
  };
}
