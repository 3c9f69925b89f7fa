import { describe, expect, inject, test } from 'vitest';
import release from '../../package.json' with { type: 'json' };
import { cloneTemplate } from '../databases.ts';
import { homeward } from './homeward-command.ts';
import { homewardOnPseudoTerminal, homewardOnTerminal } from './on-terminal.ts';

const coloured = '\u001b[';
const env: Record<string, string> = { DATABASE_URL: await cloneTemplate(inject('postgresUrl')), REDIS_URL: inject('redisUrl') };
await homeward(['keys', 'create', '--client', 'Happy Tails', '--plan', 'pro'], { env });

const list = ['clients', 'list'];
const mistake = ['clients', 'invent'];
const failure = ['keys', 'revoke', '999', '--yes'];

describe('colours', () => {
  test.each([list, mistake, ['keys', 'revoke', 'x'], ['--help']])('are on a terminal: homeward %s %s', async (...args) => {
    expect((await homewardOnTerminal(args, { env })).output).toContain(coloured);
  });

  test('are on a pseudo-terminal', async () => {
    expect((await homewardOnPseudoTerminal(list, { env })).output).toContain(coloured);
  });

  test.each<[how: string, args: string[], more: Record<string, string>]>([
    ['with NO_COLOR, which wins over FORCE_COLOR', list, { NO_COLOR: '1', FORCE_COLOR: '1' }],
    ['with TERM=dumb', list, { TERM: 'dumb' }],
    ['with --no-color in front', ['--no-color', ...list], {}],
    ['with --no-color at the end, of a mistake', [...mistake, '--no-color'], { FORCE_COLOR: '1' }],
  ])('are not there %s', async (_, args, more) => {
    const { output } = await homewardOnPseudoTerminal(args, { env: { ...env, ...more } });
    expect(output.length).toBeGreaterThan(20);
    expect(output).not.toContain(coloured);
    expect(output).not.toContain('Warning');
  });

  test.each([list, mistake, failure, ['--help']])('are not there outside a terminal: homeward %s %s', async (...args) => {
    const { stdout, stderr } = await homeward(args, { env });
    expect(stdout + stderr).not.toContain(coloured);
  });

  test('can be forced outside a terminal with FORCE_COLOR, but never in --json', async () => {
    const forced = { env: { ...env, FORCE_COLOR: '1' } };
    expect((await homeward(['keys', 'revoke', 'x'], forced)).stderr).toContain(coloured);
    expect((await homeward([...list, '--json'], forced)).stdout).not.toContain(coloured);
  });
});

test.each(['--version', '-V'])('homeward %s prints the version of the package and exits with 0', async (option) => {
  expect(await homeward([option])).toEqual({ status: 0, stdout: `${release.version}\n`, stderr: '' });
});

test.each([
  [40, ['keys', 'clients', 'webhooks']],
  [80, ['keys']],
  [120, ['keys']],
])('no line of a table is wider than a terminal of %d columns: %j', async (columns, commands) => {
  await homeward(['keys', 'create', '--client', `Tierheim ${'ß'.repeat(150)} 🐶`, '--plan', 'free'], { env });
  for (const command of commands) {
    const { text } = await homewardOnTerminal([command, 'list'], { env, columns });
    expect(text.split('\n').filter((line) => [...line].length > columns)).toEqual([]);
  }
});
