// The processes that serve are upgraded: those of two releases run side by side, before, during and after the migration.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { addAnimals, generous, verify } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { SteadyLoad } from '../../testkit/steady-load.ts';
import { Store } from '../../testkit/store.ts';
import type { Claim, ProofContext } from '../proof.ts';
import { judgeRequests, judgeStreams, judgeWrites, sendMixed } from '../rolling/mixed-load.ts';
import { StreamFollower } from '../rolling/stream-follower.ts';

interface Upgrade {
  readonly short: boolean;
  /** The source tree of the release before. */
  readonly before: string;
  /** That of this release, if it is a mutant's. */
  readonly root: string | undefined;
  readonly progress: ProofContext['progress'];
}

const sizes = {
  short: { animals: 60, perSecond: 30, stageMs: 1_500, streams: 2, requestsMin: 150 },
  long: { animals: 1_000, perSecond: 150, stageMs: 35_000, streams: 10, requestsMin: 20_000 },
};
/** A load balancer needs it to take a process out. */
const rotationMs = 500;

export async function upgradeServe({ short, before, root, progress }: Upgrade): Promise<Claim[]> {
  const size = sizes[short ? 'short' : 'long'];
  await using resources = new AsyncDisposableStack();
  const env = { LOG_LEVEL: 'warn' };
  progress('requests to the release before');
  const old = resources.use(await Store.open({ processes: 1, root: before, env }));
  const oldWorker = old.work();
  const oldServe = old.processes[0];
  if (!oldServe) throw new Error('the release before does not serve');
  const keys = [await old.createKey('first', generous), await old.createKey('second', generous)] as const;
  await addAnimals(old, keys[0], size.animals);
  let urls = [oldServe.url];
  let turns = 0;
  const nextUrl = () => urls[turns++ % urls.length] ?? '';
  const followers = Array.from({ length: size.streams }, () => resources.use(new StreamFollower(nextUrl, keys[0])));
  const http = resources.use(new HttpClient(256));
  const load = new SteadyLoad(size.perSecond, (i) => sendMixed(http, nextUrl(), keys, i, size.animals));
  await sleep(size.stageMs);

  progress('the migration, under load');
  const store = resources.use(await Store.open({ processes: 1, root, env, beside: old }));
  urls = [oldServe.url, store.processes[0]?.url ?? ''];
  progress('both releases serve');
  store.work();
  await sleep(size.stageMs);
  await old.stopWorker(oldWorker);
  await sleep(size.stageMs);
  urls = urls.slice(1);
  await sleep(rotationMs);
  const ended = once(oldServe.child, 'exit');
  oldServe.child.kill('SIGTERM');
  await ended;
  progress('only this release serves');
  await sleep(size.stageMs);
  const samples = await load.stop();
  const { holds, rows } = await verify(store);
  return [
    judgeRequests(
      samples,
      `while \`serve\` of the release before and of this one run side by side, and the migration runs`,
      size.requestsMin,
    ),
    await judgeWrites(store, samples),
    await judgeStreams(store, followers),
    {
      claim: 'The history that both releases wrote',
      bar: 'holds',
      figure: `${holds ? 'holds' : 'VIOLATION'}, ${rows} rows`,
      holds: holds && rows > 0,
    },
  ];
}
