// One partner attacks a store, in each way alone and in all at once. How much does another partner notice?
import { planBounds } from '../../service/src/access/rate-limit/plans.ts';
import { HttpClient } from '../../testkit/http.ts';
import { plantMutant } from '../../testkit/mutant.ts';
import { loadFor } from '../../testkit/steady-load.ts';
import { none } from '../claims.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { openAttackedStore } from './attacked-store.ts';
import { type AttackName, allTogether, attackNames } from './attacks.ts';
import { faults } from './faults.ts';
import { judgeAftermath, judgeHonest } from './honest-claims.ts';
import { HonestClient, honestPerSecond } from './honest-client.ts';
import type { Report } from './hostile-caller.ts';
import { judgeJunk, judgeOrders, judgeResponses } from './hostile-claims.ts';
import { HostileProcess } from './hostile-process.ts';
import { type Measured, measurePairs } from './pairs.ts';

type Part = AttackName | typeof allTogether;
const parts: readonly Part[] = [...attackNames, allTogether];

export const hostilePartner: Proof = {
  name: 'hostile-partner',
  promise: 'a partner that attacks, in each way alone and in all at once, slows others little, and gets no more than its plan allows',
  hasMutant: true,
  runsAlone: true,
  isNightly: true,
  parts,
  run,
};

const long = { animals: 20_000, events: 150_000, pairs: 10, phaseMs: 10_000, warmUpMs: 20_000, isTimed: true };
/** Counts only: phases of a second are too short for a p99. */
const short = { ...long, events: 20_000, pairs: 1, phaseMs: 1_000, warmUpMs: 2_000, isTimed: false };
const ofMutant = { ...short, pairs: 3, phaseMs: 5_000, isTimed: true };

/** Far more orders than the client may have open, but within its plan's requests per minute. */
const occupiedCount = planBounds.business.openOrders + 260;
/** A connection that reads nothing is closed after 10 s. */
const held = { count: 30, ms: 15_000 };

async function run({ short: isShort, mutant, parts: named, progress }: ProofContext): Promise<Claim[]> {
  if (mutant) return [await plantFaults(progress)];
  const chosen = parts.filter((name) => named.length === 0 || named.includes(name));
  return attackStore(chosen, isShort ? short : long, undefined, progress);
}

/** Like every mutant's, its claim must break: then each of the faults broke a claim about its attack. */
async function plantFaults(progress: ProofContext['progress']): Promise<Claim> {
  const noticed: string[] = [];
  const unnoticed: string[] = [];
  for (const [name, { attack, edits }] of Object.entries(faults)) {
    using tree = plantMutant(edits);
    const claims = await attackStore([attack], ofMutant, tree.root, (text) => progress(`${name}: ${text}`));
    const broken = claims.find(({ holds }) => !holds);
    if (broken) noticed.push(`${name}: ${broken.claim}: ${broken.figure}`);
    else unnoticed.push(name);
  }
  return {
    claim: 'Planted faults that no claim notices',
    bar: 'at least 1',
    figure: `${unnoticed.length} of ${noticed.length + unnoticed.length}${unnoticed.map((name) => `; not noticed: ${name}`).join('')}; ${noticed.join('; ')}`,
    holds: unnoticed.length > 0,
  };
}

type Size = typeof long;

async function attackStore(
  names: readonly Part[],
  size: Size,
  root: string | undefined,
  progress: ProofContext['progress'],
): Promise<Claim[]> {
  progress('filling a store');
  await using attacked = await openAttackedStore(size, root);
  const { store, honest, target } = attacked;
  await using hostile = new HostileProcess();
  hostile.send({ do: 'target', target });
  using http = new HttpClient(256);
  const client = new HonestClient(http, target.urls, honest, target.samples);
  const scene = { store, metricsPorts: target.metricsPorts, client, hostile };

  progress('the hostile partner orders all that it can');
  const reports: Report[] = [await hostile.request({ do: 'occupy', count: occupiedCount })];
  await loadFor(size.warmUpMs, honestPerSecond, (i) => client.send(i));
  const claims: Claim[] = [];
  const all: Measured[] = [];
  for (const name of names) {
    progress(`${name}, ${all.length + 1} of ${names.length}`);
    const measured = await measurePairs(scene, name === allTogether ? attackNames : [name], size);
    all.push(measured);
    reports.push(...measured.reports);
    claims.push(...judgeHonest(name, measured, size));
    if (name === 'slow readers') claims.push(await judgeHeld(hostile));
  }
  const [first, last] = [all[0], all.at(-1)];
  if (first && last && first !== last && size.isTimed) claims.push(judgeAftermath(first, last));
  const finalOrders: number[] = [];
  for (const url of target.urls) finalOrders.push((await client.orderAvailable(url))?.status ?? 0);
  return [
    ...claims,
    {
      claim: 'Afterwards the honest client orders an available animal on each process',
      bar: '201',
      figure: finalOrders.map((status) => (status === 0 ? 'no animal is available' : status)).join(', '),
      holds: finalOrders.every((status) => status === 201),
    },
    await judgeOrders(store, target, reports),
    await judgeJunk(store, target, honest.key),
    judgeResponses(reports),
  ];
}

async function judgeHeld(hostile: HostileProcess): Promise<Claim> {
  const { held: open = -1 } = await hostile.request({ do: 'hold', ...held });
  return none(`Of ${held.count} connections that read nothing, those that are open after ${held.ms / 1_000} s`, open);
}
