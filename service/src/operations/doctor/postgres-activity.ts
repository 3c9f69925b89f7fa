import pg from 'pg';
import type { Config } from '../../platform/config.ts';
import type { Db } from '../../platform/db/handles.ts';
import {
  countHiddenSessions,
  type IdleSlot,
  type LockHolder,
  type Server,
  type SnapshotHolder,
  type Standby,
  type Synchrony,
  selectDeadRows,
  selectIdleSlots,
  selectLockHolders,
  selectSnapshotHolders,
  selectStandbys,
  selectSynchrony,
  selectUnsafeSettings,
  selectVacuuming,
} from './doctor-queries.ts';
import { broken, bytesText, counted, duration, type Finding, guarded, type Judgement, note, ok, warning } from './finding.ts';

const waitSecondsMin = 1;
const holdSecondsMin = 5;
/** A backup of a large store takes this long; longer, and dead rows begin to cost. */
const snapshotSecondsMax = 1_800;
const snapshotTransactionsMax = 100_000;
const lagSecondsMax = 60;
const lagBytesMax = 1_073_741_824;
/** Of a slot that keeps the log without a limit: more than a standby needs that starts again. */
const endlessBytesMax = 33_554_432;
/** Autovacuum of this store's large tables begins far below. */
const deadRowsMin = 100_000;
const deadShareMin = 0.3;
/** PostgreSQL stops accepting writes at about 2.1 billion, and begins to freeze at 200 million. */
const frozenAgeMax = 1_000_000_000;

/** What goes on in the server. As the user that logged in, who may see more than the application's role. */
export async function activityChecks(db: Db, { login, seesAll }: Server, failover: Config['failover']): Promise<Finding[]> {
  const findings = [
    await guarded('postgres-locks', async () => judgeLocks(await selectLockHolders(db, waitSecondsMin, holdSecondsMin))),
    await guarded('postgres-snapshots', async () => judgeSnapshots(await selectSnapshotHolders(db))),
    await guarded('postgres-replication', async () =>
      judgeReplication(await selectStandbys(db), await selectIdleSlots(db), seesAll ? await selectSynchrony(db) : undefined, failover),
    ),
    await guarded('postgres-vacuum', () => checkVacuum(db)),
    await guarded('postgres-durability', () => checkDurability(db)),
    await guarded('postgres-sessions', () => checkSessions(db, login, seesAll)),
  ];
  return findings.flat();
}

export function judgeLocks(holders: readonly LockHolder[]): Judgement {
  const [worst] = holders;
  if (!worst) return ok('Nothing waits for a lock, and no table is locked for long.');
  const { pid, waiting, waitSeconds, tables } = worst;
  const blocked =
    waiting > 0 ? `blocks ${counted(waiting, 'other session')}, for ${duration(waitSeconds ?? 0)}` : 'blocks nobody right now';
  const found = `${describeSession(worst)} ${tables ? `has locked ${tables} and ` : ''}${blocked}.`;
  const more = holders.length > 1 ? ` ${counted(holders.length - 1, 'other')} too.` : '';
  return broken(found + more, `Ask its owner, or end it: select pg_terminate_backend(${pid}).`);
}

export function judgeSnapshots(holders: readonly SnapshotHolder[]): Judgement {
  const isOld = ({ seconds, transactions }: SnapshotHolder) =>
    (seconds ?? 0) >= snapshotSecondsMax || transactions >= snapshotTransactionsMax;
  const old = holders.find(isOld);
  if (!old) {
    const [oldest] = holders;
    return ok(oldest ? `The oldest is ${duration(oldest.seconds ?? 0)} old.` : 'No transaction has an old snapshot.');
  }
  const { kind, name, seconds, transactions, state } = old;
  const age = `for ${seconds === null ? '' : `${duration(seconds)} and `}${counted(transactions, 'transaction')}`;
  const effect = "so dead rows can't be removed";
  if (kind === 'prepared transaction')
    return warning(
      `The prepared transaction '${name}' has kept a snapshot ${age}, ${effect}.`,
      `rollback prepared ${pg.escapeLiteral(name)}.`,
    );
  if (kind === 'replication slot') {
    const fix =
      state === 'active'
        ? 'Look at its reader, which is behind.'
        : `If nobody needs it: select pg_drop_replication_slot(${pg.escapeLiteral(name)}).`;
    return warning(`The ${state} replication slot '${name}' has kept a snapshot ${age}, ${effect}.`, fix);
  }
  const found = `${describeSession({ pid: Number(name), application: old.application ?? '', state, seconds: null })} has kept a snapshot ${age}, ${effect}.`;
  return warning(found, `Ask its owner, or end it: select pg_terminate_backend(${name}).`);
}

