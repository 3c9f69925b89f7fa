// A whole store behind PgBouncer in session mode: every connection, of migrate, serve, worker and commands, goes through it.

import { expect, inject, test, vi } from 'vitest';
import { act, addAnimals, castOf, place, verify } from '../../../../testkit/adopters.ts';
import { HttpClient } from '../../../../testkit/http.ts';
import { startPgBouncer, startRedis } from '../../../../testkit/servers.ts';
import { Store } from '../../../../testkit/store.ts';
import { theService } from '../../../src/domain/actor.ts';
import { Pool } from '../../../src/platform/db/pool.ts';
import { createDatabase } from '../../databases.ts';

const poolSize = 4;

test('behind PgBouncer in session mode an order goes from placed to completed, its events are published, and verify holds', async () => {
  await using servers = new AsyncDisposableStack();
  const database = await createDatabase(inject('postgresUrl'), { name: `pgbouncer_${process.pid}_${Date.now()}` });
  const bouncer = servers.use(await startPgBouncer(database, { poolSize: 50 }));
  const redis = servers.use(await startRedis());
  const env = { HOMEWARD_POOL_SIZE: String(poolSize), LOG_LEVEL: 'warn' };
  const store = servers.use(await Store.open({ processes: 2, beside: { postgres: bouncer, redis }, env }));
  store.work();
  using http = new HttpClient();
  const [one, two] = store.processes;
  if (!one || !two) throw new Error('two processes serve');
  const { manager, partners } = await castOf(store, 1);
  const [partner = manager] = partners;
  const [petId = 0] = await addAnimals(store, manager, 1);

  const placed = await place(http, one.url, partner, petId);
  expect(placed.status).toBe(201);
  const orderId = Number(JSON.parse(placed.text).id);
  expect((await act(http, two.url, manager, orderId, 'approve')).status).toBe(200);
  expect((await act(http, one.url, manager, orderId, 'complete')).status).toBe(200);
  const types = async () => {
    const { text } = await http.send(`${two.url}/events`, { key: partner.key });
    return (JSON.parse(text) as Array<{ type: string }>).map(({ type }) => type);
  };
  await vi.waitUntil(async () => (await types()).includes('order.completed'), { timeout: 20_000, interval: 50 });
  expect(await verify(store)).toMatchObject({ holds: true, orders: 1 });
  expect([one.log(), two.log()]).toEqual(['', '']);

  // Closed connections go back to PgBouncer, which gives them to the next client with their settings reset.
  for (const byIndex of [false, true]) {
    const pool = new Pool(bouncer.url, poolSize, { byIndex });
    await pool.open();
    try {
      expect(await settingsOf(pool)).toEqual({ ...settings, enable_seqscan: byIndex ? 'off' : 'on' });
      expect(await pool.transaction(settingsOf, theService)).toEqual({ ...settings, enable_seqscan: 'off' });
    } finally {
      await pool.close();
    }
  }
});

const settings = { role: 'homeward_app', statement_timeout: '2s', idle_in_transaction_session_timeout: '5s', jit: 'off' };

async function settingsOf(db: Pick<Pool, 'query'>): Promise<unknown> {
  const names = [...Object.keys(settings), 'enable_seqscan'];
  const { rows } = await db.query({ text: `select ${names.map((name) => `current_setting('${name}') as ${name}`).join(', ')}` });
  return rows[0];
}
