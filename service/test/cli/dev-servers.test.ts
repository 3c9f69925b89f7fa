import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { CleanCheckout } from '../../../testkit/clean-checkout.ts';
import { publishServers } from '../../../tools/dev-servers-file.ts';
import { devServersFile, findDevServers, withDevServers } from '../../src/cli/processes/dev-servers.ts';
import { cloneTemplate } from '../databases.ts';

const ownRoot = fileURLToPath(new URL('../../..', import.meta.url));

const env = {
  DATABASE_URL: 'postgres://ada:sesame@127.0.0.1:1/dev',
  REDIS_URL: 'redis://127.0.0.1:2',
  PORT: '8123',
  HOMEWARD_PHOTOS: '/dev/photos',
  HOMEWARD_CONSOLE_URL: 'http://localhost:8090',
};

let root: string;
let file: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'homeward-checkout-')));
  file = path.join(root, devServersFile);
  mkdirSync(path.join(root, '.git'));
  mkdirSync(path.join(root, '.homeward'));
});
afterEach(() => rmSync(root, { recursive: true }));

test('the servers of a running npm run dev are found in its checkout, and below it, until it ends', () => {
  const published = publishServers(root, env);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(findDevServers(root, root)).toEqual({ pid: process.pid, env });
  expect(findDevServers(root, path.join(root, 'service'))).toEqual({ pid: process.pid, env });
  published[Symbol.dispose]();
  expect(existsSync(file)).toBe(false);
  expect(findDevServers(root, root)).toBeUndefined();
});

test('a second run that has replaced the file keeps it when the first one ends', () => {
  const first = publishServers(root, env);
  writeFileSync(file, JSON.stringify({ pid: process.ppid, env }));
  first[Symbol.dispose]();
  expect(findDevServers(root, root)).toEqual({ pid: process.ppid, env });
});

describe('nothing is found', () => {
  test.each<[how: string, change: () => void]>([
    ['after the run was killed', () => writeFileSync(file, JSON.stringify({ pid: spawnSync('true').pid, env }))],
    ['while the file is incomplete', () => writeFileSync(file, '{"pid":')],
    ['outside a checkout, as in an installed package', () => rmSync(path.join(root, '.git'), { recursive: true })],
    ['if others can read the file', () => chmodSync(file, 0o644)],
    ['if others can write the file', () => chmodSync(file, 0o620)],
    [
      'if the file is a link to another',
      () => {
        writeFileSync(path.join(root, 'other'), JSON.stringify({ pid: process.pid, env }), { mode: 0o600 });
        rmSync(file);
        symlinkSync(path.join(root, 'other'), file);
      },
    ],
  ])('%s', (_, change) => {
    publishServers(root, env);
    change();
    expect(findDevServers(root, root)).toBeUndefined();
  });

  test('by a command that is run elsewhere', () => {
    publishServers(root, env);
    expect(findDevServers(root, path.dirname(root))).toBeUndefined();
    expect(findDevServers(root, `${root}-beside`)).toBeUndefined();
  });
});

test('what the environment sets wins, and an empty variable sets nothing', () => {
  const merged = withDevServers({ REDIS_URL: 'redis://elsewhere', PORT: '', LOG_LEVEL: 'debug' }, { pid: 1, env });
  expect(merged).toEqual({ ...env, REDIS_URL: 'redis://elsewhere', LOG_LEVEL: 'debug' });
  const another = { DATABASE_URL: 'postgres://127.0.0.1:1/elsewhere' };
  expect(withDevServers(another, { pid: 1, env })).not.toHaveProperty('HOMEWARD_PHOTOS');
});

test('commands that are run in the checkout use these servers', async () => {
  const databaseUrl = await cloneTemplate(inject('postgresUrl'));
  using checkout = new CleanCheckout();
  for (const packages of ['node_modules', 'service/node_modules']) {
    symlinkSync(path.join(ownRoot, packages), path.join(checkout.folder, packages));
  }
  for (const folder of ['.git', '.homeward']) mkdirSync(path.join(checkout.folder, folder));
  const launcher = path.join(realpathSync(checkout.folder), 'service/bin/homeward.mjs');
  const run = (args: string, more: Record<string, string> = {}) => checkout.shell(`${process.execPath} ${launcher} ${args}`, more);

  publishServers(checkout.folder, {
    DATABASE_URL: databaseUrl,
    REDIS_URL: inject('redisUrl'),
    PORT: '8123',
    HOMEWARD_PHOTOS: checkout.folder,
    HOMEWARD_CONSOLE_URL: 'http://localhost:8090',
  });
  expect(await run('keys list --json')).toEqual({ status: 0, output: '[]\n' });
  expect((await run('keys create --client Paws --plan free')).output).toContain('http://127.0.0.1:8123/v1/pets');
  const elsewhere = 'postgres://127.0.0.1:1/elsewhere';
  expect((await run('keys list', { DATABASE_URL: elsewhere })).output).toContain('database "elsewhere"');
  const outside = await checkout.shell(`cd / && ${process.execPath} ${launcher} keys list --json`);
  expect(outside.output).not.toContain('Paws');
});
