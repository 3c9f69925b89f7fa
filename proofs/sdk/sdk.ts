// The SDK as a partner's program uses it, in Node.js and in a browser: lists, limits and lost connections.
import { cpSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { startFlakyProxy } from '../../testkit/flaky-proxy.ts';
import { replaceOnce } from '../../testkit/mutant.ts';
import { queryAt } from '../../testkit/postgres.ts';
import { Store } from '../../testkit/store.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import { bundleSdk } from '../../tools/sdk-build.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { nodeRuntime, openBrowserRuntime, type Runtime } from './sdk-runtimes.ts';
import { type CallOutcome, callWithoutPause, iterate, write } from './sdk-scenarios.ts';

const source = fileURLToPath(new URL('../../sdk/src', import.meta.url));
const bytesMax = 18_000;
const animals = 10_000;
const callMinutes = 10;
const perMinute = 60;
const resetShare = 0.3;
const plenty = { perMinute: 1_000_000, perDay: 100_000_000 };

export const sdk: Proof = {
  name: 'sdk',
  promise: 'the SDK reads every page, waits out limits without causing a ban, and retries lost requests with one effect',
  hasMutant: true,
  isNightly: true,
  about: ['sdk', 'openapi.json', 'proofs/sdk'],
  run,
};

async function run({ short, mutant, progress }: ProofContext): Promise<Claim[]> {
  using built = await build(mutant);
  await using browser = await openBrowserRuntime(built.module);
  const runtimes = [nodeRuntime(built.module), browser];
  progress('pages and lost connections');
  const steady = await proveOnSteadyClock(runtimes, short ? 100 : 2_000);
  progress(`${callMinutes} minutes of calls without pauses`);
  const limits = await proveLimits(runtimes, short ? 60 : 10);
  return [sizeOf(built.module), ...steady, ...limits];
}

/** The mutant sends POSTs without an idempotency key and does not wait after a 429. */
async function build(mutant: boolean): Promise<{ module: string } & Disposable> {
  const folder = temporaryFolder('sdk');
  cpSync(source, path.join(folder.path, 'src'), { recursive: true });
  if (mutant) {
    replaceOnce(path.join(folder.path, 'src/transport.ts'), "if (method === 'POST')", 'if (false)');
    replaceOnce(path.join(folder.path, 'src/transport.ts'), 'if (error.status === 429) pace.close(error);', '');
    replaceOnce(path.join(folder.path, 'src/pace.ts'), 'if (isUsedUp && windowEndsAtMs <= next.deadlineMs)', 'if (false)');
  }
  const module = path.join(folder.path, 'index.js');
  await bundleSdk(path.join(folder.path, 'src/index.ts'), module);
  return { ...folder, module };
}

function sizeOf(module: string): Claim {
  const bytes = gzipSync(readFileSync(module), { level: 9 }).length;
  return {
    claim: 'Size of the SDK, not minified, as a page loads it, gzipped',
    bar: `≤ ${bytesMax.toLocaleString('en')} bytes`,
    figure: `${bytes.toLocaleString('en')} bytes`,
    holds: bytes <= bytesMax,
  };
}

async function proveOnSteadyClock(runtimes: readonly Runtime[], writes: number): Promise<Claim[]> {
  await using store = await Store.open({ processes: 1 });
  await addAnimals(store);
  const { key } = await store.createKey('reader', plenty);
  const { key: writer } = await store.createKey('writer', plenty);
  const url = originOf(store);
  const claims: Claim[] = [];
  for (const runtime of runtimes) {
    const { seen, distinct } = await runtime.run(iterate, { url, key });
    claims.push({
      claim: `${runtime.name}: iterating over ${animals.toLocaleString('en')} animals with 'for await' returns each once`,
      bar: `${animals.toLocaleString('en')} of ${animals.toLocaleString('en')}`,
      figure: `${seen.toLocaleString('en')} returned, ${distinct.toLocaleString('en')} of them distinct`,
      holds: seen === animals && distinct === animals,
    });
  }
  for (const runtime of runtimes) {
    await using proxy = await startFlakyProxy(url, resetShare);
    const prefix = `By ${runtime.name}`;
    const { acknowledged, givenUp } = await runtime.run(write, { url: proxy.url, key: writer, count: writes, callers: 20, prefix });
    const stored = await countByName(store, prefix);
    const twice = [...stored.values()].filter((count) => count > 1).length;
    const lost = acknowledged.filter((name) => !stored.has(name)).length;
    claims.push({
      claim: `${runtime.name}: animals added while ${100 * resetShare} % of connections are reset: added twice, acknowledged but lost, failed calls`,
      bar: '0, 0, 0',
      figure: `${twice}, ${lost}, ${givenUp.length} of ${writes}; ${proxy.resets} resets of ${proxy.requests} requests, ${proxy.resetsAfterResponse} after the response`,
      holds: twice === 0 && lost === 0 && givenUp.length === 0 && acknowledged.length === writes && proxy.resetsAfterResponse > 0,
    });
  }
  return claims;
}

/** Two instances, each with its own key, share one client's limit, so that each gets 429 responses that it could not predict. */
async function proveLimits(runtimes: readonly Runtime[], clockRate: number): Promise<Claim[]> {
  await using store = await Store.open({ processes: 2, clockRate });
  const keys = await Promise.all(runtimes.map(() => store.createKey('busy', { perMinute, perDay: plenty.perDay })));
  const outcomes = await Promise.all(
    runtimes.map((runtime, i) =>
      runtime.run(callWithoutPause, { url: originOf(store, i), key: keys[i]?.key ?? '', minutes: callMinutes, callers: 10 }, clockRate),
    ),
  );
  const claims = runtimes.map(({ name }, i) => claimOf(name, outcomes[i] as CallOutcome));
  const responded = outcomes.reduce((sum, one) => sum + one.responded, 0);
  const allowed = perMinute * callMinutes;
  claims.push({
    claim: `Of the requests that the limit allows in ${callMinutes} minutes, the two instances together used`,
    bar: '≥ 80 %',
    figure: `${responded} of ${allowed}`,
    holds: responded >= 0.8 * allowed,
    isTimed: true,
  });
  return claims;
}

function claimOf(name: string, { responded, limited, banned, strikesLeftMin, givenUp }: CallOutcome): Claim {
  return {
    claim: `${name}: ${callMinutes} minutes of 10 callers without pauses on one instance: bans caused`,
    bar: '0, with some 429s waited out',
    figure: `${banned}; ${responded} calls succeeded, ${limited} 429s waited out, ${givenUp.length} calls past their total timeout, at least ${strikesLeftMin ?? perMinute} of ${perMinute} strikes left`,
    holds: banned === 0 && limited > 0 && givenUp.every((code) => code === 'rate_limit_exceeded'),
    // A call that is given up for another reason waited too long; a ban is never a matter of time.
    isTimed: banned === 0,
  };
}

const originOf = (store: Store, i = 0): string => (store.processes[i]?.url ?? '').replace(/\/v1$/, '');

async function addAnimals({ postgres }: Store): Promise<void> {
  await queryAt(
    postgres.url,
    `insert into pets (name, category_id, status)
      select 'Animal ' || i, 1 + i % 10, (case when i <= $1::int then 'available' else 'sold' end)::pet_status
      from generate_series(1, $1::int + 500) as i`,
    [animals],
  );
}

async function countByName({ postgres }: Store, prefix: string): Promise<Map<string, number>> {
  const text = 'select name, count(*)::int as count from pets where name like $1 group by name';
  const rows = await queryAt<{ name: string; count: number }>(postgres.url, text, [`${prefix} %`]);
  return new Map(rows.map(({ name, count }) => [name, count]));
}
