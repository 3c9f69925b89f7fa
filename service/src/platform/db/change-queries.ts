import type { Db, Writer } from './handles.ts';

/** Beyond that, every client counts as changed. */
export const changedMax = 10_000;

export interface Changes {
  /** Another one: the server was restarted or replaced, so that transaction ids may be assigned again. */
  readonly server: string;
  /** The snapshot of this look. Two looks with the same snapshot see the same rows in every table. */
  readonly snapshot: string;
  /** Clients that were changed, or whose keys were, in a transaction that `since` could not see; not all, if there are more than `changedMax`. */
  readonly clients: readonly bigint[];
  /** Differs from the look before if an animal was changed by a process that could not tell Redis. */
  readonly unannounced: bigint;
}

/** What has changed since the snapshot of an earlier look; without one, no client is reported. */
export async function selectChanges(db: Db, since: string | undefined): Promise<Changes> {
  const { rows } = await db.query<Omit<Changes, 'clients'> & { clients: readonly string[] }>({
    name: 'changes',
    // What `since` can't see has its oldest running transaction or a later one, which the index finds. The upper bound leaves out
    // transactions of another server, from which the store was copied.
    text: `select pg_postmaster_start_time()::text as server, pg_current_snapshot()::text as snapshot, (select last_value from unannounced_changes) as unannounced,
      array(select id from clients where changed_in >= pg_snapshot_xmin($1::pg_snapshot)
        and changed_in < pg_snapshot_xmax(pg_current_snapshot()) and not pg_visible_in_snapshot(changed_in, $1::pg_snapshot) limit ${changedMax + 1}) as clients`,
    values: [since ?? null],
  });
  const [changes] = rows;
  if (!changes) throw new Error('a select without from returned no row');
  // Only single values of bigint are parsed, not arrays.
  return { ...changes, clients: changes.clients.map(BigInt) };
}

/** To be called after a change of an animal is committed, if Redis is unreachable. */
export async function noteUnannouncedChange(db: Writer): Promise<void> {
  await db.write({ name: 'note-unannounced-change', text: `select nextval('unannounced_changes')` });
}
