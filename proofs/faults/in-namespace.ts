// Runs scenarios in the namespace `store`, and sends what was measured to the proof: in-namespace.ts OPTIONS, as JSON.
import { plantMutant } from '../../testkit/mutant.ts';
import { Cluster } from './cluster.ts';
import { keepFiles } from './kept-files.ts';
import { Namespaces } from './network.ts';
import { type Judged, runRound } from './round.ts';
import { holds, type Scenario } from './scenario.ts';
import { type ScenarioName, scenarios } from './scenarios.ts';

export interface RunOptions {
  readonly prefix: string;
  readonly folder: string;
  readonly scenario: ScenarioName;
  readonly seeds: readonly number[];
  readonly isMutant: boolean;
  readonly loadShare: number;
  /** A round that breaks bounds on time only is run once more. */
  readonly repeatsTimed: boolean;
}

/** What the proof has to know of a round. */
export interface RoundFigures {
  readonly seed: number;
  readonly findings: readonly string[];
  readonly acknowledgedCount: number;
  readonly unknownCount: number;
  readonly lackedCount: number;
  /** In the order of the scenario's measures. */
  readonly figures: readonly number[];
}

export type Message = { readonly progress: string } | { readonly round: RoundFigures };

const options: RunOptions = JSON.parse(process.argv[2] ?? '');
// The proof has ended: its guard removes everything.
process.on('disconnect', () => process.exit(1));
try {
  await runScenario(options);
} catch (error) {
  console.error(error, `\nThe logs of the nodes and of the processes are in ${keepFiles(options.folder, options.scenario)}`);
  process.exit(1);
}
process.exit(0);

async function runScenario({ prefix, folder, scenario: name, seeds, isMutant, loadShare, repeatsTimed }: RunOptions): Promise<void> {
  const scenario: Scenario = scenarios[name];
  const mutant = isMutant ? scenario.mutant : undefined;
  using tree = mutant?.edits ? plantMutant(mutant.edits) : undefined;
  send({ progress: `${name}: the cluster starts` });
  const cluster = await Cluster.start({ namespaces: new Namespaces(prefix), folder, changes: mutant?.changes ?? [], ...scenario.cluster });
  for (const seed of seeds) {
    const progress = (text: string) => send({ progress: `${name}, seed ${seed}: ${text}` });
    const measure = async () =>
      figuresOf(seed, scenario, await runRound({ name, scenario, cluster, seed, loadShare, root: tree?.root, progress }));
    const first = await measure();
    const round = repeatsTimed && isOnlySlow(scenario, first) ? await measure() : first;
    send({ round });
    if (isMutant && isBroken(scenario, round)) return;
  }
}

function figuresOf(seed: number, scenario: Scenario, judged: Judged): RoundFigures {
  const { findings, violation, acknowledgedCount, unknownCount, lackedCount, observed } = judged;
  return {
    seed,
    findings: [...findings.map(({ rule, subject }) => `${rule}: ${subject}`), ...(violation === undefined ? [] : [`verify: ${violation}`])],
    acknowledgedCount,
    unknownCount,
    lackedCount,
    figures: scenario.measures.map((measure) => measure.of(observed)),
  };
}

function isBroken({ measures }: Scenario, { findings, figures }: RoundFigures): boolean {
  return findings.length > 0 || measures.some((measure, i) => !holds(measure, figures[i] ?? NaN));
}

function isOnlySlow(scenario: Scenario, round: RoundFigures): boolean {
  const untimed = {
    ...scenario,
    measures: scenario.measures.map((one) => (one.isTimed ? { ...one, limit: one.isFloor ? -Infinity : Infinity } : one)),
  };
  return isBroken(scenario, round) && !isBroken(untimed, round);
}

function send(message: Message): void {
  process.send?.(message);
}
