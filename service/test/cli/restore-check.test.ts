// `homeward restore-check` on stores that look as if they had been restored. The proof `restore` restores real backups.

import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { cloneTemplate, createDatabase, executeAsOwner } from '../databases.ts';
import { poll } from '../poll.ts';
import { createTestStore, type TestStore } from '../test-store.ts';
import { WebhookReceiver } from '../webhook-receiver.ts';
import { addAnimals, feedEnd, namesOf, publishChanges, sharesCursor } from '../webhook-steps.ts';
import { addAnimal, addEndpoint, deliver, publishAll } from '../webhook-work.ts';
import { homeward, homewardJson, startServing } from './homeward-command.ts';

interface Result {
  readonly ready: boolean;
  readonly feed: { readonly moved: boolean; readonly from?: number; readonly to?: number; readonly endpoints?: number };
  readonly redis: { readonly replacedId: boolean };
  readonly journal: { readonly lines: number; readonly applied: number; readonly skipped: number };
  readonly verify: { readonly holds: boolean; readonly animals: number };
}

const environment = async () => ({ DATABASE_URL: await cloneTemplate(inject('postgresUrl')), REDIS_URL: inject('redisUrl') });
type Environment = Awaited<ReturnType<typeof environment>>;

/** A backup has the server that it was taken of. */
const looksRestored = ({ DATABASE_URL }: Environment, server: string | null = '1/00000001') =>
  executeAsOwner(DATABASE_URL, 'update deployment set server = $1', [server]);

async function readStored({ DATABASE_URL }: Environment): Promise<{ id: string; server: string; first: string; last: string }> {
  const client = new pg.Client({ connectionString: DATABASE_URL });
  await client.connect();
  const { rows } = await client.query(
    'select id, deployment.server, first_position::text as first, last_position::text as last from deployment, feed',
  );
  await client.end();
  return rows[0];
}

