// What a store promises about its clients: revoked keys are rejected, limits are kept, and PostgreSQL's connections suffice.
import type { CheckOptions, Finding, History, LimitedUse } from '../history.ts';
import { seconds } from './described-operations.ts';

/** A process may report what was left half a second ago, and returns what it did not use within a tenth more. */
const countDelayMs = 600;

/** One finding for each key, of its first use that should have been rejected. */
export function checkRevocations({ revocations, keyUses }: History, { revocationsCountFromMs }: CheckOptions, originMs: number): Finding[] {
  return revocations.flatMap(({ keyId, endMs, outcome }): Finding[] => {
    if (outcome !== 'ok') return [];
    const fromMs = Math.max(endMs, revocationsCountFromMs ?? -Infinity);
    const admitted = keyUses.filter((use) => use.keyId === keyId && use.attempt.beginMs > fromMs && isAdmitted(use));
    const [first] = admitted;
    if (!first) return [];
    const { process, beginMs, status } = first.attempt;
    const text = `Its revocation was acknowledged at ${seconds(endMs, originMs)}, and process ${process} responded with ${status} to a request sent at ${seconds(beginMs, originMs)}. ${admitted.length} requests in all.`;
    return [{ rule: 'revoked key is rejected', subject: `key ${keyId}`, text }];
  });
}

export function checkLimits({ limitedUses, limits }: History, { withoutRedis, dayCounts }: CheckOptions, originMs: number): Finding[] {
  if (!limits) return [];
  const findings: Finding[] = [];
  const admitted = limitedUses.filter(isAdmitted);
  for (const [resetSeconds, uses] of Map.groupBy(admitted, (use) => use.resetSeconds)) {
    const firstMs = Math.min(...uses.map(({ attempt }) => attempt.beginMs));
    const factor = withoutRedis && firstMs < withoutRedis.untilMs ? withoutRedis.processes : 1;
    if (resetSeconds === undefined || uses.length <= factor * limits.perMinute) continue;
    const minute = new Date(1_000 * (resetSeconds - 60)).toISOString().slice(11, 16);
    const text = `${uses.length} requests were admitted, and the limit is ${limits.perMinute}${factor > 1 ? ` for each of ${factor} processes` : ''}.`;
    findings.push({ rule: 'limit is kept', subject: `minute ${minute} UTC`, text });
  }
  return [...findings, ...(dayCounts ? checkDay(limitedUses, limits.perDay, dayCounts, originMs) : [])];
}

export function checkConnections({ connections }: CheckOptions, originMs: number): Finding[] {
  if (!connections) return [];
  const { samples, countMax, probesMax } = connections;
  const findingOf = (of: 'count' | 'probes', max: number): Finding[] => {
    const worst = samples.toSorted((a, b) => b[of] - a[of])[0];
    if (!worst || worst[of] <= max) return [];
    const what = of === 'count' ? 'connections' : 'connections of probes';
    const text = `${worst[of]} ${what} at ${seconds(worst.atMs, originMs)}, and the documented sum is ${max}.`;
    return [{ rule: 'connections are bounded', subject: 'PostgreSQL', text }];
  };
  return [...findingOf('count', countMax), ...findingOf('probes', probesMax)];
}

/** One finding, of the first response that shows fewer requests than were admitted. */
function checkDay(
  uses: readonly LimitedUse[],
  perDay: number,
  { fromMs, uncountedMax }: { fromMs: number; uncountedMax: number },
  originMs: number,
): Finding[] {
  const endsMs = uses
    .filter(isAdmitted)
    .map(({ attempt }) => attempt.endMs)
    .sort((a, b) => a - b);
  for (const { attempt, dayRemaining } of uses) {
    if (dayRemaining === undefined || attempt.beginMs < fromMs) continue;
    const before = endsMs.findLastIndex((endMs) => endMs < attempt.beginMs - countDelayMs) + 1;
    const counted = perDay - dayRemaining;
    if (counted >= before - uncountedMax) continue;
    const text = `At ${seconds(attempt.beginMs, originMs)} process ${attempt.process} has counted ${counted} requests, and ${before} were admitted before; ${uncountedMax} may be missing.`;
    return [{ rule: 'limit is kept', subject: "the day's count", text }];
  }
  return [];
}

const isAdmitted = ({ attempt: { status } }: Pick<LimitedUse, 'attempt'>) => status >= 200 && status < 400;
