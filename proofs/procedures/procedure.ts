import type { Claim, ProofContext } from '../proof.ts';
import type { OperatorShell, Step } from './operator-shell.ts';

/** A list of steps in a document, for one kind of trouble. */
export interface Procedure {
  readonly file: string;
  readonly heading: string;
  /** What the mutant's page says instead: the trouble must then not end. */
  readonly mutant: { readonly from: string; readonly to: string };
  /** Makes the trouble on a real store, runs all commands of the page in their order and as they are, and looks whether it is over. */
  run(commands: readonly string[], progress: ProofContext['progress']): Promise<Claim[]>;
}

/** Runs the commands one after the other. `before` is called with each. */
export async function follow(
  shell: OperatorShell,
  commands: readonly string[],
  before: (command: string) => void | Promise<void> = () => {},
): Promise<Step[]> {
  const steps: Step[] = [];
  for (const command of commands) {
    await before(command);
    steps.push(await shell.run(command));
  }
  return steps;
}

/** `doctor` ends with 1 or 3 while something is wrong, and says what. */
const statusesOf = (command: string): readonly number[] => (command.startsWith('homeward doctor') ? [0, 1, 3] : [0]);

export function commandsClaim(name: string, steps: readonly Step[]): Claim {
  const failed = steps.filter(({ command, status }) => !statusesOf(command).includes(status));
  const shown = failed.map(({ command, status, output }) => `${command} (${status}): ${output.trim().slice(-300)}`);
  return {
    claim: `${name}: commands of the page, run as they are written and in their order, that fail`,
    bar: '0, and none is missing',
    figure: `${failed.length} of ${steps.length}${failed.length > 0 ? `: ${shown.slice(0, 3).join('; ')}` : ''}`,
    holds: failed.length === 0 && steps.length > 0,
  };
}

/** What must be so, by its description. */
export function checksClaim(claim: string, checks: Readonly<Record<string, boolean>>): Claim {
  const entries = Object.entries(checks);
  const missing = entries.filter(([, holds]) => !holds).map(([what]) => what);
  return {
    claim,
    bar: `${entries.length} of ${entries.length}`,
    figure: `${entries.length - missing.length} of ${entries.length}${missing.length > 0 ? `; not: ${missing.join(', ')}` : ''}`,
    holds: missing.length === 0,
  };
}
