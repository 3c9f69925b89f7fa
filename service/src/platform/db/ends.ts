// What ends somebody's right to act, such as a revoked key or a removed person, is acknowledged once nothing can follow it.
//
// Each transaction of `serve` and `console` reads, once it has begun, whether the authority that it acts by still holds. So one that begins
// after the commit of an end has seen it. One that had begun before may have read its authority before: those are noted after the commit, by
// their virtual transactions, and waited for. No row is locked, so an end never waits for a queue of those who act, and can't deadlock with
// them.
import { setTimeout as sleep } from 'node:timers/promises';
import { retryLater } from '../errors.ts';
import type { Db } from './handles.ts';
import { applicationNames } from './postgres-servers.ts';

/** Longer than a transaction takes: its statements and its pauses have time limits (pool.ts). */
const waitMsMax = 15_000;
const [pauseMsMin, pauseMsMax] = [2, 50];

const acting = `'^(${applicationNames.serve}|${applicationNames.console})( - |$)'`;

/** Returns when the transactions that act for others, and that are running now, have ended. Call it after the commit of an end. */
export async function settleEarlier(db: Db): Promise<void> {
  const deadline = performance.now() + waitMsMax;
  let left = await selectActing(db);
  for (let pauseMs = pauseMsMin; left.length > 0; pauseMs = Math.min(pauseMs * 2, pauseMsMax)) {
    if (performance.now() > deadline) throw retryLater(stillRunning);
    await sleep(pauseMs);
    const running = new Set(await selectActing(db));
    left = left.filter((id) => running.has(id));
  }
}

const stillRunning =
  'It has ended, and nothing that begins from now on is carried out by it. But requests that began before still run: look again in some seconds.';

/** The virtual transactions of those who act for others. PgBouncer may add an address to the name of a connection. */
async function selectActing(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: 'acting-transactions',
    text: `select virtualtransaction as id from pg_locks join pg_stat_activity using (pid)
      where locktype = 'virtualxid' and pid <> pg_backend_pid() and datname = current_database() and application_name ~ ${acting}`,
  });
  return rows.map(({ id }) => id);
}
