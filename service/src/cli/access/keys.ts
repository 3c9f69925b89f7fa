import type { Command } from 'commander';
import { settleClientChange } from '../../access/clients/client-changes.ts';
import { findClient, findKey, type ListedKey, listKeys } from '../../access/clients/client-queries.ts';
import { createKey, type MintedKey } from '../../access/clients/clients.ts';
import { findBans } from '../../access/rate-limit/bans.ts';
import { planNames } from '../../access/rate-limit/plans.ts';
import { retentionDays } from '../../access/usage/usage.ts';
import { findLastUses } from '../../access/usage/usage-queries.ts';
import { type OnRevocation, type RevokedKey, revokeKeyAndWebhooks, rotateKeyAndWebhooks } from '../../changes/webhooks/endpoint-keys.ts';
import type { Dependencies } from '../../dependencies.ts';
import { defaultScopes, hasOne, isScope, type Scope, scopes, scopesOfBoundKeys, scopesThat, scopeTable } from '../../domain/scopes.ts';
import type { Config, ReadConfig } from '../../platform/config.ts';
import type { Db } from '../../platform/db/handles.ts';
import { isOutcomeUnknown } from '../../platform/db/postgres-failures.ts';
import { RedisLost } from '../../platform/redis/redis-link.ts';
import {
  commandAuthor,
  type JournalOptions,
  openCommandJournal,
  reportMissingLine,
  withoutJournalOption,
} from '../terminal/command-records.ts';
import { type ConfirmOptions, confirm, named, printProblem, timeText, UsageError } from '../terminal/output.ts';
import {
  addListAction,
  type CommandResult,
  choiceOption,
  limitMax,
  onStore,
  parseDuration,
  parseId,
  quoted,
  yesOption,
} from '../terminal/store-command.ts';
import { addLimitOptions, getClientByName, type LimitOptions, readLimitsIfGiven } from './clients.ts';

const scopeWidth = Math.max(...scopes.map((scope) => scope.length)) + 2;

interface CreateOptions extends Partial<LimitOptions> {
  readonly client: string;
  readonly scopes?: readonly Scope[];
  readonly shelter?: bigint;
  /** Seconds. */
  readonly expires?: number;
}

