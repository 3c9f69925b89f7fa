import type { Transaction, Writer } from '../../platform/db/handles.ts';

/** False: it was used before. */
export async function insertUsedValue(tx: Transaction, purpose: string, hash: Buffer, expiresAt: Date): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'insert-used-value',
    text: 'insert into used_values (purpose, hash, expires_at) values ($1, $2, $3) on conflict (purpose, hash) do nothing',
    values: [purpose, hash, expiresAt],
  });
  return rowCount === 1;
}

/** Those that have ended. A minute later, by which clocks may differ: a value that still counts elsewhere is not forgotten here. */
export async function deleteUsedValues(db: Writer, limit: number): Promise<number> {
  const { rowCount } = await db.write({
    name: 'delete-used-values',
    text: `delete from used_values where (purpose, hash) in (
      select purpose, hash from used_values where expires_at < now() - interval '1 minute' order by expires_at limit $1 for update skip locked)`,
    values: [limit],
  });
  return rowCount ?? 0;
}
