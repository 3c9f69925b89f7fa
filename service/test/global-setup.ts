// The SDK as it is built, one PostgreSQL and one Redis for the whole run. Every test file gets a database of its own, cloned from a template.
import type { TestProject } from 'vitest/node';
import { startPostgres, startRedis } from '../../testkit/servers.ts';
import { ensureBuilt } from '../../tools/build.ts';
import { migrate } from '../src/db/migrate.ts';
import { createDatabase, templateDatabase } from './databases.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** PostgreSQL's own maintenance database: where others are created. */
    postgresUrl: string;
    redisUrl: string;
  }
}

/** Returns what ends it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await ensureBuilt();
  await using servers = new AsyncDisposableStack();
  const postgres = servers.use(await startPostgres());
  const redis = servers.use(await startRedis());
  await migrate(await createDatabase(postgres.url, { name: templateDatabase }));
  project.provide('postgresUrl', postgres.url);
  project.provide('redisUrl', redis.url);
  const kept = servers.move();
  return () => kept.disposeAsync();
}
