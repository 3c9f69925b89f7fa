// What a worker does by itself when a standby has taken over.
import { theService } from '../../domain/actor.ts';
import type { Config } from '../../platform/config.ts';
import { readServers, recordFailover } from '../../platform/db/deployment.ts';
import type { ServiceDb } from '../../platform/db/handles.ts';
import { journalPlaceOf } from '../../platform/journal-place.ts';
import type { Log } from '../../platform/log.ts';
import { type Applied, applyJournal } from './apply-journal.ts';
import { readOwnJournal } from './journal-files.ts';
import { endAllSignIns } from './restore-queries.ts';

/**
 * No standby lags for longer. Lines that are older are on the new server: it has all that the old one had up to some moment. A journal of
 * years takes minutes to apply, and the last revocation would wait for that.
 */
const lagDaysMax = 7;

interface FailoverParts {
  readonly db: ServiceDb;
  readonly config: Pick<Config, 'failover' | 'journalFile' | 'journalDirectory'>;
  /** The servers that this worker has published on: a store that leaves one of them under its eyes was not restored. */
  readonly servers: ReadonlySet<string>;
  readonly log: Pick<Log, 'warn'>;
}

/**
 * Records that the store is on another server, if that is known to be a failover. A standby may lack the last commits, so the journal is
 * applied first: what was revoked stays revoked. People sign in again, since sessions and links that were ended may be back. If this worker
 * ends before it is recorded, another one does it again, which is harmless.
 *
 * Returns 0: there is never more to do at once.
 */
export async function followFailover({ db, config, servers, log }: FailoverParts): Promise<0> {
  const { here, recorded } = await readServers(db);
  if (here === null || recorded === null || here === recorded) return 0;
  if (config.failover === undefined && !servers.has(recorded)) return 0;
  const journal = config.failover === 'lossless' ? 'not needed' : await applyOwnJournal(db, config, log);
  const isFirst = await db.transaction(async (tx) => {
    // Only by the first worker: who has signed in since then stays so.
    if (!(await recordFailover(tx, { from: recorded, to: here }))) return false;
    if (config.failover === 'lossless') return true;
    await endAllSignIns(tx);
    tx.endsAuthority();
    return true;
  }, theService);
  if (isFirst) log.warn({ from: recorded, to: here, journal }, 'a standby has taken over: this server is recorded as the one of the store');
  return 0;
}

async function applyOwnJournal(db: ServiceDb, config: FailoverParts['config'], log: FailoverParts['log']): Promise<Applied | 'none'> {
  if (!journalPlaceOf(config)) return 'none';
  // A line that was cut off by a crash is of an act that was not confirmed.
  const onUnreadable = (text: string) => log.warn({ line: text.slice(0, 200) }, 'journal line skipped: it is not readable');
  const since = new Date(Date.now() - lagDaysMax * 86_400_000);
  return applyJournal(db, await readOwnJournal(config, since, onUnreadable), () => {});
}
