import type { Db, Transaction } from '../../platform/db/handles.ts';

/** Listed fields of a target, without adopters' data. */
export type AuditedValues = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export interface AuditRow {
  readonly act: string;
  readonly target: string;
  readonly targetId: bigint | null;
  readonly shelterId: bigint | null;
  readonly personId: bigint | null;
  readonly clientId: bigint | null;
  readonly keyId: bigint | null;
  readonly login: string | null;
  readonly host: string | null;
  readonly network: string | null;
  readonly before: AuditedValues | null;
  readonly after: AuditedValues | null;
}

export async function insertAudit(tx: Transaction, row: AuditRow): Promise<void> {
  await tx.query({
    name: 'insert-audit',
    text: `insert into audit (act, target, target_id, shelter_id, person_id, client_id, key_id, login, host, network, before, after)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::jsonb, $12::jsonb)`,
    values: [
      row.act,
      row.target,
      row.targetId,
      row.shelterId,
      row.personId,
      row.clientId,
      row.keyId,
      row.login,
      row.host,
      row.network,
      row.before && JSON.stringify(row.before),
      row.after && JSON.stringify(row.after),
    ],
  });
}

const todayUtc = `(now() at time zone 'utc')::date`;

/**
 * Counts one more row of an author today (UTC). False: there are as many as there may be. The sum is exact, since the author's row is locked
 * while it changes. The day never moves back, so that transactions on both sides of midnight don't reset each other's sum.
 */
export async function countAuditRow(tx: Transaction, author: string, perDayMax: number): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'count-audit-row',
    text: `insert into audit_counts as before (author, day, count) values ($1, ${todayUtc}, 1)
      on conflict (author) do update set day = greatest(before.day, excluded.day),
        count = case when before.day < excluded.day then 1 else before.count + 1 end
      where before.day < excluded.day or before.count < $2`,
    values: [author, perDayMax],
  });
  return rowCount === 1;
}

/** Creates the partitions of the coming months. Returns how many. Acts that are audited queue behind the lock: rather later than for long. */
export async function makePartitions(tx: Transaction): Promise<number> {
  await tx.query({ text: `set local lock_timeout = '200ms'` });
  const { rows } = await tx.query<{ made: bigint }>({ text: 'select make_audit_partitions() as made' });
  return Number(rows[0]?.made ?? 0);
}

/** Drops the months that ended more than so many days ago. Returns how many. */
export async function dropPartitions(tx: Transaction, days: number): Promise<number> {
  await tx.query({ text: `set local lock_timeout = '200ms'` });
  const { rows } = await tx.query<{ dropped: bigint }>({ text: 'select drop_audit_partitions($1) as dropped', values: [days] });
  return Number(rows[0]?.dropped ?? 0);
}

/** When the oldest row that may be there was written. */
export async function findAuditStart(db: Db): Promise<Date | undefined> {
  const { rows } = await db.query<{ start: Date | null }>({ text: 'select audit_start() as start' });
  return rows[0]?.start ?? undefined;
}
