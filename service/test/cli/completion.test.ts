// The scripts are run by the shells themselves. zsh and fish are skipped where they are not installed.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { homeward } from './homeward-command.ts';
import { homewardOnPseudoTerminal } from './on-terminal.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'homeward-completion-'));
const scriptOf = (shell: string) => path.join(folder, `completion.${shell}`);
const has = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0;
const program = await buildProgram({});
const topCommands = program.commands.map((command) => command.name());

for (const shell of ['bash', 'zsh', 'fish']) {
  writeFileSync(scriptOf(shell), (await homeward(['completion', shell])).stdout);
}
afterAll(() => rmSync(folder, { recursive: true }));

/** What each line of words completes to. The last word is the one that is being typed. */
const cases: ReadonlyArray<[line: string, offered: string[]]> = [
  ['homeward key', ['keys']],
  ['homeward keys rev', ['revoke']],
  ['homeward keys r', ['revoke', 'rotate']],
  ['homeward --no-color keys rev', ['revoke']],
  ['homeward keys revoke 7 --keep', ['--keep-webhooks']],
  ['homeward clients set-plan keys --new', ['--new-categories']],
  ['homeward completion ', ['bash', 'fish', 'zsh']],
  ['homeward keys create --client ', []],
  ['homeward keys create --plan ', ['business', 'enterprise', 'free', 'pro']],
  ['homeward clients set-plan keys --plan b', ['business']],
  ['homeward pets list --status a', ['available']],
];

describe('bash', () => {
  const completed = (line: string) => {
    const words = line.split(' ');
    const program = `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _homeward; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const output = execFileSync('bash', ['--norc', '-c', program, scriptOf('bash'), ...words], { encoding: 'utf8' });
    return output.split('\n').filter(Boolean).sort();
  };

  test.each(cases)('%s', (line, offered) => {
    expect(completed(line)).toEqual(offered);
  });

  test('offers every command of the program', () => {
    expect(completed('homeward ')).toEqual([...topCommands, 'help'].sort());
  });

  test('offers every option of every command', () => {
    for (const group of program.commands) {
      for (const command of group.commands) {
        const long = command.options.map((option) => option.long ?? '');
        expect(completed(`homeward ${group.name()} ${command.name()} --`)).toEqual(expect.arrayContaining(long));
      }
    }
  });

  test('completes on Tab', async () => {
    const start = path.join(folder, 'start.bash');
    writeFileSync(start, `source ${scriptOf('bash')}; homeward() { echo "ran:$*:"; }; PS1='ready> '`);
    expect(await typedTo(`bash --rcfile ${start} -i`, 'homeward keys rev')).toContain('ran:keys revoke:');
  });
});

describe.skipIf(!has('fish'))('fish', () => {
  test.each(cases)('%s', (line, offered) => {
    const output = execFileSync('fish', ['-N', '-c', `source ${scriptOf('fish')}; complete -C '${line}'`], {
      encoding: 'utf8',
      env: { ...process.env, HOME: folder },
    });
    const words = output
      .split('\n')
      .filter(Boolean)
      .map((found) => found.split('\t')[0]);
    expect(words.sort()).toEqual(offered);
  });
});

describe.skipIf(!has('zsh'))('zsh', () => {
  test.each(cases.filter(([, offered]) => offered.length === 1))('%s', async (line, [offered]) => {
    const start = `autoload -U compinit; compinit -u -d ${folder}/dump; source ${scriptOf('zsh')}; homeward() { echo "ran:$*:" }; PS1='ready> '`;
    writeFileSync(path.join(folder, '.zshrc'), start);
    const ran = [...line.split(' ').slice(1, -1), offered].join(' ');
    expect(await typedTo(`env ZDOTDIR=${folder} zsh -i`, line)).toContain(`ran:${ran}:`);
  });
});

/** What the shell shows after the line, Tab and Enter. */
async function typedTo(shell: string, line: string): Promise<string> {
  const typed = [
    { after: 'ready> ', keys: `${line}\t\r` },
    { after: 'ran:', keys: 'exit\r' },
  ];
  return (await homewardOnPseudoTerminal([], { shellCommand: shell, columns: 200, typed })).text;
}

test('another shell is a mistake that names the three', async () => {
  const { status, stderr } = await homeward(['completion', 'tcsh']);
  expect(status).toBe(2);
  expect(stderr).toContain('Allowed choices are bash, zsh, fish.');
});
