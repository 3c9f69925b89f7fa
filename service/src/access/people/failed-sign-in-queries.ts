import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';

/** So many sign-ins that failed, of a kind, from a network. */
export interface FailedCount {
  readonly kind: string;
  readonly network: string;
  readonly count: number;
}

/** In an hour (UTC). */
export interface FailedHour extends FailedCount {
  readonly hour: Date;
}

/** In place of the networks for which an hour has no row left. */
export const otherNetworks = 'others';

/** Adds to this hour. `networksMax` bounds its rows, whatever networks a stranger comes from: one process after the other looks for the room. */
export async function addFailedSignIns(tx: Transaction, counts: readonly FailedCount[], networksMax: number): Promise<void> {
  await tx.query({ text: `select pg_advisory_xact_lock(hashtextextended('failed_sign_ins', 0))` });
  await tx.query({
    name: 'add-failed-sign-ins',
    text: `with known as (select kind, network from failed_sign_ins where hour = date_trunc('hour', now(), 'UTC') and network <> '${otherNetworks}'),
      given as (select kind, network, count, known.network is not null as is_known,
          row_number() over (partition by known.network is null order by network = '${otherNetworks}', count desc) as place
        from unnest($1::text[], $2::text[], $3::bigint[]) as given (kind, network, count) left join known using (kind, network)),
      placed as (select kind, count, case when is_known or place <= $4 - (select count(*) from known) then network else '${otherNetworks}' end as network
        from given)
      insert into failed_sign_ins as stored (hour, kind, network, count)
        select date_trunc('hour', now(), 'UTC'), kind, network, sum(count) from placed group by kind, network
      on conflict (hour, kind, network) do update set count = stored.count + excluded.count`,
    values: [counts.map(({ kind }) => kind), counts.map(({ network }) => network), counts.map(({ count }) => count), networksMax],
  });
}

/** The newest hour first, and in it the most. */
export async function selectFailedSignIns(db: Db, since: Date, limit: number): Promise<FailedHour[]> {
  const { rows } = await db.query<Omit<FailedHour, 'count'> & { readonly count: bigint }>({
    text: `select hour, kind, network, count from failed_sign_ins where hour > $1::timestamptz - interval '1 hour'
      order by hour desc, count desc, kind, network limit $2`,
    values: [since, limit],
  });
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

/** Returns how many rows. */
export async function deleteOldFailedSignIns(db: Writer, days: number, limit: number): Promise<number> {
  const { rowCount } = await db.write({
    name: 'delete-old-failed-sign-ins',
    text: `delete from failed_sign_ins where (hour, kind, network) in (select hour, kind, network from failed_sign_ins
      where hour < now() - make_interval(days => $1) order by hour limit $2 for update skip locked)`,
    values: [days, limit],
  });
  return rowCount ?? 0;
}
