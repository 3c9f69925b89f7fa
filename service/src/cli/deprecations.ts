import type { Command } from 'commander';
import { findClientNames } from '../clients/client-queries.ts';
import type { ReadConfig } from '../config.ts';
import { openDependencies } from '../dependencies.ts';
import { deprecationOf } from '../domain/deprecations.ts';
import { readDeprecatedCalls, retentionDays } from '../usage/usage.ts';
import { named } from './names.ts';
import { printJson, printTable } from './output.ts';

export function addDeprecationsCommand(program: Command, config: ReadConfig): void {
  program
    .command('deprecations')
    .description('list who still calls operations that will be removed, and when they last did; the most urgent first')
    .option('--json', 'print one JSON array')
    .action(async ({ json }: { json?: boolean }) => {
      await using dependencies = await openDependencies(config());
      const { db } = dependencies;
      const calls = await readDeprecatedCalls(db, Date.now());
      const names = await findClientNames(db, [...new Set(calls.map(({ clientId }) => clientId))]);
      const rows = calls
        .map((one) => ({ ...one, client: names.get(one.clientId), sunset: deprecationOf(one.operation)?.sunset ?? null }))
        .sort((a, b) => timeOf(a.sunset) - timeOf(b.sunset) || b.lastAt.getTime() - a.lastAt.getTime());
      if (json) return printJson(rows);
      return printTable(
        rows.map(({ client, clientId, keyId, operation, calls: count, lastAt, sunset }) => ({
          client: named(client, clientId),
          key: keyId,
          operation,
          calls: count,
          'last call': lastAt,
          removed: sunset?.toISOString().slice(0, 10),
        })),
        `Nobody has called a deprecated operation in the last ${retentionDays} days.`,
        { leastImportant: ['key'] },
      );
    });
}

/** An operation of another release, whose date this one doesn't know, comes last. */
const timeOf = (sunset: Date | null) => sunset?.getTime() ?? Number.MAX_SAFE_INTEGER;
