// Machines and processes of a cluster are killed, paused, cut off and filled up under load. Clients record what they were told, and a
// checker compares it with what is there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import type { Message, RoundFigures, RunOptions } from './in-namespace.ts';
import { findMissing, Network } from './network.ts';
import { holds, type Measure, type Scenario } from './scenario.ts';
import { type ScenarioName, scenarioNames, scenarios } from './scenarios.ts';

const script = fileURLToPath(new URL('in-namespace.ts', import.meta.url));
/** CI may be slow. FAULTS_LOAD_SHARE sets another one, for a machine that is busy with other work. */
const shortLoadShare = 0.3;
/** And its other work takes time that the cluster needs: the short form is about what is lost, the long one about how long it takes. */
const shortTimeFactor = 2;
/** A mutant that survives a round may have been lucky. */
const mutantRoundsMax = 3;

export const faults: Proof = {
  name: 'faults',
  promise: 'on a cluster whose machines fail, nothing that was acknowledged is lost, and writes are back within seconds',
  hasMutant: true,
  runsAlone: true,
  parts: scenarioNames,
  timeoutMs: 200 * 60_000,
  isNightly: true,
  about: ['service/src/platform/db', 'service/src/platform/redis', 'proofs/faults'],
  run,
};

async function run(context: ProofContext): Promise<Claim[]> {
  const missing = findMissing();
  if (missing !== undefined) return [notRun(missing)];
  // Mutants are run at night alone, each of them.
  const isChosen = (name: ScenarioName) => !context.short || context.mutant || name === 'kill-postgres';
  const named = scenarioNames.filter((name) => (context.parts.length === 0 ? isChosen(name) : context.parts.includes(name)));
  return context.mutant ? runMutants(named, context) : runScenarios(named, context);
}

function notRun(reason: string): Claim {
  const mustRun = process.env['CI'] === 'true';
  return { claim: 'The scenarios are run', bar: 'as root, on Linux', figure: reason, holds: !mustRun, isNotRun: !mustRun };
}

async function runScenarios(names: readonly ScenarioName[], context: ProofContext): Promise<Claim[]> {
  const claims: Claim[] = [];
  for (const name of names) {
    const times = context.times ?? (context.short ? 1 : scenarios[name].times);
    const rounds = await runInNamespace(name, times, context);
    claims.push(...claimsOf(name, rounds, context.short));
    // The long form takes hours: what is known is shown.
    if (!context.short) for (const { claim, figure } of claimsOf(name, rounds, false)) console.error(`${claim}: ${figure}`);
  }
  return claims;
}

/** Each must be caught. A claim that does not hold says which one was. */
async function runMutants(names: readonly ScenarioName[], context: ProofContext): Promise<Claim[]> {
  const claims: Claim[] = [];
  const survivors: string[] = [];
  for (const name of names) {
    const scenario: Scenario = scenarios[name];
    if (!scenario.mutant) continue;
    const broken = await breakWithMutant(name, scenario.mutant.name, context);
    if (broken.length === 0) survivors.push(`${name} (${scenario.mutant.name})`);
    claims.push(...broken);
  }
  if (survivors.length > 0) throw new Error(`these mutants are not caught: ${survivors.join(', ')}`);
  return claims;
}

/** The claims that break. A round at a time, until one breaks. */
async function breakWithMutant(name: ScenarioName, mutant: string, context: ProofContext): Promise<Claim[]> {
  for (let i = 0; i < (context.times ?? mutantRoundsMax); i += 1) {
    const rounds = await runInNamespace(name, 1, { ...context, seed: (context.seed ?? 1) + i });
    const broken = claimsOf(`${name}, ${mutant}`, rounds, false, scenarios[name]).filter(({ holds: one }) => !one);
    for (const { claim, figure } of broken) console.error(`${claim}: ${figure}`);
    if (broken.length > 0) return broken;
  }
  console.error(`${name}: ${mutant} is not caught`);
  return [];
}

/** On a cluster of its own, which is removed afterwards. */
async function runInNamespace(
  scenario: ScenarioName,
  times: number,
  { short, mutant, seed, progress }: ProofContext,
): Promise<RoundFigures[]> {
  await using network = Network.open();
  const first = seed ?? 1;
  const options: RunOptions = {
    prefix: network.namespaces.prefix,
    folder: network.folder,
    scenario,
    seeds: Array.from({ length: times }, (_, i) => first + i),
    isMutant: mutant,
    loadShare: Number(process.env['FAULTS_LOAD_SHARE'] ?? (short ? shortLoadShare : 1)),
    repeatsTimed: !short && !mutant,
  };
  const [program, ...words] = [...network.namespaces.enter('store'), process.execPath, script, JSON.stringify(options)];
  // Ctrl-C must not end it before its namespaces are removed, and they are when this process ends.
  const child = spawn(program, words, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], detached: true });
  const rounds: RoundFigures[] = [];
  child.on('message', (message: Message) => {
    if ('progress' in message) progress(message.progress);
    else rounds.push(message.round);
  });
  const [status] = await once(child, 'exit');
  if (status !== 0 || rounds.length === 0) throw new Error(`${scenario}: it did not finish after ${rounds.length} rounds`);
  return rounds;
}

function claimsOf(
  title: string,
  rounds: readonly RoundFigures[],
  isShort: boolean,
  scenario: Scenario = scenarios[title as ScenarioName],
): Claim[] {
  const sum = (figure: (round: RoundFigures) => number) => rounds.reduce((total, round) => total + figure(round), 0);
  const findings = rounds.flatMap((round) => round.findings);
  const lacked = sum((round) => round.lackedCount);
  const counted = `${sum((round) => round.acknowledgedCount)} acknowledged and ${sum((round) => round.unknownCount)} unknown writes in ${rounds.length} rounds`;
  return [
    {
      claim: `${title}: what breaks a rule (lost, twice, stale, out of order, not delivered, admitted)`,
      bar: '0',
      figure: `${findings.length} of ${counted}${lacked > 0 ? `; the standby lacked ${lacked}` : ''}${findings[0] ? `: ${findings[0]}` : ''}`,
      holds: findings.length === 0,
    },
    ...scenario.measures.map((measure, i) =>
      claimOf(
        title,
        measure,
        rounds.map(({ figures }) => figures[i] ?? NaN),
        isShort,
      ),
    ),
  ];
}

function claimOf(title: string, measure: Measure, figures: readonly number[], isShort: boolean): Claim {
  const { claim, unit, isFloor = false, isTimed = false } = measure;
  const limit = isShort && isTimed ? measure.limit * shortTimeFactor : measure.limit;
  const worst = isFloor ? Math.min(...figures) : Math.max(...figures);
  const text = (figure: number) => (unit === 'count' ? String(figure) : `${figure.toFixed(unit === '%' ? 3 : 2)} ${unit}`);
  return {
    claim: `${title}: ${claim}`,
    bar: `${isFloor ? 'at least' : 'at most'} ${unit === 'count' ? limit : `${limit} ${unit}`}`,
    figure: figures.length > 1 ? `${text(worst)} at worst of ${figures.length} rounds` : text(worst),
    holds: figures.every((figure) => holds({ ...measure, limit }, figure)),
    // In the long form a round was repeated already.
    isTimed: isTimed && isShort,
  };
}
