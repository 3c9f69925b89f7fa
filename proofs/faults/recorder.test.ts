import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { castOf } from '../../testkit/adopters.ts';
import { Store } from '../../testkit/store.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import { check } from './checker/check.ts';
import { readFacts } from './checker/facts-queries.ts';
import { record } from './recorder.ts';

const main = fileURLToPath(new URL('../../service/src/main.ts', import.meta.url));
const limits = { perMinute: 240, perDay: 10_000 };

test('A history of a store without faults has operations of every kind, and no finding', async () => {
  await using store = await Store.open({ processes: 2, env: { LOG_LEVEL: 'warn', HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' } });
  store.work();
  const { manager, partners } = await castOf(store, 2);
  const limited = { ...(await store.createKey('limited', limits)), ...limits };
  const revocable = await store.createKey('revocable', 'business');
  const revoke = ['env', `DATABASE_URL=${store.postgres.url}`, `REDIS_URL=${store.redis.url}`, process.execPath, main, 'keys', 'revoke'];
  using temporary = temporaryFolder('history');
  const folder = temporary.path;
  const history = await record({
    file: path.join(folder, 'history.jsonl'),
    urls: store.processes.map(({ url }) => url),
    manager,
    partners,
    limited,
    revocable: { keys: [revocable], command: [...revoke, '{id}'] },
    writesPerSecond: 30,
    readsPerSecond: 60,
    endpoints: 4,
    durationMs: 8_000,
  });
  const facts = await readFacts(store.postgres.url);
  expect(check(history, facts)).toEqual([]);
  const kinds = new Set(history.operations.filter(({ outcome }) => outcome === 'ok').map(({ kind }) => kind));
  expect([...kinds].sort()).toEqual(expect.arrayContaining(['act', 'change', 'create', 'list', 'place', 'read']));
  expect(history.channels).toHaveLength(8);
  expect(history.revocations.map(({ outcome }) => outcome)).toEqual(['ok']);
  expect(history.limitedUses.length).toBeGreaterThan(20);
});
