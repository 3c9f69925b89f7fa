// Runs every npm command that a document shows, in a small form and in a fresh clone, so that none stops working unseen:
// npm run check -- --only shown-commands
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../testkit/temporary-folder.ts';
import { runCommand } from './command.ts';

/** What is added to a command that begins so: of an option that is given twice, the last counts. Or why it is not run here. */
export type Form = { readonly with: string; readonly json?: boolean } | { readonly notHere: string };

const runs = { with: '' };
/** A bar that a short run misses is no fault: a scenario that ends with its figures has worked. */
const figures = (options: string) => ({ with: `${options} --json`, json: true });
const short = figures('--seconds 1 --rounds 1');

/** The longest that a command begins with is its form. */
export const forms: Readonly<Record<string, Form>> = {
  'npm run bench': short,
  'npm run bench -- list --mix': figures('--base HEAD --seconds 1 --rounds 1'),
  'npm run bench -- size': figures('--sizes 10000 --samples 3'),
  'npm run bench -- listings': figures('--sizes 10000 --samples 3'),
  'npm run bench -- listings-cached': short,
  'npm run bench -- listings-fresh': figures('--base HEAD --animals 1000 --reads 5 --seconds 1 --rounds 1'),
  'npm run bench -- hostile-names': figures('--animals 500 --names 100 --samples 5'),
  'npm run bench -- writes': figures('--base HEAD --turns 2 --writes 2 --orders 2 --pairs 1'),
  'npm run bench -- memory': figures('--minutes 3'),
  'npm run bench -- cost': figures('--base HEAD --rounds 1 --lists 10 --orders 2'),
  'npm run bench -- connections': figures('--turns 1'),
  'npm run bench -- telemetry': figures('--base HEAD --rounds 1 --lists 10'),
  'npm run bench -- sweeps': figures('--files 1000 --removed 10'),
  'npm run bench -- indexes': { with: '--base HEAD --rows 1000' },
  'npm run bench -- applications': figures('--sizes 50000 --samples 3'),
  'npm run bench -- console': figures('--applications 50000 --audit 1000 --samples 2'),
  'npm run bench -- capacity': figures('--seconds 1'),
  'npm run bounds': runs,
  'npm run build': runs,
  'npm run check': { notHere: 'CI runs it for every change, and this is one of its steps' },
  'npm run check -- --only': runs,
  'npm run check -- --only long-proofs': { notHere: 'they are the other steps of the night' },
  'npm run check -- --changed': { notHere: 'a clone of main has no change: service/test/tools has its choice' },
  'npm run dev': { notHere: 'the proof first-call starts it and opens what it shows' },
  'npm run examples': runs,
  'npm run format': runs,
  'npm run openapi': runs,
  'npm run pictures': { notHere: 'it installs an encoder, and what it draws depends on the fonts of the machine' },
  'npm run prove': runs,
  'npm run prove -- ': { notHere: 'the step long-proofs runs each; a test checks that the proof exists' },
  'npm run schema': runs,
  'npm test': { notHere: 'CI runs it for every change' },
  'npm test -- ': runs,
  'npm test -- --watch': { notHere: 'it waits for changes' },
  'npm ci': { notHere: '.ci/run begins with it' },
  'npm init': { notHere: 'the proof quickstart follows the page' },
  'npm install': { notHere: 'the proofs quickstart and frameworks install the SDK' },
  'npm start': { notHere: 'the proof frameworks starts the examples' },
};

/** For commands of containers and of hosts, which are no npm commands: the proofs deploy, procedures, restore and faults run them. */
const command = /(?:^ *|`)((?:[A-Z_]+=\S+ )*npm (?:(?! {2}|[`|#&]).)+)/gm;

/** Each npm command that a document shows, once. */
export function shownCommands(): string[] {
  const files = execFileSync('git', ['ls-files', '*.md'], { encoding: 'utf8' }).trim().split('\n');
  const found = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(command)].map(([, text = '']) => text.trim()));
  return [...new Set(found)].filter((text) => text !== 'npm run …').toSorted();
}

/** Undefined: nobody has said how it is run. */
export function formOf(shown: string): Form | undefined {
  const plain = shown.replace(/^(?:[A-Z_]+=\S+ )+/, '');
  const isStart = (start: string) => plain === start || plain.startsWith(start.endsWith(' ') ? start : `${start} `);
  const starts = Object.keys(forms).filter(isStart);
  return forms[starts.toSorted((a, b) => b.length - a.length)[0] ?? ''];
}

/** What is run for a command, for those that are run: those that are shown, and the scenarios that no document shows. */
export function smallForms(): Map<string, Form> {
  const unshown = Object.keys(forms).filter((start) => start.startsWith('npm run bench -- '));
  const small = [...shownCommands(), ...unshown].flatMap((shown) => {
    const form = formOf(shown);
    if (!form || 'notHere' in form) return [];
    const separator = form.with !== '' && !shown.includes(' -- ') ? ' --' : '';
    return [[`${shown}${separator} ${form.with}`.trim(), form] as const];
  });
  return new Map(small);
}

const timeoutMs = 15 * 60_000;

/** Returns what failed, a text each, and how many were run. */
export async function runShownCommands(): Promise<{ passed: number; failures: string[] }> {
  using clone = temporaryFolder('shown-commands');
  const folder = path.join(clone.path, 'homeward');
  // PostgreSQL runs as another user, where this runs as root.
  chmodSync(clone.path, 0o755);
  execFileSync('git', ['clone', '--quiet', '--shared', '.', folder]);
  for (const packages of ['node_modules', 'docs-site/node_modules', 'service/node_modules', 'sdk/node_modules']) {
    if (existsSync(packages)) symlinkSync(path.resolve(packages), path.join(folder, packages));
  }
  const failures: string[] = [];
  const all = smallForms();
  for (const [line, form] of all) {
    const { status, stdout, output } = await runCommand('sh', ['-c', `cd '${folder}' && ${line}`], { timeoutMs });
    const hasFigures = 'json' in form && stdout.split('\n').some((one) => /^\s*[[{]/.test(one));
    if (status !== 0 && !(status === 1 && hasFigures)) failures.push(`${line}: status ${status}\n${output.slice(-3_000)}`);
  }
  const changed = execFileSync('git', ['-C', folder, 'status', '--porcelain', '--', ':!docs/figures'], { encoding: 'utf8' });
  if (changed !== '') failures.push(`what they write is not what is committed:\n${changed}`);
  return { passed: all.size - failures.length, failures };
}
