import { fileURLToPath } from 'node:url';
import { runCommand } from '../tools/command.ts';
import type { Sample } from './rounds.ts';

export const connections = 64;

const replay = fileURLToPath(new URL('./replay.lua', import.meta.url));
const graceMs = 20_000;

/** What replay.lua prints at the end. */
interface Printed {
  readonly requests: number;
  readonly durationUs: number;
  readonly bytes: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly connect: number;
  readonly read: number;
  readonly write: number;
  readonly timeout: number;
  /** Responses with a status of 400 or higher. */
  readonly status: number;
}

/** Puts a contender under load; throws if one request is rejected or one connection breaks. */
export async function runWrk(origin: string, requestsFile: string, seconds: number): Promise<Sample> {
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '5s', '-s', replay, origin, '--', requestsFile];
  const { status, stdout, output } = await runCommand('wrk', args, { timeoutMs: seconds * 1_000 + graceMs });
  const line = stdout.split('\n').findLast((one) => one.startsWith('{'));
  if (status !== 0 || !line) throw new Error(`wrk ended with status ${status}: ${output}`);
  const printed = JSON.parse(line) as Printed;
  const faults = (['connect', 'read', 'write', 'timeout', 'status'] as const).filter((fault) => printed[fault] > 0);
  if (faults.length > 0 || printed.requests === 0) {
    const counts = faults.map((fault) => `${fault}: ${printed[fault]}`).join(', ');
    throw new Error(`not all of ${printed.requests} requests to ${origin} succeeded (${counts})`);
  }
  return {
    requests: printed.requests,
    perSecond: printed.requests / (printed.durationUs / 1_000_000),
    p50Ms: printed.p50Us / 1_000,
    p99Ms: printed.p99Us / 1_000,
    bytesPerAnswer: printed.bytes / printed.requests,
  };
}