export function judgeReplication(
  standbys: readonly Standby[],
  idleSlots: readonly IdleSlot[],
  synchrony: Synchrony | undefined,
  failover?: Config['failover'],
): Judgement {
  if (synchrony?.names && synchrony.connected === 0) {
    const found = `Commits wait for a standby (synchronous_standby_names = '${synchrony.names}'), and none is connected.`;
    const fix = 'Start the standby. Only if it is certain that none was promoted: empty synchronous_standby_names and reload PostgreSQL.';
    return broken(found, fix);
  }
  if (failover === 'lossless' && synchrony?.names === '') {
    const found = 'HOMEWARD_FAILOVER is lossless, and no standby confirms commits: the next failover loses what the standby lacks.';
    return warning(found, 'Start a synchronous standby, or set HOMEWARD_FAILOVER=lossy.');
  }
  const behind = standbys.find(({ bytes, seconds }) => (bytes ?? 0) >= lagBytesMax || (seconds ?? 0) >= lagSecondsMax);
  if (behind) {
    const found = `The standby ${behind.name} is behind by ${bytesText(behind.bytes ?? 0)}, ${duration(behind.seconds ?? 0)}.`;
    return warning(found, 'Look at its log, its disk and the network between the two.');
  }
  const slot = idleSlots.find(({ bytes, isEndless, isLost }) => isLost || (bytes ?? 0) >= (isEndless ? endlessBytesMax : lagBytesMax));
  if (slot) {
    const kept = slot.isLost
      ? 'has lost the log that it needs'
      : `keeps ${bytesText(slot.bytes ?? 0)} of the log on disk${slot.isEndless ? ', without a limit (max_slot_wal_keep_size)' : ''}`;
    const fix = `Start its reader. Only if nobody needs it, and no failover tool owns it: select pg_drop_replication_slot(${pg.escapeLiteral(slot.name)}).`;
    return warning(`The replication slot '${slot.name}' has no reader and ${kept}.`, fix);
  }
  return ok(standbys.length > 0 ? `${counted(standbys.length, 'standby', 'standbys')}, not behind.` : 'No standby is connected.');
}

async function checkVacuum(db: Db): Promise<Judgement> {
  const { isOn, frozenAge, disabled } = await selectVacuuming(db);
  if (frozenAge >= frozenAgeMax) {
    const found = `${counted(frozenAge, 'transaction')} since rows were last frozen; at 2 billion PostgreSQL stops.`;
    return broken(found, 'End what keeps old snapshots, then, as the owner: vacuum (freeze).');
  }
  if (!isOn) {
    const fix = 'Set autovacuum = on and track_counts = on, and reload PostgreSQL.';
    return warning('Autovacuum is off: tables and indexes grow, and statistics get old.', fix);
  }
  const [table] = disabled;
  if (table) {
    const fix = `As the owner: alter table ${table} reset (autovacuum_enabled).`;
    return warning(`Autovacuum is off for ${disabled.join(', ')}.`, fix);
  }
  const [worst] = await selectDeadRows(db, deadRowsMin, deadShareMin);
  if (!worst) return ok('Autovacuum is on and keeps up.');
  const { dead, live, seconds } = worst;
  const last = seconds === null ? 'never vacuumed' : `last vacuumed ${duration(seconds)} ago`;
  const found = `${worst.table} has ${counted(dead, 'dead row')} beside ${counted(live, 'live one')}, and was ${last}.`;
  return warning(found, `As the owner: vacuum (analyze) ${worst.table}. If that removes nothing, an old snapshot keeps them.`);
}

async function checkDurability(db: Db): Promise<Judgement> {
  const off = await selectUnsafeSettings(db);
  if (off.length === 0) return ok('Acknowledged writes survive a crash.');
  return warning(`Off: ${off.join(', ')}. A crash may lose acknowledged writes.`, 'Switch them on and reload PostgreSQL.');
}

async function checkSessions(db: Db, login: string, seesAll: boolean): Promise<Judgement> {
  const hidden = seesAll ? 0 : await countHiddenSessions(db);
  if (hidden === 0) return ok('What all sessions do is visible.');
  const found = `${counted(hidden, 'session')} of other users can't be inspected, so that a lock or snapshot may be overlooked.`;
  return note(found, `As a superuser: grant pg_monitor to ${pg.escapeIdentifier(login)}.`);
}

type Session = Pick<LockHolder, 'pid' | 'application' | 'state' | 'seconds'>;

/** Without the text of its statement, which may contain an adopter's data. */
function describeSession({ pid, application, state, seconds }: Session): string {
  const details = [application || 'no application name', state, seconds === null ? null : `in a transaction for ${duration(seconds)}`];
  return `Process ${pid} (${details.filter(Boolean).join(', ')})`;
}
