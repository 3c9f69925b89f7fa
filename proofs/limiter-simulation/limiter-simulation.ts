// The limiters of four processes on a virtual clock, with a real Redis. A seed decides each step and each fault, so a run can be repeated.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Edit, plantMutant } from '../../testkit/mutant.ts';
import { startRedis } from '../../testkit/servers.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import type { RuleName } from './admission-books.ts';
import { processCount, type RunResult, stepsPerRun } from './simulated-run.ts';
import { SimulationThreads } from './simulation-threads.ts';

const seedsOf = { long: 5_000, short: 100 };
const mutantSeedsMax = 500;
/** So many seeds are run once more, to compare the traces. */
const repeatedSeeds = { long: 20, short: 5 };
const tracedMax = 60;
const root = fileURLToPath(new URL('../..', import.meta.url));

export const limiterSimulation: Proof = {
  name: 'limiter-simulation',
  promise: 'with delayed, lost and late replies, an emptied Redis and paused processes, limits stay within their bounds',
  hasMutant: true,
  isNightly: true,
  about: ['service/src/access/rate-limit', 'service/src/platform/redis', 'proofs/limiter-simulation'],
  run,
};

interface Mutant {
  readonly fault: string;
  readonly edit: Edit;
}

const mutants: readonly Mutant[] = [
  {
    fault: 'a request is counted by its late reply, and again as a debt',
    edit: {
      file: 'access/rate-limit/redis-limiter.ts',
      from: "      if (verdict.outcome === 'admitted') this.#local.cancelDebt(charge, verdict);\n",
      to: '',
    },
  },
  {
    fault: 'debts are sent while a late reply may still cancel them',
    edit: { file: 'access/rate-limit/redis-limiter.ts', from: '    if (this.#inDoubt > 0) return;\n', to: '' },
  },
  {
    fault: 'the counts that a process has seen in one minute count in the next',
    edit: { file: 'access/rate-limit/consume.lua', from: 'if m == minute and mc > in_minute', to: 'if mc > in_minute' },
  },
  {
    fault: 'the counts that a process has seen do not replace those of an emptied Redis',
    edit: { file: 'access/rate-limit/consume.lua', from: "if seen ~= '' and seen ~= stored[1] then", to: 'if false then' },
  },
  {
    fault: 'a debt is not counted in the day',
    edit: { file: 'access/rate-limit/consume.lua', from: 'if d == day then in_day = in_day + dc end', to: '' },
  },
  {
    fault: 'what a process admits without a reply is not owed',
    edit: {
      file: 'access/rate-limit/local-limiter.ts',
      from: '      account.owed = combine({ ...counts, inMinute: charge.cost, inDay: charge.cost }, account.owed, 1);\n',
      to: '',
    },
  },
];

async function run({ short, mutant, seed, progress }: ProofContext): Promise<Claim[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'homeward-'));
  try {
    const socket = path.join(folder, 'redis.sock');
    await using _server = await startRedis({ settings: { unixsocket: socket } });
    return mutant ? await findMutants(socket, progress) : await prove(socket, { short, seed, progress });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function prove(socket: string, { short, seed, progress }: Pick<ProofContext, 'short' | 'seed' | 'progress'>): Promise<Claim[]> {
  await using threads = await SimulationThreads.start(socket, root);
  const seeds = seed === undefined ? seedsFrom(0, short ? seedsOf.short : seedsOf.long) : [seed];
  const results: RunResult[] = [];
  for await (const result of threads.run(seeds)) {
    results.push(result);
    if (result.failure) describeFailure(result);
    progress(`${results.length} of ${seeds.length} seeds`);
  }
  const hashes = new Map(results.map((one) => [one.seed, one.hash]));
  const repeated: boolean[] = [];
  for await (const again of threads.run(seeds.slice(0, short ? repeatedSeeds.short : repeatedSeeds.long)))
    repeated.push(again.hash === hashes.get(again.seed));
  return judge(results, repeated);
}

/** The proof catches its mutants only if it finds each of them: otherwise all claims hold. */
async function findMutants(socket: string, progress: ProofContext['progress']): Promise<Claim[]> {
  const found: Array<RunResult | undefined> = [];
  for (const { fault, edit } of mutants) {
    using tree = plantMutant([edit]);
    await using threads = await SimulationThreads.start(socket, tree.root);
    let first: RunResult | undefined;
    let runs = 0;
    for await (const result of threads.run(seedsFrom(0, mutantSeedsMax))) {
      progress(`${fault}: ${++runs} seeds`);
      first = result.failure ? result : undefined;
      if (first) break;
    }
    found.push(first);
  }
  const areAllFound = found.every((one) => one !== undefined);
  return mutants.map(({ fault }, i) => ({
    claim: `With the fault that ${fault}, every rule is kept`,
    bar: `${mutantSeedsMax} seeds`,
    figure: describeFound(found[i]),
    holds: !areAllFound,
  }));
}

const describeFound = (found: RunResult | undefined) =>
  found?.failure ? `broken by seed ${found.seed} in step ${found.failure.step}: ${found.failure.message}` : 'the fault is not found';

const seedsFrom = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);

