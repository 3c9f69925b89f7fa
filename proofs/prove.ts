// Runs the proofs, each of which shows that a promise holds: npm run prove -- [NAME… | NAME PART… | --all] [--short] [--mutant] [--times N] [--seed N] [--json]
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { compileCache } from '../testkit/compile-cache.ts';
import { plantMutant } from '../testkit/mutant.ts';
import { canReadCpu, cpuMs, endedChildrenMs } from '../testkit/process-cpu.ts';
import { makeTemplate } from '../testkit/store.ts';
import { ensureBuilt } from '../tools/build.ts';
import { hasChanged } from '../tools/changed.ts';
import { runCommand } from '../tools/command.ts';
import type { Claim, Proof } from './proof.ts';

/** Each is loaded only where it is run: to load all takes seconds. */
const loaders: Readonly<Record<string, () => Promise<Proof>>> = {
  // It takes longest: beside others it begins first.
  pages: async () => (await import('./pages/pages.ts')).pages,
  'adopters-page': async () => (await import('./adopters-page/adopters-page.ts')).adoptersPage,
  authority: async () => (await import('./authority/authority.ts')).authority,
  audit: async () => (await import('./audit/audit.ts')).audit,
  console: async () => (await import('./console/console.ts')).consoleProof,
  'people-limits': async () => (await import('./people-limits/people-limits.ts')).peopleLimits,
  site: async () => (await import('./site/site.ts')).site,
  limits: async () => (await import('./limits.ts')).limits,
  'limiter-simulation': async () => (await import('./limiter-simulation/limiter-simulation.ts')).limiterSimulation,
  bans: async () => (await import('./bans.ts')).bans,
  revocation: async () => (await import('./revocation.ts')).revocation,
  secrets: async () => (await import('./secrets/secrets.ts')).secrets,
  'raw-sockets': async () => (await import('./raw-sockets/raw-sockets.ts')).rawSockets,
  'redis-loss': async () => (await import('./redis-loss/redis-loss.ts')).redisLoss,
  'many-keys': async () => (await import('./many-keys/many-keys.ts')).manyKeys,
  'postgres-loss': async () => (await import('./postgres-loss/postgres-loss.ts')).postgresLoss,
  paging: async () => (await import('./paging.ts')).paging,
  'online-migration': async () => (await import('./online-migration/online-migration.ts')).onlineMigration,
  model: async () => (await import('./model/model.ts')).model,
  'first-call': async () => (await import('./first-call.ts')).firstCall,
  quickstart: async () => (await import('./quickstart/quickstart.ts')).quickstart,
  sdk: async () => (await import('./sdk/sdk.ts')).sdk,
  frameworks: async () => (await import('./frameworks/frameworks.ts')).frameworks,
  adoption: async () => (await import('./adoption.ts')).adoption,
  applications: async () => (await import('./applications/applications.ts')).applications,
  'wanted-animal': async () => (await import('./wanted-animal/wanted-animal.ts')).wantedAnimal,
  'kept-places': async () => (await import('./wanted-animal/kept-places.ts')).keptPlaces,
  'wanted-application': async () => (await import('./wanted-animal/wanted-application.ts')).wantedApplication,
  holds: async () => (await import('./holds.ts')).holds,
  undo: async () => (await import('./undo/undo.ts')).undo,
  expiry: async () => (await import('./expiry.ts')).expiry,
  mail: async () => (await import('./mail/mail.ts')).mail,
  idempotency: async () => (await import('./idempotency.ts')).idempotency,
  applicants: async () => (await import('./applicants.ts')).applicants,
  erasure: async () => (await import('./erasure.ts')).erasure,
  leftovers: async () => (await import('./leftovers.ts')).leftovers,
  restore: async () => (await import('./restore/restore.ts')).restore,
  'restore-photos': async () => (await import('./restore/restore-photos.ts')).restorePhotos,
  isolation: async () => (await import('./isolation/isolation.ts')).isolation,
  history: async () => (await import('./history.ts')).history,
  'history-months': async () => (await import('./history-months.ts')).historyMonths,
  freshness: async () => (await import('./freshness/freshness.ts')).freshness,
  'listings-freshness': async () => (await import('./freshness/listings-freshness.ts')).listingsFreshness,
  'write-storm': async () => (await import('./write-storm/write-storm.ts')).writeStorm,
  feed: async () => (await import('./feed/feed.ts')).feed,
  streams: async () => (await import('./streams.ts')).streams,
  'slow-readers': async () => (await import('./slow-readers/slow-readers.ts')).slowReaders,
  photos: async () => (await import('./photos/photos.ts')).photos,
  ssrf: async () => (await import('./ssrf/ssrf.ts')).ssrf,
  webhooks: async () => (await import('./webhooks/webhooks.ts')).webhooks,
  'slow-neighbour': async () => (await import('./webhooks/slow-neighbour.ts')).slowNeighbour,
  'many-endpoints': async () => (await import('./webhooks/many-endpoints.ts')).manyEndpoints,
  subscriptions: async () => (await import('./webhooks/subscriptions.ts')).subscriptions,
  'held-snapshot': async () => (await import('./webhooks/held-snapshot.ts')).heldSnapshot,
  upgrade: async () => (await import('./webhooks/upgrade.ts')).upgrade,
  rolling: async () => (await import('./rolling/rolling.ts')).rolling,
  'hostile-partner': async () => (await import('./hostile-partner/hostile-partner.ts')).hostilePartner,
  usage: async () => (await import('./usage/usage.ts')).usage,
  alerts: async () => (await import('./alerts/alerts.ts')).alerts,
  'doctor-faults': async () => (await import('./doctor/doctor-faults.ts')).doctorFaults,
  matrix: async () => (await import('./matrix/matrix.ts')).matrix,
  procedures: async () => (await import('./procedures/procedures.ts')).proceduresProof,
  deploy: async () => (await import('./deploy/deploy.ts')).deploy,
  'roll-back': async () => (await import('./roll-back/roll-back.ts')).rollBack,
  faults: async () => (await import('./faults/faults.ts')).faults,
};