const withStore = async <T>(env: Environment, work: (store: TestStore) => Promise<T>): Promise<T> => {
  await using store = await createTestStore({ env: { ...env, HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' } });
  return await work(store);
};

const check = (env: Environment, ...args: string[]) => homewardJson<Result>(['restore-check', ...args], env);

test('A restored store gets new positions and a new id once, and its journal; old cursors are 410', async () => {
  const env = await environment();
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'homeward-restore-'));
  const journal = path.join(folder.path, 'journal.log');
  const before = await withStore(env, async (store) => {
    const [kept, revoked] = [await store.createKey({ client: 'Paws' }), await store.createKey({ client: 'Claws' })];
    await addAnimal(store, kept);
    await publishAll(store.dependencies);
    const { headers } = await store.call('GET', '/v1/events', { key: kept.key });
    const cursor = /cursor=([^&>]+)/.exec(String(headers.link))?.[1] ?? '';
    expect((await store.call('GET', `/v1/events?cursor=${cursor}`, { key: kept.key })).status).toBe(200);
    return { kept, revoked, cursor };
  });
  await writeFile(
    journal,
    `${JSON.stringify({ time: Date.now(), journal: true, act: 'key_revoked', key: Number(before.revoked.id), webhooks: [] })}\n`,
  );
  const old = await readStored(env);
  await looksRestored(env);

  const first = await check(env, journal);
  expect(first).toMatchObject({
    ready: true,
    feed: { moved: true, from: 1 },
    redis: { replacedId: true },
    journal: { lines: 1, applied: 1, skipped: 0 },
    verify: { holds: true },
  });
  const restored = await readStored(env);
  expect(restored.id).not.toBe(old.id);
  expect(restored.server).toBe(old.server);
  expect(BigInt(restored.last)).toBeGreaterThan(1_000_000_000n);
  expect(BigInt(restored.first)).toBe(BigInt(restored.last) + 1n);

  const second = await check(env, journal);
  expect(second).toMatchObject({ ready: true, feed: { moved: false }, redis: { replacedId: false } });
  expect(await readStored(env)).toEqual(restored);

  await withStore(env, async (store) => {
    const { status, json } = await store.call<{ code: string }>('GET', `/v1/events?cursor=${before.cursor}`, { key: before.kept.key });
    expect([status, json]).toMatchObject([410, { code: 'cursor_expired' }]);
    expect((await store.call('GET', '/v1/pets', { key: before.revoked.key })).status).toBe(401);
  });
});

test('A second restore of the same backup gets positions beyond those that the first one assigned', async () => {
  const env = await environment();
  await looksRestored(env);
  const first = await check(env, '--no-journal');
  await executeAsOwner(env.DATABASE_URL, 'update feed set first_position = 1, last_position = 0');
  await looksRestored(env);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const second = await check(env, '--no-journal');
  expect(second.feed.to).toBeGreaterThan(first.feed.to ?? Number.NaN);
  expect(second.feed.to).toBeLessThan(1e15);
});

test('A backup of a release that did not record its server counts as restored', async () => {
  const env = await environment();
  await looksRestored(env, null);
  expect((await check(env, '--no-journal')).feed.moved).toBe(true);
  expect((await check(env, '--no-journal')).feed.moved).toBe(false);
});

test('A copy of the database on the same server counts as restored', async () => {
  const env = await environment();
  const { pathname } = new URL(env.DATABASE_URL);
  const name = `copy_of_${pathname.slice(1)}`;
  const copy = { ...env, DATABASE_URL: await createDatabase(inject('postgresUrl'), { name, template: pathname.slice(1) }) };
  expect((await check(copy, '--no-journal')).feed.moved).toBe(true);
  expect((await check(copy, '--no-journal')).feed.moved).toBe(false);
  expect((await check(env, '--no-journal')).feed.moved).toBe(false);
});

test('If the journal could not be applied, the store still counts as restored, and the next run does everything again', async () => {
  const env = await environment();
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'homeward-restore-'));
  const journal = path.join(folder.path, 'journal.log');
  const { id } = await withStore(env, (store) => store.createKey());
  await writeFile(journal, `${JSON.stringify({ time: Date.now(), journal: true, act: 'key_revoked', key: Number(id), webhooks: [] })}\n`);
  await looksRestored(env);
  const before = await readStored(env);
  await executeAsOwner(env.DATABASE_URL, 'revoke update on api_keys from homeward_app');
  expect((await homeward(['restore-check', journal], { env })).status).toBe(1);
  expect((await readStored(env)).server).toBe(before.server);
  await executeAsOwner(env.DATABASE_URL, 'grant update on api_keys to homeward_app');
  expect(await check(env, journal)).toMatchObject({ ready: true, feed: { moved: true }, journal: { applied: 1 } });
  expect((await check(env, journal)).feed.moved).toBe(false);
});

test('A new store has nothing to do; --from-snapshot moves its positions all the same', async () => {
  const env = await environment();
  expect((await check(env, '--no-journal')).feed).toEqual({ moved: false });
  expect((await check(env, '--no-journal', '--from-snapshot')).feed.moved).toBe(true);
});

test('After a failover without loss, --nothing-lost records the server beside running processes and moves nothing', async () => {
  const env = await environment();
  await looksRestored(env);
  await using serving = await startServing({ env });
  await serving.logged('homeward restore-check');
  const before = await readStored(env);
  const { status, stdout } = await homeward(['restore-check', '--nothing-lost'], { env });
  expect([status, stdout]).toMatchObject([0, expect.stringContaining('Feed: unchanged.')]);
  const after = await readStored(env);
  expect({ ...after, server: '' }).toEqual({ ...before, server: '' });
  expect(after.server).not.toBe(before.server);
});

test('While a process of the store is connected, nothing is changed, and the message says which', async () => {
  const env = await environment();
  await looksRestored(env);
  const before = await readStored(env);
  await using _ = await startServing({ env });
  const { status, stderr } = await homeward(['restore-check', '--no-journal'], { env });
  expect(status).toBe(1);
  expect(stderr).toMatch(
    /^homeward: Processes of the store are connected: process \d+ of PostgreSQL, as postgres from .* Nothing was changed\.\n$/,
  );
  expect(await readStored(env)).toEqual(before);
});

