// The log of `npm run dev`: the start screen must stay in view while a store is filled and used.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../testkit/temporary-folder.ts';
import { DevLog } from '../../../tools/dev-log.ts';

const lineOf = (fields: object) => JSON.stringify({ level: 30, time: Date.now(), pid: 1, hostname: 'here', ...fields });
const request = (status: number, url = '/v1/pets') => lineOf({ msg: 'request', method: 'GET', url, status, ms: 3 });

test('shows warnings, errors and failed requests on the terminal, and writes every line to the file but reads of pictures and pages', () => {
  using folder = temporaryFolder('dev-log');
  const file = path.join(folder.path, 'dev.log');
  const printed: string[] = [];
  using log = new DevLog({ file, print: (line) => printed.push(stripVTControlCharacters(line)) });
  log.say(lineOf({ level: 40, msg: 'still starting' }));
  log.started();
  for (let i = 0; i < 650; i += 1) log.say(request(200));
  for (const url of ['/photos/3f.webp', '/docs/quickstart', '/assets/9/console.css']) log.say(request(200, url));
  log.say(request(404, '/photos/gone.webp'));
  log.say(lineOf({ msg: 'job done', job: 'process-photos' }));
  log.say(request(503));
  log.say(lineOf({ level: 40, msg: 'PostgreSQL is away' }));
  log.say('SyntaxError: Unexpected token');
  expect(printed.map((line) => line.replace(/^[\d:]{8} +/, ''))).toEqual([
    '503    GET /v1/pets  3 ms',
    'warn   PostgreSQL is away',
    'SyntaxError: Unexpected token',
  ]);
  const written = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(written.length).toBe(656);
  expect(written.filter((line) => line.endsWith('  200    GET /v1/pets  3 ms')).length).toBe(650);
  expect(log.recent.length).toBe(50);
});

test('shows a loss of Redis that lasts, and none of a moment, as a busy machine has them', async () => {
  using folder = temporaryFolder('dev-log');
  const printed: string[] = [];
  using log = new DevLog({ file: path.join(folder.path, 'dev.log'), print: (line) => printed.push(line), passingMs: 100 });
  log.started();
  const lost = (pid: number) => lineOf({ level: 40, pid, msg: 'Redis lost: this process counts limits by itself' });
  for (let n = 0; n < 20; n += 1) {
    log.say(lost(1));
    log.say(lineOf({ pid: 1, msg: 'Redis restored' }));
  }
  log.say(lost(2));
  log.say(lineOf({ pid: 1, msg: 'Redis restored' }));
  await expect.poll(() => printed.length).toBe(1);
  expect(printed[0]).toContain('Redis lost');
});

test('begins its file again at 20 MB', () => {
  using folder = temporaryFolder('dev-log');
  const file = path.join(folder.path, 'dev.log');
  using log = new DevLog({ file, print: () => {} });
  for (let i = 0; i < 22; i += 1) log.say(`${i} ${'x'.repeat(1_000_000)}`);
  const text = readFileSync(file, 'utf8');
  expect(text.length).toBeLessThan(3_000_000);
  expect(text).toMatch(/^2\d x/);
});
