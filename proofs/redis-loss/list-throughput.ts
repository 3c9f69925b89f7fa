// Cached lists per second, with Redis and without it, in turn.
import type { HttpClient } from '../../testkit/http.ts';
import { cpuMs } from '../../testkit/process-cpu.ts';
import { quantile } from '../../testkit/quantile.ts';
import type { Key, Store } from '../../testkit/store.ts';
import { untilReadiness } from '../../testkit/store-waits.ts';
import type { Claim } from '../proof.ts';

const shareMin = 0.5;
const connections = 16;

interface Round {
  readonly perSecond: number;
  /** CPU time of the process for a list. */
  readonly cpuUs: number;
}

/** Redis is frozen in every second round. Nothing is written meanwhile, so that lists stay cached. */
export async function claimListThroughput(
  store: Store,
  http: HttpClient,
  key: Key | undefined,
  { rounds, roundMs }: { rounds: number; roundMs: number },
): Promise<Claim> {
  const withRedis: Round[] = [];
  const without: Round[] = [];
  const measured = { processes: store.processes.slice(0, 1) };
  for (let round = 0; round < rounds; round += 1) {
    withRedis.push(await measure(store, http, key, roundMs));
    await store.redis.signal('SIGSTOP');
    await untilReadiness(measured, ({ redis }) => !redis);
    without.push(await measure(store, http, key, roundMs));
    await store.redis.signal('SIGCONT');
    await untilReadiness(measured, ({ redis }) => redis);
  }
  const share = median(without, 'perSecond') / median(withRedis, 'perSecond');
  const describe = (list: readonly Round[]) =>
    `${median(list, 'perSecond').toFixed(0)} a second with ${median(list, 'cpuUs').toFixed(0)} µs of CPU each`;
  return {
    claim: 'Cached lists per second without Redis, compared to with it',
    bar: `${shareMin} times or more`,
    figure: `${share.toFixed(2)} times: ${describe(without)}, and ${describe(withRedis)}`,
    holds: share >= shareMin,
    isTimed: true,
  };
}

async function measure(store: Store, http: HttpClient, key: Key | undefined, ms: number): Promise<Round> {
  const [process] = store.processes;
  if (!process?.child.pid || !key) throw new Error('there is no process or no key');
  const url = `${process.url}/pets?limit=20`;
  const send = async () => {
    const { status, text } = await http.send(url, { key: key.key });
    if (status !== 200) throw new Error(`a list was ${status}: ${text}`);
  };
  for (let i = 0; i < connections; i += 1) await send();
  let lists = 0;
  const cpuBeforeMs = cpuMs(process.child.pid);
  const startedAtMs = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      for (; performance.now() - startedAtMs < ms; lists += 1) await send();
    }),
  );
  return {
    perSecond: (lists / (performance.now() - startedAtMs)) * 1_000,
    cpuUs: ((cpuMs(process.child.pid) - cpuBeforeMs) / lists) * 1_000,
  };
}

const median = (rounds: readonly Round[], name: keyof Round) =>
  quantile(
    rounds.map((round) => round[name]),
    0.5,
  );