interface Proved {
  readonly proof: string;
  /** Empty if the proof did not finish. */
  readonly claims: readonly Claim[];
  readonly seconds: number;
  /** The output of the proof other than its claims. */
  readonly notes: string;
}

const synopsis = 'Usage: npm run prove -- NAME… | NAME PART… | --all [--short] [--mutant] [--times N] [--seed N] [--json]';
const timedRunsMax = 2;
/** May exceed the number of cores, because a proof spends about half of its time waiting. */
const sideBySideMax = 3;
const shortTimeoutMs = 10 * 60_000;
const longTimeoutMs = 60 * 60_000;

const { values, positionals } = readArguments();
const { short = false, mutant = false, json = false, all = false, help = false, shared = false } = values;
const [times, seed] = [readNumber('times'), readNumber('seed')];
const parts = await readParts();

const named = all ? Object.keys(loaders) : positionals.slice(0, positionals.length - parts.length);
const loaded = await Promise.all((help ? [] : named).map(load));
const chosen = all ? loaded.filter(isDue) : loaded;
if (chosen.length === 0) await list();
else process.exitCode = (await runAll(chosen)) ? 0 : 1;

function readArguments() {
  const flag = { type: 'boolean' } as const;
  const options = {
    short: flag,
    mutant: flag,
    json: flag,
    all: flag,
    help: flag,
    // Set by this program where several proofs run at a time.
    shared: flag,
    times: { type: 'string' },
    seed: { type: 'string' },
  } as const;
  try {
    return parseArgs({ allowPositionals: true, options });
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${synopsis}`);
    process.exit(2);
  }
}

function isDue({ isNightly = false, about = [] }: Proof): boolean {
  return !short || !isNightly || hasChanged(about);
}

function load(name: string): Promise<Proof> {
  const loader = loaders[name];
  if (loader) return loader();
  console.error(`There is no proof "${name}". The proofs are ${Object.keys(loaders).join(', ')}.`);
  process.exit(2);
}

/** What follows the name of the first proof, if it is the name of one of its parts. */
async function readParts(): Promise<string[]> {
  const [name = '', ...others] = positionals;
  const { parts: known = [] } = (await loaders[name]?.()) ?? {};
  const found = others.filter((one) => known.includes(one));
  if (found.length === 0 || found.length === others.length) return found;
  const other = others.find((one) => !known.includes(one));
  console.error(`The proof ${name} has no part "${other}". Its parts are ${known.join(', ')}.`);
  process.exit(2);
}

function readNumber(option: 'times' | 'seed'): number | undefined {
  const text = values[option];
  if (text === undefined || /^\d{1,9}$/.test(text)) return text === undefined ? undefined : Number(text);
  console.error(`--${option} needs a whole number, not "${text}".\n${synopsis}`);
  process.exit(2);
}

async function list(): Promise<void> {
  const proofs = await Promise.all(Object.keys(loaders).map(load));
  if (json) {
    const listed = proofs.map(({ name, promise, mutant, hasMutant = mutant !== undefined, isNightly = false, about = [] }) => ({
      name,
      promise,
      hasMutant,
      isNightly,
      about,
    }));
    console.log(JSON.stringify(listed));
    return;
  }
  console.log(`${synopsis}\n`);
  for (const { name, promise } of proofs) console.log(`  ${name.padEnd(16)} ${promise}`);
}

/** Returns true if every proof finished and every claim holds. */
async function runAll(chosen: readonly Proof[]): Promise<boolean> {
  const [first, ...others] = chosen;
  const proved = first && others.length === 0 ? [await runHere(first)] : await runInProcesses(chosen);
  if (json) console.log(JSON.stringify(proved.flatMap(({ proof, claims }) => claims.map((claim) => ({ proof, ...claim })))));
  return proved.every(({ claims }) => claims.length > 0 && claims.every(({ holds }) => holds));
}

async function runHere(proof: Proof): Promise<Proved> {
  const startedAtMs = performance.now();
  const progress = (text: string) => process.stderr.isTTY && process.stderr.write(`\r\x1b[K${proof.name}: ${text}`);
  const claims = await measure(proof, progress);
  progress('');
  // Beside others, elapsed time does not tell which proof takes the cores.
  if (shared && canReadCpu) console.error(`CPU time: ${((cpuMs(process.pid) + endedChildrenMs(process.pid)) / 1_000).toFixed(1)} s`);
  const proved: Proved = { proof: proof.name, claims, seconds: secondsSince(startedAtMs), notes: '' };
  if (!json) show(proved);
  return proved;
}

/** Runs each proof in its own process. In the short form several run at a time, except those that must run alone. */
async function runInProcesses(chosen: readonly Proof[]): Promise<Proved[]> {
  // Build once, here: otherwise several proofs would build at the same time.
  await ensureBuilt();
  using _ = await makeTemplate();
  process.env['NODE_COMPILE_CACHE'] ??= compileCache;
  const proved: Proved[] = [];
  const work = async (waiting: Proof[], isShared: boolean) => {
    for (let proof = waiting.shift(); proof; proof = waiting.shift()) {
      const one = await runInProcess(proof, isShared);
      show(one);
      proved.push(one);
    }
  };
  const canShare = ({ runsAlone }: Proof) => short && !runsAlone;
  const sharing = chosen.filter(canShare);
  await Promise.all(Array.from({ length: sideBySideMax }, () => work(sharing, true)));
  await work(
    chosen.filter((proof) => !canShare(proof)),
    false,
  );
  return proved;
}

async function runInProcess({ name, timeoutMs = short ? shortTimeoutMs : longTimeoutMs }: Proof, isShared: boolean): Promise<Proved> {
  const startedAtMs = performance.now();
  const flags = Object.entries({ short, mutant, shared: isShared && !mutant }).flatMap(([flag, isSet]) => (isSet ? [`--${flag}`] : []));
  const args = [fileURLToPath(import.meta.url), name, '--json', ...flags];
  const { stdout, output } = await runCommand(process.execPath, args, { timeoutMs });
  const line = stdout.split('\n').find((one) => one.startsWith('['));
  return {
    proof: name,
    claims: line ? (JSON.parse(line) as Claim[]) : [],
    seconds: secondsSince(startedAtMs),
    notes: output.replace(line ?? '', '').trim(),
  };
}

function secondsSince(startedAtMs: number): number {
  return (performance.now() - startedAtMs) / 1_000;
}

/** Prints to standard error if standard output is for JSON. */
function show({ proof, claims, seconds, notes }: Proved): void {
  const print = json ? console.error : console.log;
  print(`${proof}, ${seconds.toFixed(1)} s`);
  if (notes) print(notes.replace(/^/gm, '  '));
  if (claims.length === 0) print('  FAILED  it did not finish');
  for (const claim of claims) print(`  ${outcomeOf(claim)}  ${claim.claim}: ${claim.figure} (bar: ${claim.bar})`);
}

function outcomeOf({ holds, isKnownMiss, isNotRun, isLate }: Claim): string {
  if (isLate) return 'late   ';
  if (isNotRun && holds) return 'not run';
  return holds ? 'holds ' : isKnownMiss ? 'missed' : 'BROKEN';
}

/**
 * Runs a proof. Beside others, bounds on elapsed time decide nothing: the others take part of the time. Alone on a machine that may do
 * other work too, a proof that only breaks such bounds runs again, `timedRunsMax` times at most. Other claims must hold at the first run.
 */
async function measure(proof: Proof, progress: (text: string) => void): Promise<Claim[]> {
  const runsMax = (short || process.env['CI']) && !mutant && !shared ? timedRunsMax : 1;
  using tree = mutant && proof.mutant ? plantMutant(proof.mutant) : undefined;
  for (let run = 1; ; run += 1) {
    const claims = await proof.run({ short, mutant, root: tree?.root, parts, times, seed, progress });
    const broken = claims.filter(({ holds, isKnownMiss }) => !holds && !isKnownMiss);
    if (shared) return claims.map((claim) => (claim.isTimed && !claim.holds ? { ...claim, holds: true, isLate: true } : claim));
    if (broken.length === 0 || run >= runsMax || !broken.every(({ isTimed }) => isTimed)) return claims;
    for (const { claim, bar, figure } of broken)
      console.error(`${proof.name}, run ${run} of ${runsMax}: ${claim}: ${figure} (bar: ${bar})`);
  }
}
