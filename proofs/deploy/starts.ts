// SIGTERM at every instant of a start.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../testkit/servers.ts';
import type { Store } from '../../testkit/store.ts';
import type { Claim } from '../proof.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const endMsMax = 2_000;
const killAfterMs = 20_000;

export interface Stopped {
  /** After the start. */
  readonly instantMs: number;
  readonly endedAfterMs: number;
  /** 143 or a signal, if it was ended while it started; 0 if it was already serving. */
  readonly how: string;
}

/** Instants from 0 on, so close to each other that each phase of a start is hit. */
export const instants = (stepMs: number, untilMs: number) => Array.from({ length: Math.floor(untilMs / stepMs) + 1 }, (_, i) => i * stepMs);

/** `serve` as any program starts it. */
export async function stopPlainProcess(store: Store, instantMs: number): Promise<Stopped> {
  const port = String(await freePort());
  // What was started in the meantime ends without draining: that is not part of a start.
  const env = { ...process.env, DATABASE_URL: store.postgres.url, REDIS_URL: store.redis.url, PORT: port, HOMEWARD_DRAIN_MS: '0' };
  const child = spawn(process.execPath, [path.join(root, 'service/bin/homeward.mjs'), 'serve'], { env, stdio: 'ignore' });
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  await sleep(instantMs);
  const signalledAtMs = performance.now();
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  const [code, signal] = await ended;
  clearTimeout(late);
  return { instantMs, endedAfterMs: performance.now() - signalledAtMs, how: signal ?? String(code) };
}

export function stopClaim(what: string, stopped: readonly Stopped[]): Claim {
  const slowest = stopped.toSorted((a, b) => b.endedAfterMs - a.endedAfterMs)[0];
  const odd = stopped.filter(({ how }) => !['SIGTERM', '143', '0'].includes(how));
  const hows = [...new Set(stopped.map(({ how }) => how))].join(', ');
  const [first, last] = [stopped[0]?.instantMs, stopped.at(-1)?.instantMs];
  return {
    claim: `SIGTERM at ${stopped.length} instants of ${what}, ${first} to ${last} ms after it began: each time it ends`,
    bar: `in ${endMsMax / 1_000} s, by the signal or in order`,
    figure: `${((slowest?.endedAfterMs ?? Number.NaN) / 1_000).toFixed(2)} s at most (at ${slowest?.instantMs} ms); ended with ${hows}`,
    holds: stopped.length > 0 && odd.length === 0 && stopped.every(({ endedAfterMs }) => endedAfterMs <= endMsMax),
    isTimed: odd.length === 0,
  };
}
