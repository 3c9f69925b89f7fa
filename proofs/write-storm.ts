// A thousand animals a second are added: every page that is kept is out of date before it is asked for again.
import { randomInt } from 'node:crypto';
import { castOf } from '../testkit/adopters.ts';
import { HttpClient } from '../testkit/http.ts';
import { plantMutant } from '../testkit/mutant.ts';
import { cpuMs } from '../testkit/process-cpu.ts';
import { quantile } from '../testkit/quantile.ts';
import { SteadyLoad } from '../testkit/steady-load.ts';
import { type ServeProcess, Store } from '../testkit/store.ts';
import type { Claim, Proof, ProofContext } from './proof.ts';

const createsPerSecond = 1_000;
const readerCount = 16;
const pageCount = 20;
const sliceMs = 1_000;
const costMax = 1.1;
/** Less than this share of what was meant is no storm. */
const stormMin = 0.9;

export const writeStorm: Proof = {
  name: 'write-storm',
  promise: 'where pages change faster than they are read, keeping them costs next to nothing',
  hasMutant: true,
  runsAlone: true,
  run,
};

interface Slice {
  readonly requests: number;
  readonly cpuMs: number;
}

async function run({ short, mutant, progress }: ProofContext): Promise<Claim[]> {
  // The mutant reads a page twice before it keeps it.
  using tree = mutant
    ? plantMutant([{ file: 'pets/page-cache.ts', from: 'const reading = fetch();', to: 'const reading = fetch().then(() => fetch());' }])
    : undefined;
  await using store = await Store.open({ processes: 1, root: tree?.root, env: { LOG_LEVEL: 'warn' } });
  const [writer] = store.processes as [ServeProcess];
  const keeping = await store.serve();
  const plain = await store.serve({ HOMEWARD_PAGE_CACHE: 'off' });
  const { manager, partners } = await castOf(store, 4);
  using http = new HttpClient(256);
  const storm = new SteadyLoad(createsPerSecond, (i) =>
    http.send(`${writer.url}/pets`, { method: 'POST', key: manager.key, body: { name: 'Biscuit', categoryId: 1 + (i % pageCount) } }),
  );
  const readSlice = (process: ServeProcess) => measure(process, () => readPages(http, process, partners[0]?.key ?? ''));
  await readSlice(keeping);
  await readSlice(plain);
  const startedAtMs = performance.now();
  const created = storm.samples.length;
  const costs: Array<{ keeping: number; plain: number }> = [];
  const rounds = short ? 6 : 40;
  for (let round = 0; round < rounds; round += 1) {
    progress(`round ${round + 1} of ${rounds}`);
    // In turn first and second: what drifts falls on both.
    const order = round % 2 === 0 ? [keeping, plain] : [plain, keeping];
    const slices = new Map<ServeProcess, Slice>();
    for (const process of order) slices.set(process, await readSlice(process));
    costs.push({ keeping: costOf(slices.get(keeping)), plain: costOf(slices.get(plain)) });
  }
  const perSecond = ((storm.samples.length - created) / (performance.now() - startedAtMs)) * 1_000;
  await storm.stop();
  return judge(costs, perSecond);
}

async function measure(process: ServeProcess, work: () => Promise<number>): Promise<Slice> {
  const pid = process.child.pid ?? 0;
  const before = cpuMs(pid);
  const requests = await work();
  return { requests, cpuMs: cpuMs(pid) - before };
}

async function readPages(http: HttpClient, { url }: ServeProcess, key: string): Promise<number> {
  const endsAtMs = performance.now() + sliceMs;
  let requests = 0;
  const reader = async () => {
    while (performance.now() < endsAtMs) {
      const response = await http.send(`${url}/pets?limit=20&categoryId=${1 + randomInt(pageCount)}`, { key });
      if (response.status !== 200) throw new Error(`a list was answered ${response.status}: ${response.text}`);
      requests += 1;
    }
  };
  await Promise.all(Array.from({ length: readerCount }, reader));
  return requests;
}

const costOf = (slice: Slice | undefined) => (slice ? slice.cpuMs / slice.requests : Number.NaN);

function judge(costs: ReadonlyArray<{ keeping: number; plain: number }>, perSecond: number): Claim[] {
  const median = (values: number[]) => quantile(values, 0.5);
  const ratio = median(costs.map(({ keeping, plain }) => keeping / plain));
  const us = (name: 'keeping' | 'plain') => `${(median(costs.map((cost) => cost[name])) * 1_000).toFixed(0)} µs`;
  return [
    {
      claim: `Processor time of a list beside ${createsPerSecond.toLocaleString('en')} creates a second, at the median of ${costs.length} rounds: with pages kept against without`,
      bar: `at most ${costMax} times`,
      figure: `${ratio.toFixed(3)} times (${us('keeping')} against ${us('plain')})`,
      holds: ratio <= costMax,
      isTimed: true,
    },
    {
      claim: 'Creates a second meanwhile',
      bar: `at least ${stormMin * createsPerSecond}`,
      figure: perSecond.toFixed(0),
      holds: perSecond >= stormMin * createsPerSecond,
      isTimed: true,
    },
  ];
}
