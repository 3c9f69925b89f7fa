// The processes of a store are restarted one after another behind a load balancer, while requests, writes and streams go on.
import { setTimeout as sleep } from 'node:timers/promises';
import { castOf, insertAnimals } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { endProcess } from '../../testkit/running-processes.ts';
import { freePort } from '../../testkit/servers.ts';
import { SteadyLoad } from '../../testkit/steady-load.ts';
import { type ServeProcess, Store } from '../../testkit/store.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { Balancer } from './balancer.ts';
import { judgeRequests, judgeStreams, judgeWrites, sendMixed } from './mixed-load.ts';
import { StreamFollower } from './stream-follower.ts';

export const rolling: Proof = {
  name: 'rolling',
  promise: 'processes are restarted one by one behind a load balancer: no request fails, no write and no event of a stream is lost',
  // The mutant exits at once on SIGTERM, with requests in flight.
  mutant: [{ file: 'cli/processes/serve.ts', from: 'await sleep(err ? 0 : config.drainMs);', to: 'process.exit(0);' }],
  isNightly: true,
  about: ['service/src/app.ts', 'service/src/cli/processes', 'deploy/haproxy', 'proofs/rolling'],
  run,
};

interface Size {
  readonly restarts: number;
  readonly perSecond: number;
  readonly requestsMin: number;
  readonly streams: number;
}

const sizes: Record<'short' | 'long', Size> = {
  short: { restarts: 4, perSecond: 50, requestsMin: 200, streams: 4 },
  long: { restarts: 20, perSecond: 200, requestsMin: 20_000, streams: 20 },
};
const processCount = 2;
/** As compose.yaml has it. */
const drainMs = 3_000;
const animalCount = 5_000;
const settleMs = 500;

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  const size = sizes[short ? 'short' : 'long'];
  await using resources = new AsyncDisposableStack();
  const env = { LOG_LEVEL: 'warn', HOMEWARD_DRAIN_MS: String(drainMs) };
  const store = resources.use(await Store.open({ processes: 0, root, env }));
  store.work();
  const ports: [number, number] = [await freePort(), await freePort()];
  const processes = await Promise.all(ports.map((port) => store.serve({ PORT: String(port) })));
  const balancer = resources.use(await Balancer.open(ports));
  await balancer.untilUp(processCount);
  const { manager, partners } = await castOf(store, 5);
  await insertAnimals(store, animalCount);
  const followers = Array.from({ length: size.streams }, (_, i) =>
    resources.use(new StreamFollower(() => balancer.url, partners[i % partners.length] ?? manager)),
  );
  const http = resources.use(new HttpClient(256));
  const load = new SteadyLoad(size.perSecond, (i) => sendMixed(http, balancer.url, partners, i, animalCount));
  await sleep(settleMs);
  for (let restart = 0; restart < size.restarts; restart += 1) {
    progress(`restart ${restart + 1} of ${size.restarts}, ${load.samples.length} requests`);
    const index = restart % processCount;
    processes[index] = await restartOne(store, processes[index], ports[index] ?? 0);
    await balancer.untilUp(processCount);
  }
  while (load.samples.length < size.requestsMin) await sleep(100);
  const samples = await load.stop();
  progress('counting');
  const during = `during ${size.restarts} restarts of ${processCount} processes, at ${size.perSecond} a second`;
  return [judgeRequests(samples, during, size.requestsMin), await judgeWrites(store, samples), await judgeStreams(store, followers)];
}

async function restartOne(store: Store, old: ServeProcess | undefined, port: number): Promise<ServeProcess> {
  if (!old) throw new Error('there is no process to restart');
  await endProcess(old.child, 'SIGTERM');
  return store.serve({ PORT: String(port) });
}
