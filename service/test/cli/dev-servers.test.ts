import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { publishServers } from '../../../tools/dev-servers-file.ts';
import { devServersFile, findDevServers, withDevServers } from '../../src/cli/dev-servers.ts';

vi.setConfig({ testTimeout: 60_000 });

const env = { DATABASE_URL: 'postgres://ada:sesame@127.0.0.1:1/dev', REDIS_URL: 'redis://127.0.0.1:2', PORT: '8123' };

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
});
