// Every promise as a program: npm run prove -- [NAME…] [--short] [--mutant] [--json]
import { parseArgs } from 'node:util';
import { adoption } from './adoption.ts';
import { bans } from './bans.ts';
import { erasure } from './erasure.ts';
import { expiry } from './expiry.ts';
import { feed } from './feed/feed.ts';
import { firstCall } from './first-call.ts';
import { freshness } from './freshness/freshness.ts';
import { history } from './history.ts';
import { hostilePartner } from './hostile-partner/hostile-partner.ts';
import { idempotency } from './idempotency.ts';
import { isolation } from './isolation/isolation.ts';
import { limits } from './limits.ts';
import { model } from './model/model.ts';
import { pages } from './pages/pages.ts';
import { paging } from './paging.ts';
import { postgresLoss } from './postgres-loss/postgres-loss.ts';
import type { Claim, Proof } from './proof.ts';
import { quickstart } from './quickstart/quickstart.ts';
import { rawSockets } from './raw-sockets/raw-sockets.ts';
import { redisLoss } from './redis-loss/redis-loss.ts';
import { revocation } from './revocation.ts';
import { sdk } from './sdk/sdk.ts';
import { secrets } from './secrets/secrets.ts';
import { ssrf } from './ssrf/ssrf.ts';
import { streams } from './streams.ts';
import { slowNeighbour } from './webhooks/slow-neighbour.ts';
import { webhooks } from './webhooks/webhooks.ts';
import { writeStorm } from './write-storm.ts';

const proofs: Proof[] = [
  limits,
  bans,
  revocation,
  secrets,
  rawSockets,
  redisLoss,
  postgresLoss,
  paging,
  model,
  firstCall,
  quickstart,
  sdk,
  adoption,
  expiry,
  idempotency,
  erasure,
  isolation,
  history,
  freshness,
  writeStorm,
  feed,
  streams,
  ssrf,
  webhooks,
  slowNeighbour,
  hostilePartner,
  pages,
];

const timedRunsMax = 3;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean' }, mutant: { type: 'boolean' }, json: { type: 'boolean' }, all: { type: 'boolean' } },
});

const chosen = values.all ? proofs : positionals.map(find);
if (chosen.length === 0) list();
else process.exitCode = (await runAll(chosen)) ? 0 : 1;

function find(name: string): Proof {
  const proof = proofs.find((one) => one.name === name);
  if (proof) return proof;
  console.error(`There is no proof "${name}". There are ${proofs.map((one) => one.name).join(', ')}.`);
  process.exit(2);
}

function list(): void {
  console.log('Usage: npm run prove -- NAME… | --all [--short] [--mutant] [--json]\n');
  for (const { name, promise } of proofs) console.log(`  ${name.padEnd(16)} ${promise}`);
}

/** True where every claim holds. */
async function runAll(chosen: readonly Proof[]): Promise<boolean> {
  const all: Claim[] = [];
  for (const proof of chosen) {
    const progress = (text: string) => process.stderr.isTTY && process.stderr.write(`\r\x1b[K${proof.name}: ${text}`);
    const claims = await measure(proof, progress);
    progress('');
    all.push(...claims);
    if (values.json) continue;
    console.log(proof.name);
    for (const { claim, bar, figure, holds } of claims) console.log(`  ${holds ? 'holds ' : 'BROKEN'}  ${claim}: ${figure} (bar: ${bar})`);
  }
  if (values.json) console.log(JSON.stringify(all));
  return all.every(({ holds }) => holds);
}

/**
 * The short form shares its machine with whatever else CI does there, so a proof of which only bounds on elapsed time broke
 * is run again, a few times at most. Any other claim has one chance: what fails once in three runs is broken.
 */
async function measure(proof: Proof, progress: (text: string) => void): Promise<Claim[]> {
  const { short = false, mutant = false } = values;
  const runsMax = short && !mutant ? timedRunsMax : 1;
  for (let run = 1; ; run += 1) {
    const claims = await proof.run({ short, mutant, progress });
    const broken = claims.filter(({ holds }) => !holds);
    if (broken.length === 0 || run >= runsMax || !broken.every(({ isTimed }) => isTimed)) return claims;
    for (const { claim, bar, figure } of broken)
      console.error(`${proof.name}, run ${run} of ${runsMax}: ${claim}: ${figure} (bar: ${bar})`);
  }
}
