// Doctor against faults that its authors had not thought of: each alone, on a real store, must be the first thing that it names.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { type OpenNightStore, openNightStore } from './open-night-store.ts';
import { secondFaults } from './second-faults.ts';
import { type UnforeseenFault, unforeseenFaults } from './unforeseen-faults.ts';

const faults: readonly UnforeseenFault[] = [...unforeseenFaults, ...secondFaults];

/** In CI, those that differ most from each other. */
const shortNames = new Set([
  'redis-user-without-scripts',
  'database-read-only-by-default',
  'search-path-of-the-login',
  'no-unique-index-of-open-orders',
  'triggers-of-animals-disabled',
  'sequence-behind-its-ids',
  'photos-volume-not-mounted',
  'frozen-serve',
]);
const healthyWithinMs = 30_000;

export const doctorFaults: Proof = {
  name: 'doctor-faults',
  promise: 'doctor names what is wrong first, with what to do about it, also for faults that nobody has thought of',
  // Doctor no longer compares the schema with what it should be.
  mutant: [{ file: 'operations/doctor/schema-check.ts', from: 'found[name] !== expected[name]', to: 'false' }],
  parts: faults.map(({ name }) => name),
  isNightly: true,
  about: ['service/src/operations/doctor', 'service/migrations', 'proofs/doctor'],
  run,
};

interface Judged {
  readonly name: string;
  /** Undefined: it was named first, with the right advice. */
  readonly problem: string | undefined;
  readonly wrongAdvice: string | undefined;
}

async function run({ short, root, parts, progress }: ProofContext): Promise<Claim[]> {
  const chosen = faults.filter(({ name }) => (parts.length > 0 ? parts.includes(name) : !short || shortNames.has(name)));
  await using store = await openNightStore(root);
  const before = await alarmsOf(store);
  const judged: Judged[] = [];
  for (const fault of chosen) {
    progress(fault.name);
    judged.push(await judge(store, fault));
    await untilHealthy(store, fault.name);
  }
  const missed = judged.flatMap(({ name, problem }) => (problem === undefined ? [] : [`${name}: ${problem}`]));
  const wrong = judged.flatMap(({ name, wrongAdvice }) => (wrongAdvice === undefined ? [] : [`${name}: ${wrongAdvice}`]));
  for (const line of [...missed, ...wrong]) console.error(line);
  const named = chosen.length - missed.length;
  const allowed = Math.floor(chosen.length / 20);
  return [
    {
      claim: 'Faults that doctor names first, with what to do',
      bar: `at least ${chosen.length - allowed} of ${chosen.length}`,
      figure: `${named} of ${chosen.length}${missed.length > 0 ? `, not: ${missed.join('; ')}` : ''}`,
      holds: missed.length <= allowed,
    },
    {
      claim: 'Advice that does harm',
      bar: '0',
      figure: `${wrong.length}${wrong.length > 0 ? `: ${wrong.join('; ')}` : ''}`,
      holds: wrong.length === 0,
    },
    { claim: 'Alarms before a fault', bar: '0', figure: before.length === 0 ? '0' : before.join('; '), holds: before.length === 0 },
  ];
}

async function judge(store: OpenNightStore, { name, induce, named, fix, wrongAdvice }: UnforeseenFault): Promise<Judged> {
  await using undo = new AsyncDisposableStack();
  const { env = {} } = (await induce(store, undo)) ?? {};
  const { findings } = await store.examine(env);
  const [first] = findings;
  const alarms = findings.filter(({ severity }) => severity === 'broken' || severity === 'warning');
  const said = first ? `${first.severity} ${first.check}: ${first.found} → ${first.fix ?? ''}` : 'nothing';
  const isAlarm = first?.severity === 'broken' || first?.severity === 'warning';
  const isRight = isAlarm && named.test(first.found) && fix.test(first.fix ?? '');
  const harmful = wrongAdvice && alarms.find((finding) => wrongAdvice.test(finding.fix ?? ''));
  return { name, problem: isRight ? undefined : `it says ${said}`, wrongAdvice: harmful && `${harmful.check}: ${harmful.fix}` };
}

async function alarmsOf(store: OpenNightStore): Promise<string[]> {
  const { findings } = await store.examine();
  return findings.filter(({ severity }) => severity === 'broken' || severity === 'warning').map(({ check, found }) => `${check}: ${found}`);
}

/** The next fault has to be alone. */
async function untilHealthy(store: OpenNightStore, after: string): Promise<void> {
  const deadline = performance.now() + healthyWithinMs;
  for (let alarms = await alarmsOf(store); alarms.length > 0; alarms = await alarmsOf(store)) {
    if (performance.now() > deadline) throw new Error(`after ${after} was undone, doctor still says: ${alarms.join('; ')}`);
    await sleep(500);
  }
}
