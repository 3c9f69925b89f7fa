import type { Command } from 'commander';
import { settleClientChange } from '../clients/client-epochs.ts';
import { findClient, findKey, listKeys } from '../clients/client-queries.ts';
import { createKey, type MintedKey } from '../clients/clients.ts';
import type { Config, ReadConfig } from '../config.ts';
import { isOutcomeUnknown } from '../db/connection-faults.ts';
import type { Db } from '../db/handles.ts';
import { openDependencies } from '../dependencies.ts';
import { defaultScopes, isScope, type Scope, scopes, scopesOfBoundKeys, scopeTable } from '../domain/scopes.ts';
import { planNames } from '../rate-limit/plans.ts';
import { retentionDays } from '../usage/usage.ts';
import { findLastUses } from '../usage/usage-queries.ts';
import { type OnRevocation, type RevokedKey, revokeKeyAndWebhooks, rotateKeyAndWebhooks } from '../webhooks/endpoint-keys.ts';
import { choiceOption } from './choices.ts';
import { getClientByName } from './clients-by-name.ts';
import { type JournalOptions, openCommandJournal, withoutJournalOption } from './command-journal.ts';
import { describeState, withStates } from './key-states.ts';
import { addLimitOptions, type LimitOptions, readLimitsIfGiven } from './limit-options.ts';
import { printNextPageHint, quoted } from './list-options.ts';
import { reportMissingLine } from './missing-journal-line.ts';
import { named } from './names.ts';
import { confirm, parseDuration, parseId, printJson, printLines, printProblem, printTable, timeText, UsageError } from './output.ts';

const listedMax = 1_000;

interface CreateOptions extends Partial<LimitOptions> {
  client: string;
  scopes?: string;
  shelter?: string;
  expires?: string;
  json?: boolean;
}

export function addKeyCommands(program: Command, config: ReadConfig): void {
  const keys = program.command('keys').description('create, list, rotate and revoke API keys');

  addLimitOptions(
    keys
      .command('create')
      .description('create a key, and its client if it does not exist; the key is shown only once')
      .requiredOption('--client <name>', 'the client that the key belongs to')
      .addOption(choiceOption('--plan <plan>', 'needed for a new client', planNames)),
  )
    .option('--scopes <list>', `comma-separated, of ${scopes.join(', ')} (default: ${defaultScopes.join(',')})`)
    .option('--shelter <id>', `the shelter that the animals it adds belong to; needed for the scope ${scopesOfBoundKeys.join(' or ')}`)
    .option('--expires <duration>', 'how long the key is valid: 90d, 12h, 30m')
    .option('--json', 'print one JSON object')
    .addHelpText('after', ['', 'Scopes:', ...scopes.map((scope) => `  ${scope.padEnd(16)}${scopeTable[scope].meaning}`)].join('\n'))
    .action(async (options: CreateOptions) => {
      const limits = readLimitsIfGiven(options);
      const requestedScopes = readScopes(options.scopes);
      const shelterId = options.shelter === undefined ? null : parseId(options.shelter);
      const lifeSeconds = options.expires === undefined ? undefined : parseDuration(options.expires);
      if (lifeSeconds === 0) throw new UsageError('--expires 0 would create a key that never works.');
      await using dependencies = await openDependencies(config());
      // For PostgreSQL's clock, by which keys expire.
      if (lifeSeconds) await dependencies.db.startProbing();
      const expiresAt = lifeSeconds ? new Date(dependencies.clock.now() + lifeSeconds * 1_000) : null;
      const { environment } = dependencies.config;
      const input = { client: options.client, limits, scopes: requestedScopes, shelterId, expiresAt, environment };
      const minted = await createKey(dependencies.db, input).catch((error: unknown) => {
        const look = `homeward keys list --client ${quoted(options.client)}`;
        if (isOutcomeUnknown(error)) printProblem(`Look with: ${look}. If there is a new key, revoke it: nobody has seen it.`);
        throw error;
      });
      printMinted(minted, options, dependencies.config);
    });

  keys
    .command('list')
    .description('list keys with their plans, their states and when each was last used; the keys themselves are not stored')
    .option('--client <name>', 'only keys of this client')
    .option('--after <id>', `list keys after this id; at most ${listedMax} are listed at once`)
    .option('--json', 'print one JSON array')
    .action(async (options: { client?: string; after?: string; json?: boolean }) => {
      const after = options.after ? parseId(options.after) : 0n;
      await using dependencies = await openDependencies(config());
      const client = options.client === undefined ? undefined : await getClientByName(dependencies.db, options.client);
      const found = await listKeys(dependencies.db, { clientId: client?.id, after, limit: listedMax + 1 });
      const listed = await withStates(dependencies, found.slice(0, listedMax));
      const lastUses = await findLastUses(
        dependencies.db,
        listed.map(({ id }) => id),
      );
      const rows = listed.map((key) => ({ ...key, lastUsedAt: lastUses.get(key.id) ?? null }));
      if (options.json) return printJson(rows);
      printTable(
        rows.map((key) => ({
          id: key.id,
          client: named(key.client, key.clientId),
          plan: key.plan,
          state: describeState(key),
          shelter: key.shelterId,
          'last used': key.lastUsedAt ?? `not in ${retentionDays} days`,
          key: key.hint,
          scopes: key.scopes,
        })),
        'There are no keys.',
        { leastImportant: ['scopes', 'key'] },
      );
      printNextPageHint(`homeward keys list${client ? ` --client ${quoted(client.name)}` : ''}`, rows, found);
    });

  keys
    .command('rotate')
    .description(
      'create a successor with the same scopes and shelter, which takes over the endpoints; the old key works until the overlap ends',
    )
    .argument('<id>', 'the key')
    .option('--overlap <duration>', 'how long the old key still works', '24h')
    .option(...withoutJournalOption)
    .option('--yes', 'with --overlap 0s, do not ask on a terminal')
    .option('--json', 'print one JSON object')
    .action(async (id: string, options: { overlap: string; yes?: boolean; json?: boolean } & JournalOptions) => {
      const overlapSeconds = parseDuration(options.overlap);
      await using dependencies = await openDependencies(config());
      const { environment } = dependencies.config;
      const { db } = dependencies;
      const journal = await openCommandJournal(dependencies, options);
      if (overlapSeconds === 0) await confirmForKey(db, parseId(id), 'Replace it? It stops working at once.', options);
      const { handedOver, ...minted } = await rotateKeyAndWebhooks(db, journal, parseId(id), { overlapSeconds, environment });
      await settleClientChange(dependencies.redis, dependencies.redisKeys, minted.record.clientId);
      const endpoints =
        handedOver.length > 0
          ? [
              `Its endpoints now belong to key ${minted.record.id}: ${handedOver.join(', ')}. If key ${id} was leaked, check their URLs: homeward webhooks list.`,
            ]
          : [];
      printMinted(minted, options, dependencies.config, {
        notes: [`Key ${id} works for another ${options.overlap}.`, ...endpoints],
        handedOver,
      });
    });

  keys
    .command('revoke')
    .description('revoke a key and disable its webhook endpoints; every process rejects its next request')
    .argument('<id>', 'the key')
    .option('--keep-webhooks', 'leave its endpoints enabled; they still receive what the key could read')
    .option('--all-webhooks', 'also disable the endpoints of its client that have no recorded key')
    .option(...withoutJournalOption)
    .option('--yes', 'do not ask on a terminal')
    .option('--json', 'print one JSON object')
    .action(async (id: string, options: RevokeOptions) => {
      const onRevocation = readOnRevocation(options);
      await using dependencies = await openDependencies(config());
      const journal = await openCommandJournal(dependencies, options);
      await confirmForKey(dependencies.db, parseId(id), 'Revoke it?', options);
      const revoked = await revokeKeyAndWebhooks(dependencies.db, journal, parseId(id), onRevocation);
      await settleClientChange(dependencies.redis, dependencies.redisKeys, revoked.clientId);
      const { hint: _, isJournaled, ...printed } = revoked;
      if (!isJournaled) reportMissingLine(dependencies.config);
      if (options.json) printJson({ ...printed, everywhere: true });
      else printLines(...describeRevocation(revoked, onRevocation));
    });
}

