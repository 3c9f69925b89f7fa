import { cpus, release, totalmem } from 'node:os';
import { queryAt } from '../testkit/postgres.ts';
import type { Store } from '../testkit/store.ts';
import { runCommand } from '../tools/command.ts';

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  readonly node: string;
  readonly postgres: string;
  readonly measuredAt: string;
  readonly wrk: string;
}

/** What the figures depend on besides the code. */
export async function describeMachine(store: Store): Promise<Machine> {
  // wrk prints its version with its usage, and ends with status 1.
  const { output } = await runCommand('wrk', ['-v'], { timeoutMs: 5_000 });
  return {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${release()}`,
    node: process.version,
    postgres: await postgresVersion(store.postgres.url),
    measuredAt: new Date().toISOString(),
    wrk: /^wrk (\S+)/.exec(output)?.[1] ?? 'unknown',
  };
}

async function postgresVersion(connectionString: string): Promise<string> {
  const [row] = await queryAt<{ server_version: string }>(connectionString, 'show server_version');
  return row?.server_version ?? 'unknown';
}
