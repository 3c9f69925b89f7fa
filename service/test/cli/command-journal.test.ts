// A store that has a journal: commands write to it, or they change nothing.

import { readFileSync } from 'node:fs';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, inject, test } from 'vitest';
import { findJournalPlace } from '../../src/platform/journal-place.ts';
import { executeAsOwner } from '../databases.ts';
import { poll } from '../poll.ts';
import { createTestStore, type TestStore } from '../test-store.ts';
import { homeward, homewardJson, startWorker } from './homeward-command.ts';

const environmentOf = ({ dependencies }: TestStore) => ({
  DATABASE_URL: dependencies.config.databaseUrl,
  REDIS_URL: inject('redisUrl'),
});

/** Everything that a journal line is about. */
async function readEnded({ dependencies }: TestStore): Promise<unknown> {
  const { rows } = await dependencies.db.query({
    text: `select (select json_agg(row(id, revoked_at, expires_at) order by id) from api_keys) as keys,
      (select json_agg(row(id, suspended_at) order by id) from clients) as clients,
      (select json_agg(row(id, status) order by id) from webhooks) as webhooks,
      (select json_agg(row(id, adopter_email) order by id) from orders) as orders,
      (select json_agg(row(id, adopter_email) order by id) from applications) as applications`,
  });
  return rows[0];
}

test('Once a worker has recorded a journal, every command that ends something needs HOMEWARD_JOURNAL or --without-journal', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'homeward-journal-'));
  await using store = await createTestStore();
  const env = environmentOf(store);
  const directory = `${folder.path}/`;
  const withJournal = { ...env, HOMEWARD_JOURNAL: directory };
  const key = await store.createKey({ client: 'Paws' });
  const { json: endpoint } = await store.call<{ id: number }>('POST', '/v1/webhooks', {
    key: key.key,
    body: { url: 'https://example.org/' },
  });
  const { json: pet } = await store.call<{ id: number }>('POST', '/v1/pets', { key: key.key, body: { name: 'Rex', categoryId: 1 } });
  const { json: order } = await store.call<{ id: number }>('POST', '/v1/store/orders', {
    key: key.key,
    body: { petId: pet.id, adopter: { name: 'Ada', email: 'ada@example.org' } },
  });
  const { json: application } = await store.call<{ id: number }>('POST', '/v1/applications', {
    key: key.key,
    body: { petId: pet.id, adopter: { name: 'Ada', email: 'ada@example.org' } },
  });
  expect([endpoint.id, pet.id, order.id, application.id].every(Number.isInteger)).toBe(true);
  const ending = [
    ['keys', 'rotate', String(key.id)],
    ['clients', 'suspend', 'Paws'],
    ['clients', 'resume', 'Paws'],
    ['webhooks', 'disable', String(endpoint.id)],
    ['orders', 'erase', String(order.id)],
    ['orders', 'erase', '--email', 'ada@example.org'],
    ['applications', 'erase', String(application.id)],
    ['keys', 'revoke', String(key.id)],
  ];
  // As in a store without a journal.
  expect((await homeward(['clients', 'suspend', 'Paws'], { env })).status).toBe(0);
  expect((await homeward(['clients', 'resume', 'Paws'], { env })).status).toBe(0);

  {
    await using worker = startWorker({ env: withJournal });
    await poll(() => worker.log()).until((log) => log.includes('journal recorded'));
  }
  const before = await readEnded(store);
  for (const args of ending) {
    const { status, stdout, stderr } = await homeward(args, { env });
    expect({ args, status, stdout }).toEqual({ args, status: 2, stdout: '' });
    expect(stderr).toContain(`Nothing was changed. Set HOMEWARD_JOURNAL to ${directory}, as the worker has it`);
    expect(stderr).toContain('--without-journal');
  }
  expect(await readEnded(store)).toEqual(before);

  const suspended = await homeward(['clients', 'suspend', 'Paws', '--without-journal'], { env });
  const [line = '', problem = ''] = suspended.stderr.trim().split('\n');
  expect({ status: suspended.status, act: JSON.parse(line).act }).toEqual({ status: 0, act: 'client_suspended' });
  expect(problem).toContain(`Append each line with "journal":true that is printed here to a file in ${directory}.`);
  expect((await homeward(['clients', 'resume', 'Paws'], { env: withJournal })).stderr).not.toContain('homeward:');
  const written = readFileSync(findJournalPlace(directory).journalFile, 'utf8').trim().split('\n');
  expect(written.map((one) => JSON.parse(one).act)).toEqual(['client_resumed']);

  // A worker whose variable is missing warns, and the journal stays.
  {
    await using worker = startWorker({ env });
    await poll(() => worker.log()).until((log) => log.includes('the store has a journal: set it'));
  }
  expect((await homeward(['clients', 'suspend', 'Paws'], { env })).status).toBe(2);
  expect(await homewardJson(['journal', 'forget'], env)).toEqual({ forgotten: directory });
  expect(await homewardJson(['journal', 'forget'], env)).toEqual({ forgotten: null });
  expect((await homeward(['clients', 'suspend', 'Paws'], { env })).status).toBe(0);
});

test('restore-check and journal apply read the files of all hosts in a directory', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'homeward-journal-'));
  await using store = await createTestStore();
  const env = { ...environmentOf(store), HOMEWARD_JOURNAL: folder.path };
  const [here, there] = [await store.createKey({ client: 'Paws' }), await store.createKey({ client: 'Claws' })];
  expect((await homeward(['keys', 'revoke', String(here.id)], { env })).status).toBe(0);
  const line = { time: Date.now(), journal: true, act: 'key_revoked', key: Number(there.id), webhooks: [] };
  await writeFile(path.join(folder.path, 'another.host.log'), `${JSON.stringify(line)}\n`);
  // As if an older backup were restored.
  const revive = () => executeAsOwner(env.DATABASE_URL, 'update api_keys set revoked_at = null');
  const countRevoked = async () => {
    const rows = await store.read('select count(*)::int as count from api_keys where revoked_at is not null');
    return rows[0]?.['count'];
  };
  await revive();
  expect(await homewardJson(['restore-check', '--nothing-lost'], env)).toMatchObject({ journal: { lines: 0 } });
  expect(await homewardJson(['restore-check'], env)).toMatchObject({ ready: true, journal: { lines: 2, applied: 2, skipped: 0 } });
  expect(await countRevoked()).toBe(2);
  await revive();
  expect(await homewardJson(['journal', 'apply', folder.path], env)).toEqual({ lines: 2, applied: 2, skipped: 0 });
  expect(await countRevoked()).toBe(2);
});
