// A thousand animals are added a second, to the pages that are read: every cached page is stale before it is requested again. And
// one client writes as much as its plan allows, which leaves most cached pages of others valid.
import { randomInt } from 'node:crypto';
import { castOf, queryStore } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { cpuMs } from '../../testkit/process-cpu.ts';
import { quantile } from '../../testkit/quantile.ts';
import { SteadyLoad } from '../../testkit/steady-load.ts';
import { type ServeProcess, Store } from '../../testkit/store.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { neighbourWrites } from './neighbour-writes.ts';

const createsPerSecond = 1_000;
const readerCount = 16;
const pageCount = 20;
const animalsPerCategory = 80;
const firstCategoryId = 1_000;
const lastCategoryId = 20_000;
const sliceMs = 1_000;
const costMax = 1.1;
/** The share of the intended rate that must be reached for the measurement to count. */
const stormMin = 0.9;

export const writeStorm: Proof = {
  name: 'write-storm',
  promise: 'writes cost others few of their cached lists, and caching pages that change all the time costs almost nothing',
  // The mutants read a page twice before they cache it, and invalidate every page after each write.
  mutant: [
    { file: 'animals/list-cache/page-cache.ts', from: 'await fetch(onBegun);', to: 'await fetch(onBegun).then(() => fetch(onBegun));' },
    { file: 'animals/list-cache/shown-changes.ts', from: 'const { id } = change;', to: 'const { id } = change;\n  if (id) return true;' },
  ],
  runsAlone: true,
  isNightly: true,
  run,
};

interface Slice {
  readonly requests: number;
  readonly cpuMs: number;
}

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  await using store = await Store.open({ processes: 1, root, env: { LOG_LEVEL: 'warn' } });
  const [writer] = store.processes as [ServeProcess];
  const cached = await store.serve();
  const uncached = await store.serve({ HOMEWARD_PAGE_CACHE: 'off' });
  const { manager, partners } = await castOf(store, 4);
  const [reader = manager] = partners;
  const business = await store.createKey('a busy partner', 'business');
  using http = new HttpClient(256);
  progress('one client writes');
  const parts = { writing: writer, reading: cached };
  const neighbours = await neighbourWrites(store, http, parts, { writer: business, reader }, short ? 6 : 30);
  await queryStore(store, 'insert into categories (id) select generate_series($1::int, $2::int)', [firstCategoryId, lastCategoryId]);
  const storm = new SteadyLoad(createsPerSecond, (i) =>
    http.send(`${writer.url}/pets`, { method: 'POST', key: manager.key, body: { name: 'Biscuit', categoryId: categoryOf(i) } }),
  );
  const readSlice = (process: ServeProcess) =>
    measure(process, () => readPages(http, process, reader.key, () => anyPageOf(categoryOf(storm.samples.length))));
  await readSlice(cached);
  await readSlice(uncached);
  const startedAtMs = performance.now();
  const created = storm.samples.length;
  const costs: Array<{ cached: number; uncached: number }> = [];
  const rounds = short ? 6 : 40;
  for (let round = 0; round < rounds; round += 1) {
    progress(`round ${round + 1} of ${rounds}`);
    // The two take turns at going first, so that drift affects both alike.
    const order = round % 2 === 0 ? [cached, uncached] : [uncached, cached];
    const slices = new Map<ServeProcess, Slice>();
    for (const process of order) slices.set(process, await readSlice(process));
    costs.push({ cached: costOf(slices.get(cached)), uncached: costOf(slices.get(uncached)) });
  }
  const perSecond = ((storm.samples.length - created) / (performance.now() - startedAtMs)) * 1_000;
  await storm.stop();
  return [...judge(costs, perSecond), ...neighbours];
}

async function measure(process: ServeProcess, work: () => Promise<number>): Promise<Slice> {
  const pid = process.child.pid ?? 0;
  const before = cpuMs(pid);
  const requests = await work();
  return { requests, cpuMs: cpuMs(pid) - before };
}

/** The category of the i-th animal. It changes before the category has more animals than fit on one of the pages that are read. */
const categoryOf = (i: number) => firstCategoryId + Math.floor(i / animalsPerCategory);

/** One of several pages that each new animal of the category changes. */
const anyPageOf = (categoryId: number) => `limit=${animalsPerCategory + 1 + randomInt(pageCount)}&categoryId=${categoryId}`;

async function readPages(http: HttpClient, { url }: ServeProcess, key: string, anyPage: () => string): Promise<number> {
  const endsAtMs = performance.now() + sliceMs;
  let requests = 0;
  const reader = async () => {
    while (performance.now() < endsAtMs) {
      const response = await http.send(`${url}/pets?${anyPage()}`, { key });
      if (response.status !== 200) throw new Error(`a list got ${response.status}: ${response.text}`);
      requests += 1;
    }
  };
  await Promise.all(Array.from({ length: readerCount }, reader));
  return requests;
}

const costOf = (slice: Slice | undefined) => (slice ? slice.cpuMs / slice.requests : Number.NaN);

function judge(costs: ReadonlyArray<{ cached: number; uncached: number }>, perSecond: number): Claim[] {
  const median = (values: number[]) => quantile(values, 0.5);
  const ratio = median(costs.map(({ cached, uncached }) => cached / uncached));
  const us = (name: 'cached' | 'uncached') => `${(median(costs.map((cost) => cost[name])) * 1_000).toFixed(0)} µs`;
  return [
    {
      claim: `CPU time of a list with the page cache, compared to without, while ${createsPerSecond.toLocaleString('en')} animals a second are added, at the median of ${costs.length} rounds`,
      bar: `at most ${costMax} times`,
      figure: `${ratio.toFixed(3)} times (${us('cached')} against ${us('uncached')})`,
      holds: ratio <= costMax,
      isTimed: true,
    },
    {
      claim: 'Animals added per second meanwhile',
      bar: `at least ${stormMin * createsPerSecond}`,
      figure: perSecond.toFixed(0),
      holds: perSecond >= stormMin * createsPerSecond,
      isTimed: true,
    },
  ];
}
