import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { addUsage } from '../src/access/usage/usage-queries.ts';
import { theService } from '../src/domain/actor.ts';
import type { TestKey, TestStore } from './test-store.ts';

export interface RecordedUsage {
  readonly at: Date;
  readonly requests: number;
  readonly errors?: Readonly<Record<string, number>>;
  readonly deprecated?: Readonly<Record<string, number>>;
}

/** As if a process had counted these requests in that minute. */
export async function recordUsage(store: TestStore, { id }: Pick<TestKey, 'id'>, usage: RecordedUsage): Promise<void> {
  const named = (kind: 'error' | 'deprecated', counts: Readonly<Record<string, number>> = {}) =>
    Object.entries(counts).map(([name, count]) => ({ keyId: id, kind, name, count }));
  const rows = [
    { keyId: id, kind: 'request' as const, name: '', count: usage.requests },
    ...named('error', usage.errors),
    ...named('deprecated', usage.deprecated),
  ];
  await store.dependencies.db.transaction((tx) => addUsage(tx, { processId: randomUUID(), batch: 1n }, usage.at, rows), theService);
}

export interface StoredUsage {
  readonly key: number;
  readonly kind: string;
  readonly name: string;
  readonly total: number;
}

/** Everything that is stored. */
export async function storedUsage(databaseUrl: string): Promise<StoredUsage[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<StoredUsage>(
      `select key_id::int as key, kind, name, sum(total)::int as total from key_usage group by 1, 2, 3 order by 1, 2 desc, 3`,
    );
    return rows;
  } finally {
    await client.end();
  }
}

const minuteMs = 60_000;

/** The start of a minute so many minutes ago. */
export const minutesAgo = (minutes: number): Date => new Date((Math.floor(Date.now() / minuteMs) - minutes) * minuteMs);
