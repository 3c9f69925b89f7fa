import pg from 'pg';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { testAuthor } from '../../../../testkit/test-author.ts';
import { revokeApiKey, setPlan } from '../../../src/access/clients/clients.ts';
import { theService } from '../../../src/domain/actor.ts';
import { ChangeWatch, noteUnannouncedChange, trustMs } from '../../../src/platform/db/change-watch.ts';
import type { Db } from '../../../src/platform/db/handles.ts';
import { executeAsOwner } from '../../databases.ts';
import { openTestStore } from '../../test-store.ts';

let watch: ChangeWatch;
let reported: bigint[];
let unannounced: number;
let alls: number;
/** The statements of the watch that have begun. */
let begun: number;
/** If it is set, a statement waits for it before its result is returned. */
let held: Promise<void> | undefined;
let server: string | undefined;
const store = await openTestStore();
beforeEach(async () => {
  begun = 0;
  held = undefined;
  server = undefined;
  const db: Db = {
    query: async (statement) => {
      begun += 1;
      const result = await store.dependencies.db.query<never>(statement);
      await held;
      return server ? { ...result, rows: result.rows.map((row: object) => ({ ...row, server }) as never) } : result;
    },
  };
  watch = new ChangeWatch(db);
  watch.on('clients', (ids) => reported.push(...ids));
  watch.on('unannounced', () => (unannounced += 1));
  watch.on('all', () => (alls += 1));
  alls = 0;
  await watch.look();
  begun = 0;
  reported = [];
  unannounced = 0;
});

const databaseUrl = () => store.databaseUrl;
const upgrade = (client: string) => setPlan(store.dependencies.db, testAuthor, client, { plan: 'pro', perMinute: null, perDay: null });

describe('ChangeWatch', () => {
  test('reports with its first look that anything may have changed', () => {
    expect(alls).toBe(1);
  });

  test('reports a changed client, and one whose key was changed, each once', async () => {
    const [one, other] = [await store.createKey({ client: 'once' }), await store.createKey({ client: 'twice' })];
    await store.createKey({ client: 'never' });
    await watch.look();
    expect(reported).toEqual([]);
    await store.dependencies.db.transaction((tx) => revokeApiKey(tx, one.id), theService);
    await watch.look();
    expect(reported).toEqual([one.clientId]);
    await upgrade('twice');
    await watch.look();
    await watch.look();
    expect(reported).toEqual([one.clientId, other.clientId]);
    expect(alls).toBe(1);
  });

  test('reports a transaction that began before a look and is committed after it', async () => {
    const { clientId } = await store.createKey({ client: 'late' });
    const late = new pg.Client({ connectionString: databaseUrl() });
    await late.connect();
    await late.query('begin');
    await late.query(`update clients set plan = 'free', per_minute = null, per_day = null where name = 'late'`);
    // Later transactions are committed first.
    const sooner = await store.createKey({ client: 'sooner' });
    await upgrade('sooner');
    await watch.look();
    expect(reported).toEqual([sooner.clientId]);
    await watch.look();
    await late.query('commit');
    await late.end();
    await watch.look();
    expect(reported).toEqual([sooner.clientId, clientId]);
    await watch.look();
    expect(reported).toHaveLength(2);
  });

  test('does not report a transaction that is rolled back', async () => {
    await store.createKey({ client: 'unchanged' });
    await executeAsOwner(
      databaseUrl(),
      `begin; update clients set plan = 'free', per_minute = null, per_day = null where name = 'unchanged'; rollback`,
    );
    await watch.look();
    expect(reported).toEqual([]);
  });

  test('reports clients of a copy from a server with higher transaction ids only when they change', async () => {
    const { clientId } = await store.createKey({ client: 'copied' });
    await executeAsOwner(
      databaseUrl(),
      `alter table clients disable trigger note_change;
       update clients set changed_in = '99999999999' where name = 'copied';
       alter table clients enable trigger note_change`,
    );
    await watch.look();
    await watch.look();
    expect(reported).toEqual([]);
    await upgrade('copied');
    await watch.look();
    await watch.look();
    expect(reported).toEqual([clientId]);
  });

  test('reports an unannounced change once', async () => {
    await noteUnannouncedChange(store.dependencies.db);
    await watch.look();
    await watch.look();
    expect(unannounced).toBe(1);
  });

  test('reports that anything may have changed if the server was restarted or replaced', async () => {
    server = 'another';
    await watch.look();
    await watch.look();
    expect({ alls, unannounced, reported }).toEqual({ alls: 2, unannounced: 1, reported: [] });
  });

  test('looks once for all callers of a turn, and again for one who asks while a look is in flight', async () => {
    const { clientId } = await store.createKey({ client: 'in flight' });
    const release = Promise.withResolvers<void>();
    held = release.promise;
    const first = Array.from({ length: 100 }, () => watch.look());
    await vi.waitUntil(() => begun === 1, { interval: 0 });
    await upgrade('in flight');
    const later = Array.from({ length: 100 }, () => watch.look());
    held = undefined;
    release.resolve();
    await Promise.all(first);
    expect(reported).toEqual([]);
    await Promise.all(later);
    expect(reported).toEqual([clientId]);
    expect(begun).toBe(2);
  });

  test('is trusted for a while after a look, and an idle process does not look', async () => {
    await watch.look();
    expect(watch.isTrusted).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, trustMs + 50));
    expect(begun).toBe(1);
    expect(watch.isTrusted).toBe(false);
  });

  test('stays trusted while it is used', async () => {
    await watch.look();
    const startedAtMs = performance.now();
    for (let i = 0; i < 50; i += 1) {
      expect(watch.isTrusted).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(begun).toBeLessThanOrEqual(2 + (performance.now() - startedAtMs) / 100);
  });

  test('is not trusted after a doubt until a look that begins later, even if one is in flight', async () => {
    const release = Promise.withResolvers<void>();
    held = release.promise;
    const inFlight = watch.look();
    await vi.waitUntil(() => begun === 1, { interval: 0 });
    watch.invalidate();
    held = undefined;
    release.resolve();
    await inFlight;
    expect(watch.isTrusted).toBe(false);
    await watch.look();
    expect(watch.isTrusted).toBe(true);
  });

  test('reports a change after a look that failed', async () => {
    const { clientId } = await store.createKey({ client: 'failed' });
    await upgrade('failed');
    held = Promise.reject(new Error('the connection is lost'));
    held.catch(() => {});
    await expect(watch.look()).rejects.toThrow('lost');
    held = undefined;
    await watch.look();
    expect(reported).toEqual([clientId]);
  });
});
