// Waits for what a store does in the background.
import { queryStore } from './adopters.ts';
import type { Store } from './store.ts';
import { until } from './until.ts';

/** Resolves once the pictures of all photos are made. */
export async function untilPhotosAreMade(store: Store, timeoutMs: number): Promise<void> {
  const text = `select count(*) = 0 as done from photos where status = 'processing'`;
  await until('the pictures are made', async () => (await queryStore<{ done: boolean }>(store, text))[0]?.done, { timeoutMs });
}

/** Resolves once the archive has everything that is written now. `switches`: at once, instead of with the segment's end. */
export async function untilArchived(store: Store, timeoutMs: number, { switches = false } = {}): Promise<void> {
  const position = switches ? 'pg_switch_wal()' : 'pg_current_wal_lsn()';
  const [now] = await queryStore<{ segment: string }>(store, `select pg_walfile_name(${position}) as segment`);
  const text = 'select last_archived_wal >= $1 as done from pg_stat_archiver';
  const isArchived = async () => (await queryStore<{ done: boolean }>(store, text, [now?.segment]))[0]?.done;
  await until(`${now?.segment} is archived`, isArchived, { timeoutMs });
}

interface Readiness {
  readonly status: string;
  readonly redis: boolean;
}

/** Resolves once all processes say of themselves that this holds. */
export async function untilReadiness({ processes }: Pick<Store, 'processes'>, isSo: (readiness: Readiness) => boolean): Promise<void> {
  for (const { url } of processes) {
    const ask = async () => isSo((await (await fetch(url.replace('/v1', '/readyz'))).json()) as Readiness);
    await until('a process is ready', ask, { intervalMs: 20 });
  }
}
