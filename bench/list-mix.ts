// What quota leases bring under the load of many clients, most of them quiet: npm run bench -- list --mix [--rounds N] [--seconds N] [--json]
import { parseArgs } from 'node:util';
import { cpuMs } from '../testkit/process-cpu.ts';
import { type ServeProcess, Store } from '../testkit/store.ts';
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
/** Below this gain leases are not worth their code. */
const gainMin = 0.1;

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
    rounds: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '10' },
    json: { type: 'boolean', default: false },
  },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const progress = (text: string) => void (process.stderr.isTTY && process.stderr.write(`\r\x1b[K${text}`));

const variants = ['on', 'off'] as const;
type Leases = (typeof variants)[number];

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
  progress('starting PostgreSQL, Redis and two processes of each kind');
  const env = { NODE_ENV: 'production', LOG_LEVEL: 'warn' };
  await using store = await Store.open({ processes: 0, durable: true, env });
  await fillStore(store.postgres.url);
  const quietKeys = await insertKeys(store.postgres.url, { clients: quiet.clients, perClient: 1 });
  const busyKeys = await insertKeys(store.postgres.url, { clients: busy.clients, perClient: busy.keys, named: 'busy' });
  const running = new Map<Leases, ServeProcess[]>();
  for (const leases of variants) {
    const started = [];
    for (let i = 0; i < processCount; i += 1) started.push(await store.serve({ HOMEWARD_QUOTA_LEASES: leases }));
    running.set(leases, started);
  }
  const [first] = running.get('on') ?? [];
  const pages = await collectPages(new URL(first?.url ?? '').origin, quietKeys[0]?.key ?? '');
  const paths = pages.map(({ path }) => path);
  const load = async (leases: Leases, forSeconds: number): Promise<Sample> => {
    const processes = running.get(leases) ?? [];
    const pids = processes.map(({ child }) => child.pid ?? 0);
    const read = () => ({ own: pids.reduce((sum, pid) => sum + cpuMs(pid), 0), redis: cpuMs(store.redis.pid) });
    using paced = await PacedLoad.open(processes.map(({ url }) => new URL(url).origin));
    const before = read();
    const requests = await paced.run({ seconds: forSeconds, perSecond: perSecondAll }, () => drawRequest(quietKeys, busyKeys, paths));
    const after = read();
    const us = (part: 'own' | 'redis') => ((after[part] - before[part]) * 1_000) / requests;
    return { own: us('own'), redis: us('redis'), perSecond: requests / forSeconds };
  };
  // Every quiet key is read once, so that none of the rounds pays for that.
  const warmUpSeconds = Math.ceil((3 * quiet.clients) / quiet.perSecond);
  for (const leases of variants) {
    progress(`warming up, leases ${leases}`);
    await load(leases, warmUpSeconds);
  }
  const samples: Record<Leases, Sample[]> = { on: [], off: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const leases of round % 2 === 0 ? variants : variants.toReversed()) {
      progress(`round ${round + 1} of ${rounds}, leases ${leases}`);
      samples[leases].push(await load(leases, seconds));
    }
  }
  progress('');
  print(samples);
}

function drawRequest(quietKeys: readonly BenchKey[], busyKeys: readonly BenchKey[], paths: readonly string[]): string {
  const drawn = Math.random() * perSecondAll - quiet.perSecond;
  if (drawn < 0) return requestText('GET', anyOf(paths), anyOf(quietKeys).key);
  const start = endsOfBusy.findIndex((end) => drawn < end) * busy.keys;
  return requestText('GET', anyOf(paths), anyOf(busyKeys.slice(start, start + busy.keys)).key);
}

function print(samples: Record<Leases, Sample[]>): void {
  const show = (spread: { median: number; min: number; max: number }, digits: number) =>
    `${spread.median.toFixed(digits)} (${spread.min.toFixed(digits)}–${spread.max.toFixed(digits)})`;
  console.log(
    `CPU time for a list, in µs: the median of ${rounds} alternating rounds of ${seconds} s and, in brackets, lowest and highest`,
  );
  console.log(
    `  ${quiet.clients.toLocaleString('en')} clients with ${quiet.perSecond.toLocaleString('en')} requests a second together, ${busy.clients} of ${busy.keys} keys with ${busy.perSecond.first} to ${busy.perSecond.last} each; ${processCount} processes\n`,
  );
  for (const leases of variants) {
    const of = (part: keyof Sample, digits = 1) => show(spreadOf(samples[leases].map((sample) => sample[part])), digits);
    console.log(`  leases ${leases.padEnd(4)} serve ${of('own')}  Redis ${of('redis')}  at ${of('perSecond', 0)} a second`);
  }
  const gains = samples.on.map((on, round) => {
    const off = samples.off[round];
    return off ? 1 - (on.own + on.redis) / (off.own + off.redis) : Number.NaN;
  });
  const gain = spreadOf(gains);
  console.log(
    `\n  gain of leases: ${show({ median: gain.median * 100, min: gain.min * 100, max: gain.max * 100 }, 1)} % (worth their code from ${gainMin * 100} % on)`,
  );
  if (values.json) console.log(JSON.stringify({ rounds, seconds, samples, gain }));
}
