// A program of Prometheus's family that runs beside the store until it is disposed.
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { endProcess } from '../../testkit/running-processes.ts';

const startTimeoutMs = 30_000;

export interface MonitorOptions {
  /** The name of the program, which is also that of Debian's package. */
  readonly program: string;
  readonly args: readonly string[];
  /** 200 once it is ready. */
  readonly readyUrl: string;
}

export async function startMonitor({ program, args, readyUrl }: MonitorOptions): Promise<AsyncDisposable> {
  const child = spawn(program, args, { stdio: 'ignore' });
  let failure: Error | undefined;
  child.on('error', (error) => (failure = error));
  const monitor = { [Symbol.asyncDispose]: () => endProcess(child, 'SIGTERM') };
  const deadlineMs = Date.now() + startTimeoutMs;
  while (!(await isReady(readyUrl))) {
    if (failure || child.exitCode !== null || Date.now() > deadlineMs) {
      await endProcess(child, 'SIGTERM');
      throw new Error(`${program} did not start; is Debian's package '${program}' installed?`);
    }
    await sleep(50);
  }
  return monitor;
}

const isReady = (url: string) =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
