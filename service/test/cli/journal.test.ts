// The journal of commands, applied to another store.
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, inject, test } from 'vitest';
import { cloneTemplate } from '../databases.ts';
import { createTestStore } from '../test-store.ts';
import { homeward, homewardJson } from './homeward-command.ts';

test('A revocation is a line on standard error and in the journal; applied to a store that has the key, it revokes the key there', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'homeward-journal-'));
  const journal = path.join(folder.path, 'journal.log');
  const [lost, restored] = [await createTestStore(), await createTestStore()];
  await using _ = lost;
  await using __ = restored;
  // The same ids in both stores, as if one were restored from a backup of the other.
  const [before, after] = [await lost.createKey({ client: 'Paws' }), await restored.createKey({ client: 'Paws' })];
  const env = { ...lost.env, HOMEWARD_JOURNAL: journal };
  const { stderr, stdout } = await homeward(['keys', 'revoke', String(before.id), '--json'], { env });
  expect(JSON.parse(stderr)).toMatchObject({ journal: true, act: 'key_revoked', key: Number(before.id), webhooks: [] });
  expect(JSON.parse(stdout)).toMatchObject({ id: Number(before.id) });
  await homeward(['clients', 'suspend', 'Paws'], { env });
  await homeward(['clients', 'resume', 'Paws'], { env });
  const newer = await lost.createKey({ client: 'Claws' });
  await homeward(['keys', 'revoke', String(newer.id)], { env });
  expect((await readFile(journal, 'utf8')).trim().split('\n')).toHaveLength(4);

  expect((await restored.call('GET', '/v1/pets', { key: after.key })).status).toBe(200);
  const there = { ...env, DATABASE_URL: restored.databaseUrl };
  const files = ['journal', 'apply', journal, journal];
  expect(await homewardJson(files, there)).toEqual({ lines: 8, applied: 6, skipped: 2 });
  const rows = await restored.read<{ revoked: boolean; suspended: boolean }>(
    `select revoked_at is not null as revoked, suspended_at is not null as suspended
      from api_keys join clients on clients.id = client_id where api_keys.id = $1`,
    after.id,
  );
  expect(rows).toEqual([{ revoked: true, suspended: false }]);
});

test('A key that was created after the line was written is not changed, since its id was assigned again', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'homeward-journal-'));
  const journal = path.join(folder.path, 'journal.log');
  await using store = await createTestStore();
  const { id } = await store.createKey();
  const hourAgo = Date.now() - 3_600_000;
  await writeFile(journal, `${JSON.stringify({ time: hourAgo, journal: true, act: 'key_revoked', key: Number(id), webhooks: [] })}\n`);
  const env = store.env;
  expect(await homewardJson(['journal', 'apply', journal], env)).toEqual({ lines: 1, applied: 0, skipped: 1 });
});

test('A truncated journal fails with the line, and nothing is applied', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'homeward-journal-'));
  const journal = path.join(folder.path, 'journal.log');
  const line = { time: Date.now(), journal: true, act: 'client_suspended', client: 1 };
  await writeFile(journal, `${JSON.stringify(line)}\n${JSON.stringify(line).slice(0, -9)}\n`);
  const env = { DATABASE_URL: await cloneTemplate(inject('postgresUrl')), REDIS_URL: inject('redisUrl') };
  const { status, stderr } = await homeward(['journal', 'apply', journal], { env });
  expect(status).toBe(2);
  expect(stderr).toMatch(/^homeward: .*journal\.log, line 2: not a journal line of this release: .* Nothing was applied\.\n$/);
});

test('A file without a journal line is an error; a truncated line can be skipped', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'homeward-journal-'));
  const journal = path.join(folder.path, 'journal.log');
  const env = { DATABASE_URL: await cloneTemplate(inject('postgresUrl')), REDIS_URL: inject('redisUrl') };
  await writeFile(journal, '{"level":30,"msg":"working"}\n');
  const { status, stderr } = await homeward(['journal', 'apply', journal], { env });
  expect(status).toBe(2);
  expect(stderr).toContain('There is no journal line in');
  const line = JSON.stringify({ time: Date.now(), journal: true, act: 'client_suspended', client: 1 });
  await writeFile(journal, `${line.slice(0, -9)}\n${line}\n`);
  const skipped = await homeward(['journal', 'apply', journal, '--skip-unreadable', '--json'], { env });
  expect(skipped).toMatchObject({ status: 0, stdout: '{"lines":1,"applied":0,"skipped":1}\n' });
  expect(skipped.stderr).toContain('homeward: skipped: {"time"');
});

test('Endpoints that were changed after a line was written, and a later suspension, are not changed', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'homeward-journal-'));
  const journal = path.join(folder.path, 'journal.log');
  await using store = await createTestStore();
  const [key, other] = [await store.createKey({ client: 'Paws' }), await store.createKey({ client: 'Claws' })];
  const add = async () =>
    (await store.call<{ id: number }>('POST', '/v1/webhooks', { key: key.key, body: { url: 'https://example.org/' } })).json.id;
  const [changed, disabled] = [await add(), await add()];
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  await store.asOwner('update webhooks set created_at = $1, updated_at = $1 where id = $2', hoursAgo(9), disabled);
  await store.asOwner('update webhooks set created_at = $1, updated_at = $2 where id = $3', hoursAgo(9), hoursAgo(1), changed);
  await store.asOwner('update api_keys set created_at = $1', hoursAgo(9));
  await store.asOwner('update clients set created_at = $1, suspended_at = $2', hoursAgo(9), hoursAgo(1));
  const lines = [
    { act: 'key_revoked', key: Number(key.id), webhooks: [changed, disabled] },
    { act: 'key_rotated', key: Number(other.id), expiresAt: hoursAgo(4) },
    { act: 'client_resumed', client: Number(key.clientId) },
  ].map((entry) => JSON.stringify({ time: hoursAgo(5).getTime(), journal: true, ...entry }));
  await writeFile(journal, `${lines.join('\n')}\n`);
  expect(await homewardJson(['journal', 'apply', journal], store.env)).toEqual({ lines: 3, applied: 2, skipped: 1 });
  const webhooks = await store.read('select status from webhooks order by id');
  expect(webhooks).toEqual([{ status: 'enabled' }, { status: 'disabled' }]);
  const keys = await store.read('select revoked_at is not null as revoked, expires_at < now() as expired from api_keys order by id');
  expect(keys).toEqual([
    { revoked: true, expired: null },
    { revoked: false, expired: true },
  ]);
  const clients = await store.read('select count(*) from clients where suspended_at is null');
  expect(clients).toEqual([{ count: 0n }]);
});
