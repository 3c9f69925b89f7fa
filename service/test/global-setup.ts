// Builds the SDK and starts one PostgreSQL and one Redis for the whole run. Every test file gets its own database, cloned from a template.
import type { TestProject } from 'vitest/node';
import { startPostgres, startRedis } from '../../testkit/servers.ts';
import { ensureBuilt } from '../../tools/build.ts';
import { migrate } from '../src/platform/db/migrate.ts';
import { createDatabase, executeAsOwner, templateDatabase } from './databases.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** PostgreSQL's maintenance database, from which others are created. */
    postgresUrl: string;
    redisUrl: string;
  }
}

/** Returns the teardown. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await ensureBuilt();
  await using servers = new AsyncDisposableStack();
  const postgres = servers.use(await startPostgres());
  const redis = servers.use(await startRedis());
  const template = await createDatabase(postgres.url, { name: templateDatabase });
  await migrate(template);
  // In tests endpoints are verified from the start, except in those about verification.
  await executeAsOwner(template, 'alter table webhooks alter column verified_at set default now()');
  // The databases that are cloned from it have another identity, which is no failover.
  await executeAsOwner(template, 'update feed set server = null');
  project.provide('postgresUrl', postgres.url);
  project.provide('redisUrl', redis.url);
  const started = servers.move();
  return () => started.disposeAsync();
}
