// A thread that runs seeds of the simulation, one after another. Its clock and timers are virtual, so nothing else may run in it.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { type LimiterModules, SimulatedRun } from './simulated-run.ts';
import { VirtualRedis } from './virtual-redis.ts';
import { VirtualTime } from './virtual-time.ts';

export interface ThreadData {
  /** The Unix socket of Redis. */
  readonly socket: string;
  /** Each thread has its own. */
  readonly database: number;
  /** The folder with the service, or with a mutant of it. */
  readonly root: string;
}

const { socket, database, root } = workerData as ThreadData;
const source = (file: string) => path.join(root, 'service/src', file);
const redis = await VirtualRedis.open(socket, database, readFileSync(source('access/rate-limit/consume.lua'), 'utf8'));
const modules: LimiterModules = Object.assign(
  {},
  ...(await Promise.all(
    ['access/rate-limit/limiter.ts', 'platform/redis/redis-link.ts', 'platform/redis/redis-link.ts', 'platform/clock.ts'].map(
      (file) => import(pathToFileURL(source(file)).href),
    ),
  )),
);
const time = new VirtualTime();
time.install();

parentPort?.on('message', (seed: number) => void runSeed(seed));
parentPort?.postMessage('ready');

async function runSeed(seed: number): Promise<void> {
  parentPort?.postMessage(await new SimulatedRun(seed, { time, redis, modules }).run());
}
