import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { variables } from '../../src/platform/config.ts';
import { homeward } from './homeward-command.ts';

const commands = {
  '': [
    'serve',
    'console',
    'worker',
    'images',
    'migrate',
    'keys',
    'clients',
    'people',
    'audit',
    'usage',
    'deprecations',
    'bans',
    'categories',
    'shelters',
    'pets',
    'photos',
    'applications',
    'orders',
    'webhooks',
    'doctor',
    'support-bundle',
    'verify',
    'journal',
    'restore-check',
    'openapi',
    'completion',
  ],
  keys: ['create', 'list', 'rotate', 'revoke'],
  clients: ['list', 'set-plan', 'suspend', 'resume'],
  people: ['list', 'invite', 'change', 'remove', 'link'],
  audit: ['list', 'failed-sign-ins'],
  bans: ['list', 'lift'],
  categories: ['prune'],
  shelters: ['list', 'create', 'update', 'questions', 'hours', 'site', 'confirm'],
  pets: ['list', 'show', 'add', 'update', 'describe', 'photo', 'hold', 'move', 'remove', 'outcome'],
  'pets photo': ['add', 'list', 'remove'],
  photos: ['check', 'mark'],
  applications: [
    'list',
    'show',
    'submit',
    'review',
    'accept',
    'decline',
    'reopen',
    'withdraw',
    'note',
    'end-all',
    'ends',
    'take-back',
    'end-link',
    'erase',
  ],
  orders: ['list', 'show', 'place', 'approve', 'complete', 'cancel', 'return', 'erase'],
  webhooks: ['list', 'disable', 'enable', 'replay'],
  journal: ['apply', 'forget'],
};

test.each(Object.entries(commands))('homeward %s --help lists exactly its subcommands and exits with 0', async (command, subcommands) => {
  const { status, stdout, stderr } = await homeward([...command.split(' ').filter(Boolean), '--help']);
  const listed = [...(stdout.split('\nCommands:\n')[1]?.split('\n\n')[0] ?? '').matchAll(/^ {2}([\w-]+)/gm)].map(([, name]) => name);
  expect(listed).toEqual([...subcommands, 'help']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('homeward --help lists every variable with its default, and the exit statuses', async () => {
  const { stdout } = await homeward(['--help']);
  const listed = stdout.split('\nEnvironment:\n')[1]?.split('\n\n')[0]?.split('\n') ?? [];
  expect(listed.map((line) => line.trim().split(' ')[0])).toEqual(Object.keys(variables));
  for (const [name, { fallback, help }] of Object.entries(variables)) {
    const line = listed.find((one) => one.trim().startsWith(`${name} `));
    expect(line).toContain(help);
    expect(line?.includes('(default:')).toBe(fallback !== '');
    expect(line).toContain(fallback);
  }
  expect(stdout).toContain('Exit status: 0 success, 1 failure, 2 the command or its configuration is wrong.');
});

test('homeward without a command shows its help as an error and exits with 2', async () => {
  const { status, stdout, stderr } = await homeward([]);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain('Usage: homeward');
});

test('a reader of only the beginning of the help sees no error', async () => {
  const launcher = fileURLToPath(new URL('../../bin/homeward.mjs', import.meta.url));
  const script = 'set -o pipefail; "$0" "$1" --help | head -n 1';
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script, process.execPath, launcher]);
  expect([stdout, stderr]).toEqual([expect.stringMatching(/^Usage: homeward.*\n$/), '']);
});
