import { broken, type Judgement, ok, skipped, warning } from './finding.ts';

/** A server's clock, read between two readings of this machine's. */
export interface ClockReading {
  readonly sentMs: number;
  readonly serverMs: number;
  readonly receivedMs: number;
}

export interface Clocks {
  readonly PostgreSQL?: ClockReading | undefined;
  readonly Redis?: ClockReading | undefined;
}

const offMaxMs = 1_000;
const offBrokenMs = 60_000;
const synchronise = 'Synchronise it with NTP (chrony, systemd-timesyncd).';

/** Compares the clocks of the machines. Names the one that is off, if two agree. */
export function judgeClocks(clocks: Clocks): Judgement {
  const known = Object.entries(clocks).flatMap(([server, reading]) => (reading ? [{ server, ...offsetOf(reading) }] : []));
  if (known.length === 0) return skipped('clock', "neither PostgreSQL's nor Redis' clock can be read.");
  const off = known.filter(({ ms, errorMs }) => Math.abs(ms) - errorMs > offMaxMs);
  const worst = off.toSorted((a, b) => Math.abs(b.ms) - Math.abs(a.ms))[0];
  if (!worst) {
    const most = Math.max(...known.map(({ ms, errorMs }) => Math.max(Math.abs(ms) - errorMs, 0)));
    return ok(`This machine and ${known.map(({ server }) => server).join(' and ')} agree to ${(most / 1_000).toFixed(1)} s.`);
  }
  const others = known.filter(({ ms }) => Math.abs(ms - worst.ms) <= offMaxMs);
  const isOwn = known.length === 1 || others.length === known.length;
  const seconds = (Math.abs(worst.ms) / 1_000).toFixed(1);
  const found = isOwn
    ? `The clock of this machine is ${seconds} s ${worst.ms > 0 ? 'behind' : 'ahead of'} that of ${known.map(({ server }) => server).join(' and ')}.`
    : `The clock of ${worst.server} is ${seconds} s ${worst.ms > 0 ? 'ahead of' : 'behind'} that of this machine.`;
  return (Math.abs(worst.ms) > offBrokenMs ? broken : warning)(found, synchronise);
}

/** How far the server is ahead. It read its clock at some instant between the two others. */
function offsetOf({ sentMs, serverMs, receivedMs }: ClockReading): { ms: number; errorMs: number } {
  return { ms: serverMs - (sentMs + receivedMs) / 2, errorMs: (receivedMs - sentMs) / 2 };
}