export function addKeyCommands(program: Command, config: ReadConfig): void {
  const keys = program.command('keys').description('create, list, rotate and revoke API keys');

  const create = addLimitOptions(
    keys
      .command('create')
      .description('create a key, and its client if it does not exist; the key is shown only once')
      .requiredOption('--client <name>', 'the client that the key belongs to')
      .addOption(choiceOption('--plan <plan>', 'needed for a new client', planNames)),
  )
    .option('--scopes <list>', `comma-separated, of ${scopes.join(', ')} (default: ${defaultScopes.join(',')})`, readScopes)
    .option(
      '--shelter <id>',
      `the shelter that the animals it adds belong to; needed for the scope ${scopesOfBoundKeys.join(' or ')}`,
      parseId,
    )
    .option('--expires <duration>', 'how long the key is valid: 90d, 12h, 30m', parseDuration)
    .addHelpText(
      'after',
      ['', 'Scopes:', ...scopes.map((scope) => `  ${scope.padEnd(scopeWidth)}${scopeTable[scope].meaning}`)].join('\n'),
    );
  onStore(create, config, (options: CreateOptions) => {
    const limits = readLimitsIfGiven(options);
    const { client, scopes: requested = defaultScopes, shelter: shelterId = null, expires: lifeSeconds } = options;
    if (lifeSeconds === 0) throw new UsageError('--expires 0 would create a key that never works.');
    return async (dependencies) => {
      const { db, clock, config: settings } = dependencies;
      // For PostgreSQL's clock, by which keys expire.
      if (lifeSeconds) await db.startProbing();
      const expiresAt = lifeSeconds ? new Date(clock.now() + lifeSeconds * 1_000) : null;
      const input = { client, limits, scopes: requested, shelterId, expiresAt, environment: settings.environment, by: commandAuthor() };
      const minted = await createKey(db, input).catch((error: unknown) => {
        const look = `homeward keys list --client ${quoted(client)}`;
        if (isOutcomeUnknown(error)) printProblem(`Look with: ${look}. If there is a new key, revoke it: nobody has seen it.`);
        throw error;
      });
      return mintedResult(minted, settings, { notes: await whereAnimalsAppear(db, minted) });
    };
  });

  const list = keys
    .command('list')
    .description('list keys with their plans, their states and when each was last used; the keys themselves are not stored')
    .option('--client <name>', 'only keys of this client');
  addListAction(list, config, {
    what: 'keys',
    limitDefault: limitMax,
    find: async (dependencies, { afterId: after, limit }, options: { client?: string }) => {
      const { db } = dependencies;
      const client = options.client === undefined ? undefined : await getClientByName(db, options.client);
      const listed = await withStates(dependencies, await listKeys(db, { clientId: client?.id, after, limit }));
      const lastUses = await findLastUses(
        db,
        listed.map(({ id }) => id),
      );
      const found = listed.map((key) => ({ ...key, lastUsedAt: lastUses.get(key.id) ?? null }));
      return { found, filters: { client: client?.name } };
    },
    columns: (key) => ({
      id: key.id,
      client: named(key.client, key.clientId),
      plan: key.plan,
      state: describeState(key),
      shelter: key.shelterId,
      'last used': key.lastUsedAt ?? `not in ${retentionDays} days`,
      key: key.hint,
      scopes: key.scopes,
    }),
    leastImportant: ['scopes', 'key'],
  });

  const rotate = keys
    .command('rotate')
    .description(
      'create a successor with the same scopes and shelter, which takes over the endpoints; the old key works until the overlap ends',
    )
    .argument('<id>', 'the key', parseId)
    .option('--overlap <duration>', 'how long the old key still works', '24h')
    .option(...withoutJournalOption)
    .option('--yes', 'with --overlap 0s, do not ask on a terminal');
  onStore(rotate, config, (id: bigint, options: ConfirmOptions & JournalOptions & { readonly overlap: string }) => {
    const overlapSeconds = parseDuration(options.overlap);
    return async (dependencies) => {
      const { db, redis, redisKeys, config: settings } = dependencies;
      const journal = await openCommandJournal(dependencies, options);
      if (overlapSeconds === 0) await confirmForKey(db, id, 'Replace it? It stops working at once.', options);
      const { environment } = settings;
      const { handedOver, ...minted } = await rotateKeyAndWebhooks(db, journal, commandAuthor(), id, { overlapSeconds, environment });
      await settleClientChange(redis, redisKeys, minted.record.clientId);
      const endpoints = `Its endpoints now belong to key ${minted.record.id}: ${handedOver.join(', ')}. If key ${id} was leaked, check their URLs: homeward webhooks list.`;
      const notes = [`Key ${id} works for another ${options.overlap}.`, ...(handedOver.length > 0 ? [endpoints] : [])];
      return mintedResult(minted, settings, { notes, handedOver });
    };
  });

  const revoke = keys
    .command('revoke')
    .description('revoke a key and disable its webhook endpoints; every process rejects its next request')
    .argument('<id>', 'the key', parseId)
    .option('--keep-webhooks', 'leave its endpoints enabled; they still receive what the key could read')
    .option('--all-webhooks', 'also disable the endpoints of its client that have no recorded key')
    .option(...withoutJournalOption)
    .option(...yesOption);
  onStore(revoke, config, (id: bigint, options: RevokeOptions) => {
    const onRevocation = readOnRevocation(options);
    return async (dependencies) => {
      const { db, redis, redisKeys } = dependencies;
      const journal = await openCommandJournal(dependencies, options);
      await confirmForKey(db, id, 'Revoke it?', options);
      const revoked = await revokeKeyAndWebhooks(db, journal, commandAuthor(), id, onRevocation);
      await settleClientChange(redis, redisKeys, revoked.clientId);
      const { hint: _, isJournaled, ...printed } = revoked;
      if (!isJournaled) reportMissingLine(dependencies.config);
      return { json: { ...printed, everywhere: true }, text: describeRevocation(revoked, onRevocation) };
    };
  });
}

interface RevokeOptions extends JournalOptions, ConfirmOptions {
  readonly keepWebhooks?: boolean;
  readonly allWebhooks?: boolean;
}

function readOnRevocation({ keepWebhooks, allWebhooks }: RevokeOptions): OnRevocation {
  if (keepWebhooks && allWebhooks) throw new UsageError('--keep-webhooks and --all-webhooks contradict each other; give one.');
  return keepWebhooks ? 'keep' : allWebhooks ? 'disable-unowned-too' : 'disable';
}