interface RevokeOptions extends JournalOptions {
  readonly keepWebhooks?: boolean;
  readonly allWebhooks?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

function readOnRevocation({ keepWebhooks, allWebhooks }: RevokeOptions): OnRevocation {
  if (keepWebhooks && allWebhooks) throw new UsageError('--keep-webhooks and --all-webhooks contradict each other; give one.');
  return keepWebhooks ? 'keep' : allWebhooks ? 'disable-unowned-too' : 'disable';
}

async function confirmForKey(db: Db, id: bigint, question: string, options: { yes?: boolean; json?: boolean }): Promise<void> {
  const key = await findKey(db, id);
  const client = key && (await findClient(db, key.clientId));
  // What does not exist is reported by the act itself.
  if (!client) return;
  const target = `Key ${id} (${key.hint}) of ${named(client.name, client.id)}, ${client.plan}, created ${timeText(key.createdAt)}`;
  await confirm({ target, question, ...options });
}

function describeRevocation({ id, hint, disabled, stillEnabled }: RevokedKey, onRevocation: OnRevocation): string[] {
  const lines = [`Key ${id} (${hint}) is revoked.`];
  if (disabled.length > 0) lines.push(`Disabled endpoints: ${disabled.join(', ')}.`);
  else lines.push(onRevocation === 'keep' ? 'Its endpoints stay enabled.' : 'It had no enabled endpoint.');
  if (stillEnabled.length > 0) {
    lines.push('Endpoints of this client that are still enabled:');
    for (const { id: endpoint, keyId, url } of stillEnabled)
      lines.push(`  ${endpoint}  ${keyId === null ? 'no key recorded' : `key ${keyId}`}  ${url}`);
    lines.push(
      "If the key was leaked, check their URLs ('homeward webhooks disable' disables one), and have the partner replace their secrets.",
    );
    if (stillEnabled.some(({ keyId }) => keyId === null))
      lines.push(`'homeward keys revoke ${id} --all-webhooks' disables those without a recorded key.`);
  }
  return lines;
}

function readScopes(text: string | undefined): readonly Scope[] {
  if (text === undefined) return defaultScopes;
  return text.split(',').map((scope) => {
    if (!isScope(scope)) throw new UsageError(`There is no scope "${scope}"; choose from ${scopes.join(', ')}.`);
    return scope;
  });
}

function printMinted(
  { key, record }: MintedKey,
  options: { json?: boolean },
  { port }: Config,
  { notes = [], ...more }: { notes?: readonly string[]; handedOver?: readonly bigint[] } = {},
): void {
  const { id, clientId, shelterId, scopes, expiresAt } = record;
  if (options.json) printJson({ id, clientId, shelterId, key, scopes, expiresAt, ...more });
  else {
    const url = `http://127.0.0.1:${port}/v1/pets`;
    printLines(`Key ${id}, shown only once:`, '', `  ${key}`, '', 'Try it:', '', `  curl -H 'Authorization: Bearer ${key}' ${url}`);
    if (notes.length > 0) printLines('', ...notes);
  }
}
