// A store is upgraded from the release before to this commit and rolled back again, under load, in each way to deploy, by the commands of
// docs/deploy.md.
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CleanCheckout } from '../../testkit/clean-checkout.ts';
import { checkOut } from '../../testkit/revision-checkout.ts';
import { type BuiltRelease, buildRelease, buildStandIns, containerEnv, imageVariables, requireContainers } from '../deploy/images.ts';
import { run as runProgram } from '../deploy/programs.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { releaseBefore } from '../release-before.ts';
import { stepsOf } from './documented-steps.ts';
import { kubernetesStepClaims } from './kubernetes-steps.ts';
import { buildOldRelease, type OldRelease } from './old-release.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const trialTimeoutMs = 12 * 60_000;
const requestsMin = 1_000;
const settings = { PER_SECOND: '25', SETTLE_SECONDS: '5' };
const newRevision = 'abcdef0';
const ways = ['containers', 'compose', 'systemd'] as const;
type Way = (typeof ways)[number];

export const rollBack: Proof = {
  name: 'roll-back',
  promise:
    'a store is upgraded and rolled back by the commands of docs/deploy.md, in each way to deploy: no request fails, nothing is lost',
  isNightly: true,
  runsAlone: true,
  timeoutMs: 3 * 60 * 60_000,
  parts: [...ways, 'kubernetes'],
  run,
};

async function run({ parts, progress }: ProofContext): Promise<Claim[]> {
  const isChosen = (name: string) => parts.length === 0 || parts.includes(name);
  const claims = isChosen('kubernetes') ? await kubernetesStepClaims() : [];
  const chosen = ways.filter(isChosen);
  if (chosen.length === 0) return claims;
  requireContainers();
  await buildStandIns(progress);
  using old = checkOut(releaseBefore().commit);
  using checkout = new CleanCheckout();
  const oldRelease = await buildOldRelease(old.root, progress);
  const newRelease = await buildRelease(checkout.folder, newRevision, progress);
  for (const way of chosen) {
    progress(way);
    // One that ends early does not keep the others from being tried.
    const tried = tryWay(way, { old: old.root, files: checkout.folder, oldRelease, newRelease });
    claims.push(...(await tried.catch((error: unknown) => [endedEarly(way, error)])));
  }
  return claims;
}

interface Trial {
  readonly old: string;
  readonly files: string;
  readonly oldRelease: OldRelease;
  readonly newRelease: BuiltRelease;
}

interface Load {
  readonly sent: number;
  readonly failed: number;
  readonly kinds: Readonly<Record<string, number>>;
  readonly slowestOfHundredMs: number;
  readonly animals: number;
  readonly orders: number;
  readonly lostAnimals: number;
  readonly lostOrders: number;
  readonly lostEvents: number;
}

async function tryWay(way: Way, { old, files, oldRelease, newRelease }: Trial): Promise<Claim[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'homeward-roll-back-'));
  try {
    writeSteps(path.join(folder, 'steps'));
    // Copies: the trial writes secrets, and replaces what builds.
    const source = (from: string, to: string) => {
      const filter = (file: string) => !/\/(?:node_modules|released)$/.test(file);
      cpSync(from, path.join(folder, to), { recursive: true, filter });
      return path.join(folder, to);
    };
    const env = {
      ...containerEnv,
      ...settings,
      ...imageVariables,
      MACHINE_IMAGE: 'localhost/homeward-proof/machine',
      NODE: process.execPath,
      STEPS: path.join(folder, 'steps'),
      CHECKOUT: source(old, 'checkout'),
      FILES: source(files, 'files'),
      OLD_IMAGE: oldRelease.image,
      OLD_PACKAGE: oldRelease.package,
      NEW_IMAGE: newRelease.image,
      NEW_PACKAGE: newRelease.package,
    };
    const args = ['--net', '--mount', '--propagation', 'private', path.join(here, `in-${way}.sh`)];
    const printed = await runProgram('unshare', args, { env, timeoutMs: trialTimeoutMs });
    return judge(way, Object.fromEntries(printed.split('\n').map((line) => [line.split(' ', 1)[0], line.slice(line.indexOf(' ') + 1)])));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const endedEarly = (way: Way, error: unknown): Claim => ({
  claim: `${way}: the documented steps end without an error`,
  bar: 'they do',
  figure: error instanceof Error ? error.message : String(error),
  holds: false,
});

/** A file for each section. */
function writeSteps(folder: string): void {
  mkdirSync(folder);
  const write = (name: string, steps: readonly string[]) => writeFileSync(path.join(folder, `${name}.sh`), steps.join('\n'));
  for (const way of ways) {
    write(`upgrade-${way}`, stepsOf(`Upgrade ${way}`));
    write(`roll-back-${way}`, stepsOf(`Roll back ${way}`));
  }
  // Without the first start, which is of the old release here.
  write('a-container-functions', stepsOf('A container').slice(0, 1));
}

function judge(way: Way, lines: Readonly<Record<string, string>>): Claim[] {
  const load = JSON.parse(lines['load'] ?? '{}') as Load;
  const lost = load.lostAnimals + load.lostOrders + load.lostEvents;
  const kinds = Object.entries(load.kinds).map(([kind, count]) => `${kind}: ${count}`);
  return [
    {
      claim: `${way}: requests that fail while a store is upgraded from ${releaseBefore().version} to this commit and rolled back, at ${settings.PER_SECOND} a second`,
      bar: `0 of at least ${requestsMin.toLocaleString('en')}`,
      figure: `${load.failed} of ${load.sent.toLocaleString('en')}${kinds.length > 0 ? ` (${kinds.join(', ')})` : ''}; the slowest of a hundred took ${load.slowestOfHundredMs} ms; upgraded: ${lines['upgraded']}; back: ${lines['back']}`,
      holds:
        load.failed === 0 && load.sent >= requestsMin && isThere(lines['upgraded'], newRevision) && !isThere(lines['back'], newRevision),
    },
    {
      claim: `${way}: animals and orders that were acknowledged and are not there, or not once in the feed`,
      bar: '0',
      figure: `${lost} of ${load.animals.toLocaleString('en')} animals and ${load.orders.toLocaleString('en')} orders`,
      holds: lost === 0 && load.animals > 0 && load.orders > 0,
    },
  ];
}

const isThere = (versions: string | undefined, revision: string) => versions?.includes(revision) === true && !versions.includes('failed');
