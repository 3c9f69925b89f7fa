// CPU time for a list under the load of many clients, most of them quiet, also compared to a git revision:
// npm run bench -- list --mix [--base REV] [--rounds N] [--seconds N] [--json]
import { parseArgs } from 'node:util';
import { cpuMs } from '../testkit/process-cpu.ts';
import { checkOut } from '../testkit/revision-checkout.ts';
import { Store } from '../testkit/store.ts';
import { collectPages } from './mix.ts';
import { PacedLoad } from './paced-load.ts';
import { type BenchKey, fillStore, insertKeys } from './seed.ts';
import { requestText } from './socket-load.ts';
import { spreadOf } from './summary.ts';

/** Quiet clients with one key each, and what they send together in a second. */
const quiet = { clients: 18_000, perSecond: 1_800 };
/** Busy clients with a hundred keys each; the first sends 20 requests a second, the last 200. */
const busy = { clients: 20, keys: 100, perSecond: { first: 20, last: 200 } };
const processCount = 2;

/** Where the share of each busy client ends, of what all of them send in a second. */
const endsOfBusy: number[] = [];
for (let i = 0, end = 0; i < busy.clients; i += 1) {
  const { first, last } = busy.perSecond;
  end += first + ((last - first) * i) / (busy.clients - 1);
  endsOfBusy.push(end);
}
const perSecondAll = quiet.perSecond + (endsOfBusy.at(-1) ?? 0);
const anyOf = <T>(all: readonly T[]): T => all[Math.floor(Math.random() * all.length)] as T;

const { values } = parseArgs({
  options: {
    mix: { type: 'boolean', default: true },
    base: { type: 'string' },
    rounds: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '10' },
    json: { type: 'boolean', default: false },
  },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const progress = (text: string) => void (process.stderr.isTTY && process.stderr.write(`\r\x1b[K${text}`));

/** In µs of CPU for a request. */
interface Sample {
  readonly own: number;
  readonly redis: number;
  readonly perSecond: number;
}

if (![rounds, seconds].every((count) => Number.isInteger(count) && count >= 1 && count <= 1_000)) {
  console.error('--rounds and --seconds must be integers from 1 to 1,000.');
  process.exitCode = 2;
} else await measure();

async function measure(): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const trees: Tree[] = [];
  if (values.base) trees.push(await openTree(resources, 'base', resources.use(checkOut(values.base)).root));
  trees.push(await openTree(resources, 'present'));
  // Every quiet key is read once, so that none of the rounds pays for that.
  const warmUpSeconds = Math.ceil((3 * quiet.clients) / quiet.perSecond);
  for (const { name, load } of trees) {
    progress(`warming up, ${name}`);
    await load(warmUpSeconds);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, load, samples } of round % 2 === 0 ? trees : trees.toReversed()) {
      progress(`round ${round + 1} of ${rounds}, ${name}`);
      samples.push(await load(seconds));
    }
  }
  progress('');
  print(trees);
}

/** A source tree of the service, with servers and processes of its own. */
interface Tree {
  readonly name: 'base' | 'present';
  readonly samples: Sample[];
  load(forSeconds: number): Promise<Sample>;
}

async function openTree(resources: AsyncDisposableStack, name: Tree['name'], root?: string): Promise<Tree> {
  progress(`starting PostgreSQL, Redis and ${processCount} processes, ${name}`);
  const env = { NODE_ENV: 'production', LOG_LEVEL: 'warn' };
  const store = resources.use(await Store.open({ processes: 0, durable: true, env, root }));
  await fillStore(store.postgres.url);
  const quietKeys = await insertKeys(store.postgres.url, { clients: quiet.clients, perClient: 1 });
  const busyKeys = await insertKeys(store.postgres.url, { clients: busy.clients, perClient: busy.keys, named: 'busy' });
  for (let i = 0; i < processCount; i += 1) await store.serve();
  const origins = store.processes.map(({ url }) => new URL(url).origin);
  const pages = await collectPages(origins[0] ?? '', quietKeys[0]?.key ?? '');
  const paths = pages.map(({ path }) => path);
  const pids = store.processes.map(({ child }) => child.pid ?? 0);
  const read = () => ({ own: pids.reduce((sum, pid) => sum + cpuMs(pid), 0), redis: cpuMs(store.redis.pid) });
  const load = async (forSeconds: number): Promise<Sample> => {
    using paced = await PacedLoad.open(origins);
    const before = read();
    const requests = await paced.run({ seconds: forSeconds, perSecond: perSecondAll }, () => drawRequest(quietKeys, busyKeys, paths));
    const after = read();
    const us = (part: 'own' | 'redis') => ((after[part] - before[part]) * 1_000) / requests;
    return { own: us('own'), redis: us('redis'), perSecond: requests / forSeconds };
  };
  return { name, samples: [], load };
}

function drawRequest(quietKeys: readonly BenchKey[], busyKeys: readonly BenchKey[], paths: readonly string[]): string {
  const drawn = Math.random() * perSecondAll - quiet.perSecond;
  if (drawn < 0) return requestText('GET', anyOf(paths), anyOf(quietKeys).key);
  const start = endsOfBusy.findIndex((end) => drawn < end) * busy.keys;
  return requestText('GET', anyOf(paths), anyOf(busyKeys.slice(start, start + busy.keys)).key);
}

function print(trees: readonly Tree[]): void {
  const show = (samples: readonly number[], digits: number) => {
    const { median, min, max } = spreadOf(samples);
    return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
  };
  console.log(
    `CPU time for a list, in µs: the median of ${rounds} alternating rounds of ${seconds} s and, in brackets, lowest and highest`,
  );
  console.log(
    `  ${quiet.clients.toLocaleString('en')} clients with ${quiet.perSecond.toLocaleString('en')} requests a second together, ${busy.clients} of ${busy.keys} keys with ${busy.perSecond.first} to ${busy.perSecond.last} each; ${processCount} processes\n`,
  );
  for (const { name, samples } of trees) {
    const of = (part: keyof Sample, digits = 1) =>
      show(
        samples.map((sample) => sample[part]),
        digits,
      );
    console.log(`  ${name.padEnd(8)} serve ${of('own')}  Redis ${of('redis')}  at ${of('perSecond', 0)} a second`);
  }
  const [ofBase = [], ofPresent] = trees.map(({ samples }) => samples.map(({ own, redis }) => own + redis));
  const ratios = ofPresent?.map((us, round) => us / (ofBase[round] ?? Number.NaN));
  if (ratios) console.log(`\n  serve and Redis together, the present tree divided by ${values.base}: ${show(ratios, 3)}`);
  if (values.json) {
    const samples = Object.fromEntries(trees.map((tree) => [tree.name, tree.samples]));
    console.log(JSON.stringify({ rounds, seconds, samples, ratios }));
  }
}
