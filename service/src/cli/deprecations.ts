import type { Command } from 'commander';
import type { Dependencies } from '../dependencies.ts';
import { deprecationOf } from '../domain/deprecations.ts';
import { readDeprecatedCalls, retentionDays } from '../partners/usage/usage.ts';
import type { ReadConfig } from '../platform/config.ts';
import { clientNamesOf } from './clients-by-name.ts';
import { named } from './names.ts';
import { printTable } from './output.ts';
import { onStore, printsArray, type Result } from './store-command.ts';

export function addDeprecationsCommand(program: Command, config: ReadConfig): void {
  const command = program
    .command('deprecations')
    .description('list who still calls operations that will be removed, and when they last did; the most urgent first');
  onStore(command, config, () => listCalls, printsArray);
}

async function listCalls({ db }: Dependencies): Promise<Result> {
  const calls = await readDeprecatedCalls(db, Date.now());
  const names = await clientNamesOf(db, calls);
  const rows = calls
    .map((one) => ({ ...one, client: names.get(one.clientId), sunset: deprecationOf(one.operation)?.sunset ?? null }))
    .sort((a, b) => timeOf(a.sunset) - timeOf(b.sunset) || b.lastAt.getTime() - a.lastAt.getTime());
  const shown = rows.map(({ client, clientId, keyId, operation, calls: count, lastAt, sunset }) => ({
    client: named(client, clientId),
    key: keyId,
    operation,
    calls: count,
    'last call': lastAt,
    removed: sunset?.toISOString().slice(0, 10),
  }));
  const ifNone = `Nobody has called a deprecated operation in the last ${retentionDays} days.`;
  return { json: rows, text: () => printTable(shown, ifNone, { leastImportant: ['key'] }) };
}

/** An operation of another release, whose date this one doesn't know, comes last. */
const timeOf = (sunset: Date | null) => sunset?.getTime() ?? Number.MAX_SAFE_INTEGER;
