// Measures an honest client without and with an attack, in pairs of short phases.
import { setTimeout as sleep } from 'node:timers/promises';
import { MemoryWatch } from '../../testkit/memory-watch.ts';
import { loadFor, type Sample } from '../../testkit/steady-load.ts';
import type { Store } from '../../testkit/store.ts';
import { untilPhotosAreMade } from '../../testkit/store-waits.ts';
import type { AttackName } from './attacks.ts';
import { type HonestClient, honestPerSecond } from './honest-client.ts';
import type { Report } from './hostile-caller.ts';
import type { HostileProcess } from './hostile-process.ts';
import { MetricsScrapes } from './metrics-scrapes.ts';

export interface Pair {
  readonly without: readonly Sample[];
  readonly during: readonly Sample[];
}

export interface Measured {
  readonly pairs: readonly Pair[];
  readonly reports: readonly Report[];
  readonly scrapes: { readonly scraped: number; readonly failed: number };
  /** Of the `serve` that grew the most, in bytes. */
  readonly growth: number;
}

export interface Scene {
  readonly store: Store;
  readonly metricsPorts: readonly number[];
  readonly client: HonestClient;
  readonly hostile: HostileProcess;
}

export interface Form {
  readonly pairs: number;
  readonly phaseMs: number;
}

const warmUpMs = 2_000;
/** What was in flight has ended then. */
const settleMs = 500;
const photosTimeoutMs = 60_000;

/** Pairs take turns at which phase is first, so that drift affects both alike. */
export async function measurePairs(scene: Scene, names: readonly AttackName[], { pairs: count, phaseMs }: Form): Promise<Measured> {
  const [pairs, reports] = [[] as Pair[], [] as Report[]];
  // The first requests of any kind take a process longer.
  await runDuring(scene, names, Math.min(warmUpMs, phaseMs));
  using memory = new MemoryWatch(scene.store.processes.map(({ child }) => child.pid ?? 0));
  using scrapes = new MetricsScrapes(scene.metricsPorts);
  const attack = async () => {
    const { samples, report } = await runDuring(scene, names, phaseMs);
    reports.push(report);
    return samples;
  };
  for (let i = 0; i < count; i += 1) {
    const first = i % 2 === 0 ? await run(scene, phaseMs) : undefined;
    const during = await attack();
    pairs.push({ without: first ?? (await run(scene, phaseMs)), during });
  }
  const { scraped, failed } = scrapes;
  return { pairs, reports, scrapes: { scraped, failed }, growth: memory.growth };
}

const run = ({ client }: Scene, ms: number): Promise<readonly Sample[]> => loadFor(ms, honestPerSecond, (i) => client.send(i));

async function runDuring(scene: Scene, names: readonly AttackName[], ms: number): Promise<{ samples: readonly Sample[]; report: Report }> {
  scene.hostile.send({ do: 'attack', names });
  const samples = await run(scene, ms);
  const report = await scene.hostile.request({ do: 'stop' });
  await untilPhotosAreMade(scene.store, photosTimeoutMs);
  await sleep(settleMs);
  return { samples, report };
}
