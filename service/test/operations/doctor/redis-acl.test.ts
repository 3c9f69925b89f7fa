// The user of Redis that docs/operations/redis.md has may do all that the store does, and no more.
import { globSync, readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { afterAll, expect, test } from 'vitest';
import { startRedis } from '../../../../testkit/servers.ts';
import type { Finding } from '../../../src/operations/doctor/finding.ts';
import { commandScript } from '../../../src/operations/doctor/redis-checks.ts';
import { homeward } from '../../cli/homeward-command.ts';
import { createTestStore } from '../../test-store.ts';

const opened = new AsyncDisposableStack();
const [, rules = ''] = /^user homeward on >PASSWORD (.+)$/m.exec(readFileSync('docs/operations/redis.md', 'utf8')) ?? [];
const redis = opened.use(await startRedis());
const admin = opened.adopt(new Redis(redis.url), (client) => client.disconnect());
await admin.call('ACL', 'SETUSER', 'homeward', 'on', '>sesame', ...rules.split(' '));
const store = opened.use(await createTestStore({ env: { REDIS_URL: redis.url.replace('//', '//homeward:sesame@') } }));
afterAll(() => opened.disposeAsync());

test('limits are counted in Redis, changes are announced, and nothing is rejected', async () => {
  const { key } = await store.createKey();
  expect((await store.call('POST', '/v1/pets', { key, body: { name: 'Rex', categoryId: 1 } })).status).toBe(201);
  for (let i = 0; i < 5; i += 1) expect((await store.call('GET', '/v1/pets', { key })).status).toBe(200);
  expect(store.dependencies.redis.up).toBe(true);
  expect(await admin.keys('hw:*counts*')).not.toEqual([]);
  // The client library introduces itself, and does without.
  const rejected = ((await admin.call('ACL', 'LOG')) as string[][]).map((entry) => entry[entry.indexOf('object') + 1]);
  expect(rejected.filter((command) => !command?.startsWith('client'))).toEqual([]);
});

test('doctor tries each command that a script of the store uses', () => {
  const sources = globSync('service/src/**/*.{lua,ts}').filter((file) => !file.includes('/doctor/'));
  const used = sources.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/redis\.p?call\('(\w+)'/g)].map(([, command]) => command));
  const tried = [...commandScript.matchAll(/^try\('(\w+)'/gm)].map(([, command]) => command);
  expect(used.length).toBeGreaterThan(20);
  expect([...new Set(used)].filter((command) => !tried.includes(command))).toEqual([]);
});

test('doctor has nothing to say of it', async () => {
  const { stdout } = await homeward(['doctor', '--json'], {
    env: { DATABASE_URL: store.databaseUrl, REDIS_URL: store.dependencies.config.redisUrl },
  });
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  const alarms = findings.filter(({ check, severity }) => check.startsWith('redis') && severity !== 'ok');
  expect(alarms).toEqual([]);
});

test('it may not do more', async () => {
  const client = opened.adopt(new Redis(store.dependencies.config.redisUrl), (one) => one.disconnect());
  await expect(client.flushall()).rejects.toThrow('NOPERM');
  await expect(client.set('other', '1')).rejects.toThrow('NOPERM');
  await expect(client.keys('*')).rejects.toThrow('NOPERM');
});
