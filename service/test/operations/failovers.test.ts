// What a worker does when a standby has taken over; the whole of it, with real servers, is in test/failover.
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { followFailover } from '../../src/operations/recovery/failovers.ts';
import { findJournalPlace } from '../../src/platform/journal-place.ts';
import { createTestStore } from '../test-store.ts';

test('A journal of a hundred thousand old lines delays no revocation: only the last seven days are applied', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'homeward-journal-'));
  await using store = await createTestStore();
  const { db } = store.dependencies;
  const [old, recent] = [await store.createKey(), await store.createKey()];
  const lineOf = (key: bigint, daysAgo: number) =>
    `${JSON.stringify({ time: Date.now() - daysAgo * 86_400_000, journal: true, act: 'key_revoked', key: Number(key), webhooks: [] })}\n`;
  const journalFile = path.join(folder.path, 'journal.log');
  await db.write({ text: `update api_keys set created_at = created_at - interval '30 days'` });
  await writeFile(journalFile, lineOf(old.id, 8).repeat(100_000) + lineOf(recent.id, 6));
  await db.write({ text: `update deployment set server = 'before'` });
  const log = { warn: vi.fn<() => void>() };
  await followFailover({ db, config: { failover: 'lossy', journalFile, journalDirectory: '' }, servers: new Set(), log });
  expect(log.warn).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ journal: { applied: 1, skipped: 0 } }), expect.any(String));
  const statusOf = async ({ key }: { key: string }) => (await store.call('GET', '/v1/pets', { key })).status;
  expect([await statusOf(old), await statusOf(recent)]).toEqual([200, 401]);
});

test('What another host has revoked stays revoked: every file of the directory is applied', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'homeward-journal-'));
  await using store = await createTestStore();
  const { db } = store.dependencies;
  const [there, here] = [await store.createKey(), await store.createKey()];
  const lineOf = (key: bigint) =>
    `${JSON.stringify({ time: Date.now(), journal: true, act: 'key_revoked', key: Number(key), webhooks: [] })}\n`;
  await writeFile(path.join(folder.path, 'another.host.log'), lineOf(there.id));
  const config = { failover: 'lossy', ...findJournalPlace(folder.path) } as const;
  await writeFile(config.journalFile, lineOf(here.id));
  await db.write({ text: `update deployment set server = 'before'` });
  const log = { warn: vi.fn<() => void>() };
  await followFailover({ db, config, servers: new Set(), log });
  expect(log.warn).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ journal: { applied: 2, skipped: 0 } }), expect.any(String));
  const statusOf = async ({ key }: { key: string }) => (await store.call('GET', '/v1/pets', { key })).status;
  expect([await statusOf(there), await statusOf(here)]).toEqual([401, 401]);
});