test('Without a journal, with a journal that is not needed, and for a login that is not the owner, the status is 2', async () => {
  const env = await environment();
  await looksRestored(env);
  const before = await readStored(env);
  await executeAsOwner(env.DATABASE_URL, 'drop role if exists restore_api');
  await executeAsOwner(env.DATABASE_URL, 'create role restore_api login in role homeward_app');
  const asApi = { ...env, DATABASE_URL: env.DATABASE_URL.replace('postgres@', 'restore_api@') };
  for (const [args, variables, text] of [
    [[], env, 'There is no journal: name its files, or set HOMEWARD_JOURNAL.'],
    [['--no-journal', 'journal.log'], env, 'With --no-journal no journal is applied, but journal.log was given.'],
    [['--nothing-lost', '--from-snapshot'], env, 'exclude each other'],
    [['/nowhere/journal.log'], env, '/nowhere/journal.log'],
    [['--no-journal'], asApi, 'The user in DATABASE_URL may not change the table deployment.'],
  ] as const) {
    const { status, stderr } = await homeward(['restore-check', ...args], { env: variables });
    expect([status, stderr]).toEqual([2, expect.stringContaining(text)]);
  }
  expect(await readStored(env)).toEqual(before);
});

test('A violation is exit status 1; a missing migration says what to run', async () => {
  const env = await environment();
  await looksRestored(env);
  await executeAsOwner(env.DATABASE_URL, `insert into pets (category_id, status, name) values (1, 'sold', 'Biscuit')`);
  const violated = await homeward(['restore-check', '--no-journal'], { env });
  expect([violated.status, violated.stdout]).toEqual([1, expect.stringContaining('VIOLATION: ')]);
  await executeAsOwner(env.DATABASE_URL, `delete from schema_migrations where name = '0014_people'`);
  const pending = await homeward(['restore-check', '--no-journal'], { env });
  expect([pending.status, pending.stderr]).toEqual([1, expect.stringMatching(/lacks 0014_people\. Run 'homeward migrate' first\.\n$/)]);
});

test('An endpoint gets what was published before the restore and not sent, and what follows', async () => {
  const env = await environment();
  await using receiver = await WebhookReceiver.open();
  const petIds = await withStore(env, async (store) => {
    const key = await store.createKey();
    const { id } = await addEndpoint(store, key, { url: receiver.url, types: ['pet.updated'] });
    const ids = await addAnimals(store, 3);
    {
      await using _ = deliver(store.dependencies);
      await sharesCursor(store, id);
    }
    await publishChanges(store, [{ petId: ids[0] ?? 0, name: 'not sent' }]);
    return ids;
  });
  await looksRestored(env);
  // Animals that were added without a history are a violation, which is not what this is about.
  const { stdout } = await homeward(['restore-check', '--no-journal', '--json'], { env });
  expect(JSON.parse(stdout)).toMatchObject({ feed: { moved: true, endpoints: 1 } });
  await withStore(env, async (store) => {
    await using _ = deliver(store.dependencies);
    await publishChanges(store, [{ petId: petIds[1] ?? 0, name: 'afterwards' }]);
    expect(await feedEnd(store)).toBeGreaterThan(1_000_000_000);
    await poll(() => namesOf(receiver)).until((names) => names.length >= 2);
    expect(namesOf(receiver)).toEqual(['not sent', 'afterwards']);
  });
});

test('Of what Redis knew, nothing stays for longer than a day', async () => {
  const env = await environment();
  const { id } = await readStored(env);
  await withStore(env, async (store) => {
    const { key } = await store.createKey({ plan: { perMinute: 1, perDay: 1_000 } });
    for (let i = 0; i < 3; i += 1) await store.call('GET', '/v1/pets', { key });
    const other = await store.createKey();
    await store.call('POST', '/v1/pets', { key: other.key, body: { name: 'Biscuit', categoryId: 1 } });
  });
  const redis = new Redis(env.REDIS_URL);
  try {
    await redis.zadd(`hw:${id}:{0}:bans`, Date.now() + 60_000, '1');
    const lasting = async () => {
      const keys = await redis.keys(`hw:${id}:*`);
      const expiries = await Promise.all(keys.map((key) => redis.pttl(key)));
      return { all: keys.length, lasting: expiries.filter((ms) => ms < 0).length };
    };
    expect((await lasting()).lasting).toBe(3);
    await looksRestored(env);
    await check(env, '--no-journal');
    const left = await lasting();
    expect(left.lasting).toBe(0);
    expect(left.all).toBeGreaterThan(0);
  } finally {
    redis.disconnect();
  }
});