/** To standard error, with what led to it. */
function describeFailure({ seed, failure }: RunResult): void {
  if (!failure) return;
  console.error(`Seed ${seed}, step ${failure.step}: ${failure.message}\n${failure.trace.slice(-tracedMax).join('\n')}`);
  console.error(`Run it again: npm run prove -- limiter-simulation --seed ${seed}`);
}

function judge(results: readonly RunResult[], repeated: readonly boolean[]): Claim[] {
  const total = (of: (result: RunResult) => number) => results.reduce((sum, one) => sum + of(one), 0);
  const peak = (of: (result: RunResult) => number) => results.reduce((highest, one) => Math.max(highest, of(one)), 0).toFixed(2);
  const seeds = `${grouped(results.length)} seeds of ${stepsPerRun} steps, ${grouped(total(({ decisions }) => decisions))} requests, ${grouped(total(({ calls }) => calls))} calls of consume.lua`;
  const brokenBy = (rules: readonly RuleName[]) => results.filter(({ failure }) => failure && rules.includes(failure.rule));
  const claim = (rules: readonly RuleName[], text: string, bar: string, figure: string): Claim => {
    const broken = brokenBy(rules);
    const seedsOfBroken = broken.slice(0, 10).map(({ seed }) => seed);
    return {
      claim: text,
      bar,
      figure: broken.length === 0 ? figure : `broken by ${broken.length} seeds, such as ${seedsOfBroken.join(', ')}`,
      holds: broken.length === 0,
    };
  };
  const same = repeated.filter(Boolean).length;
  return [
    claim(
      ['exact'],
      `Requests over the limit that Redis admits to ${processCount} processes, in a minute or a day in which it was not emptied`,
      '0',
      `0: ${seeds}`,
    ),
    claim(['shown'], 'Replies that do not count each request once, while Redis decides and is not emptied', '0', '0'),
    claim(['rejected'], 'Requests rejected while less than the limit is used', '0', '0'),
    claim(
      ['alone'],
      'Admitted in a window in which a process decided without Redis',
      `the limit for each process, ${processCount} times, and requests on their way`,
      `at most ${peak(({ peaks }) => peaks.alone)} times`,
    ),
    claim(
      ['paid'],
      'Requests decided without Redis that it is not told of afterwards, or is told of although its reply came late',
      '0',
      '0',
    ),
    claim(
      ['emptied'],
      'Admitted in a window in which Redis was emptied',
      'the limit once more for each time; the limit for each process, and requests on their way',
      `at most ${peak(({ peaks }) => peaks.emptied)} times`,
    ),
    claim(['window', 'error'], 'Requests decided in a window that is not theirs', '0', '0'),
    {
      claim: 'A seed that is run again has the same trace',
      bar: 'every one',
      figure: `${same} of ${repeated.length}`,
      holds: repeated.length > 0 && same === repeated.length,
    },
  ];
}

const grouped = (count: number) => count.toLocaleString('en');