async function confirmForKey(db: Db, id: bigint, question: string, options: ConfirmOptions): Promise<void> {
  const key = await findKey(db, id);
  const client = key && (await findClient(db, key.clientId));
  // What does not exist is reported by the act itself.
  if (!client) return;
  const target = `Key ${id} (${key.hint}) of ${named(client.name, client.id)}, ${client.plan}, created ${timeText(key.createdAt)}`;
  await confirm(target, question, options);
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

function readScopes(text: string): readonly Scope[] {
  return text.split(',').map((scope) => {
    if (!isScope(scope)) throw new UsageError(`There is no scope "${scope}"; choose from ${scopes.join(', ')}.`);
    return scope;
  });
}

/** Where several shelters exist, a key without one adds animals that are shown with the contact of the first. */
async function whereAnimalsAppear(db: Db, { record: { shelterId, scopes: held } }: MintedKey): Promise<readonly string[]> {
  if (shelterId !== null || !hasOne(held, scopesThat('describePets', 'own client'))) return [];
  // Loaded here: most commands about keys don't need it.
  const { selectShelters } = await import('../../adoption/shelters/shelter-queries.ts');
  const [first, another] = await selectShelters(db, { afterId: undefined, limit: 2 });
  if (!first || !another) return [];
  return [
    `This key has no shelter: animals that it adds appear in ${named(first.name, first.id)}, with that shelter's contact, until staff place them with PUT /v1/pets/{petId}/shelter.`,
    "For those of another shelter, create a key with --shelter; 'homeward shelters list' lists all.",
  ];
}

function mintedResult(
  { key, record }: MintedKey,
  { port }: Config,
  { notes = [], ...more }: { notes?: readonly string[]; handedOver?: readonly bigint[] } = {},
): CommandResult {
  const { id, clientId, shelterId, scopes, expiresAt } = record;
  const tryIt = `  curl -H 'Authorization: Bearer ${key}' http://127.0.0.1:${port}/v1/pets`;
  return {
    json: { id, clientId, shelterId, key, scopes, expiresAt, ...more },
    text: [`Key ${id}, shown only once:`, '', `  ${key}`, '', 'Try it:', '', tryIt, ...(notes.length > 0 ? ['', ...notes] : [])],
  };
}

/**
 * What the key's next request meets. `replaced` means that it was rotated: it works until `expiresAt`. A key can be in several of
 * these states; the first one of this order is shown.
 */
type KeyState = 'revoked' | 'expired' | 'suspended' | 'banned' | 'replaced' | 'active';

interface KeyWithState extends ListedKey {
  readonly state: KeyState;
  readonly bannedUntil: Date | null;
}

/** Adds the state of each key. If Redis does not respond, bans are unknown and left out. */
async function withStates({ redis, redisKeys, clock }: Dependencies, keys: readonly ListedKey[]): Promise<KeyWithState[]> {
  const nowMs = clock.now();
  const bans = await redis
    .call((client) => findBans(client, redisKeys, keys, nowMs))
    .catch((error: unknown) => {
      if (!(error instanceof RedisLost)) throw error;
      printProblem('Redis does not respond, so bans are not shown.');
      return new Map<bigint, Date>();
    });
  return keys.map((key) => {
    const bannedUntil = bans.get(key.id) ?? null;
    return { ...key, state: stateOf(key, bannedUntil, nowMs), bannedUntil };
  });
}

function stateOf({ revokedAt, expiresAt, suspendedAt, replacedBy }: ListedKey, bannedUntil: Date | null, nowMs: number): KeyState {
  if (revokedAt) return 'revoked';
  if (expiresAt && expiresAt.getTime() <= nowMs) return 'expired';
  if (suspendedAt) return 'suspended';
  if (bannedUntil) return 'banned';
  return replacedBy === null ? 'active' : 'replaced';
}

/** The state with its time: `active (expires in 89 days)`. */
function describeState({ state, revokedAt, expiresAt, suspendedAt, bannedUntil, replacedBy }: KeyWithState): string {
  const at = (time: Date | null) => (time ? timeText(time) : '');
  const successor = replacedBy === null ? '' : `by key ${replacedBy}`;
  switch (state) {
    case 'revoked':
      return `revoked ${at(revokedAt)}`;
    case 'expired':
      return `expired ${at(expiresAt)}${successor && ` (replaced ${successor})`}`;
    case 'suspended':
      return `suspended ${at(suspendedAt)}`;
    case 'banned':
      return `banned (ends ${at(bannedUntil)})`;
    case 'replaced':
      return `replaced ${successor} (ends ${at(expiresAt)})`;
    case 'active':
      return expiresAt ? `active (expires ${at(expiresAt)})` : 'active';
  }
}
