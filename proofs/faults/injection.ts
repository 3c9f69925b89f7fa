// What several scenarios do and measure.
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../testkit/until.ts';
import { measureAvailability } from './checker/availability.ts';
import type { Cluster } from './cluster.ts';
import { monotonicMs } from './history.ts';
import { type Node, nodes } from './node-files.ts';
import type { FaultContext, Injected, Measure } from './scenario.ts';

export const takeoverWithinMs = 60_000;

interface FaultOptions {
  /** The standbys get nothing of the primary in this time before the fault: what it has not acknowledged by then, they lack. */
  readonly heldMs?: number;
}

/** A fault after which another node takes over; it goes on for a moment after that. */
export function faultOfPrimary(
  make: (cluster: Cluster, leader: Node) => void | Promise<void>,
  { heldMs = 0 }: FaultOptions = {},
): (context: FaultContext) => Promise<Injected> {
  return async ({ cluster, random }) => {
    const leader = await cluster.getLeader();
    if (heldMs > 0) {
      cluster.holdReplication(leader);
      await sleep(heldMs);
    }
    const faultMs = monotonicMs();
    await make(cluster, leader);
    await untilAnotherLeads(cluster, leader);
    await sleep(random.between(1_000, 3_000));
    return { faultMs };
  };
}

/** Returns the new primary. */
export async function untilAnotherLeads(cluster: Cluster, before: Node): Promise<Node> {
  const others = nodes.filter((node) => node !== before);
  return until(`there is a primary other than ${before}`, () => cluster.findLeader(others), { timeoutMs: takeoverWithinMs });
}

export function writesBackWithin(seconds: number): Measure {
  return {
    claim: 'the longest time without a write that succeeds',
    unit: 's',
    limit: seconds,
    isTimed: true,
    of: ({ history, faultMs }) => measureAvailability(history, faultMs).writes.longestGapMs / 1_000,
  };
}

/** A figure that the injection has seen itself. */
export function seen(name: string, measure: Omit<Measure, 'of'>): Measure {
  return { ...measure, of: ({ seen: figures }) => figures?.[name] ?? NaN };
}

/** Of the requests that were sent while the fault lasted. */
export function readsThatSucceed(percent: number): Measure {
  return {
    claim: 'reads that succeed while the fault lasts',
    unit: '%',
    limit: percent,
    isFloor: true,
    of: ({ history, faultMs, endMs }) => {
      const { reads } = measureAvailability(history, faultMs, endMs);
      return (100 * reads.succeeded) / reads.requests;
    },
  };
}
