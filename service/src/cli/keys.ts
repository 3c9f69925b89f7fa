import type { Command } from 'commander';
import { listKeys } from '../clients/client-queries.ts';
import { createKey, type MintedKey, revokeApiKey, rotateKey } from '../clients/clients.ts';
import { defaultScopes, isScope, type Scope, scopes } from '../clients/scopes.ts';
import type { Config, ReadConfig } from '../config.ts';
import { openDependencies } from '../dependencies.ts';
import { planNames } from '../rate-limit/plans.ts';
import { addLimitOptions, announce, type LimitOptions, readLimits } from './client-changes.ts';
import { parseDuration, parseId, printJson, printTable, UsageError } from './output.ts';

const listedMax = 1_000;

interface CreateOptions extends LimitOptions {
  client: string;
  scopes?: string;
  expires?: string;
  json?: boolean;
}

export function addKeyCommands(program: Command, config: ReadConfig): void {
  const keys = program.command('keys').description('make, list, rotate and revoke API keys');

  addLimitOptions(
    keys
      .command('create')
      .description('make a key, and its client where there is none; the key is shown this once')
      .requiredOption('--client <name>', 'the client that the key belongs to')
      .requiredOption('--plan <plan>', `one of ${planNames.join(', ')}`),
  )
    .option('--scopes <list>', `comma-separated, of ${scopes.join(', ')} (default: ${defaultScopes.join(',')})`)
    .option('--expires <duration>', 'until when it is valid: 90d, 12h, 30m')
    .option('--json', 'print one JSON object')
    .action(async (options: CreateOptions) => {
      const limits = readLimits(options);
      const wishedScopes = readScopes(options.scopes);
      const lifeSeconds = options.expires === undefined ? undefined : parseDuration(options.expires);
      if (lifeSeconds === 0) throw new UsageError('--expires 0 would make a key that never works.');
      const expiresAt = lifeSeconds ? new Date(Date.now() + lifeSeconds * 1_000) : null;
      await using dependencies = await openDependencies(config());
      const { environment } = dependencies.config;
      const minted = await createKey(dependencies.db, { client: options.client, limits, scopes: wishedScopes, expiresAt, environment });
      printMinted(minted, options, dependencies.config);
    });

  keys
    .command('list')
    .description('list keys; the keys themselves are not kept')
    .option('--client <name>', 'only those of this client')
    .option('--after <id>', `continue after this id; ${listedMax} are listed at once`)
    .option('--json', 'print one JSON array')
    .action(async (options: { client?: string; after?: string; json?: boolean }) => {
      await using dependencies = await openDependencies(config());
      const after = options.after ? parseId(options.after) : 0n;
      const rows = await listKeys(dependencies.db, { client: options.client, after, limit: listedMax });
      if (options.json) return printJson(rows);
      const shown = rows.map(({ id, client, hint, scopes, expiresAt, revokedAt }) => ({
        id,
        client,
        key: hint,
        scopes,
        expires: expiresAt,
        revoked: revokedAt,
      }));
      return printTable(shown, 'There are no keys.');
    });

  keys
    .command('rotate')
    .description('make a successor with the same scopes; the old key works until the overlap is over')
    .argument('<id>', 'the key')
    .option('--overlap <duration>', 'how long the old key goes on working', '24h')
    .option('--json', 'print one JSON object')
    .action(async (id: string, options: { overlap: string; json?: boolean }) => {
      const overlapSeconds = parseDuration(options.overlap);
      await using dependencies = await openDependencies(config());
      const { environment } = dependencies.config;
      const minted = await rotateKey(dependencies.db, parseId(id), { overlapSeconds, environment });
      await announce(dependencies, minted.record.clientId);
      printMinted(minted, options, dependencies.config, `\n\nKey ${id} works for another ${options.overlap}.`);
    });

  keys
    .command('revoke')
    .description('end a key; its next request is refused, in every process')
    .argument('<id>', 'the key')
    .option('--json', 'print one JSON object')
    .action(async (id: string, options: { json?: boolean }) => {
      await using dependencies = await openDependencies(config());
      const revoked = await revokeApiKey(dependencies.db, parseId(id));
      const everywhere = await announce(dependencies, revoked.clientId);
      if (options.json) printJson({ id: revoked.id, clientId: revoked.clientId, revokedAt: revoked.revokedAt, everywhere });
      else console.log(`Key ${revoked.id} (${revoked.hint}) is revoked.`);
    });
}

function readScopes(text: string | undefined): readonly Scope[] {
  if (text === undefined) return defaultScopes;
  return text.split(',').map((scope) => {
    if (!isScope(scope)) throw new UsageError(`There is no scope "${scope}"; choose from ${scopes.join(', ')}.`);
    return scope;
  });
}

function printMinted({ key, record }: MintedKey, options: { json?: boolean }, { port }: Config, note = ''): void {
  const { id, clientId, scopes, expiresAt } = record;
  if (options.json) printJson({ id, clientId, key, scopes, expiresAt });
  else {
    const url = `http://127.0.0.1:${port}/v1/pets`;
    console.log(`Key ${id}, shown this once:\n\n  ${key}\n\nTry it:\n\n  curl -H 'Authorization: Bearer ${key}' ${url}${note}`);
  }
}
