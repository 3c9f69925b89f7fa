import type { Command } from 'commander';
import { replay } from '../../changes/webhooks/deliveries.ts';
import { selectWebhooks } from '../../changes/webhooks/webhook-queries.ts';
import type { ReplayRequest } from '../../changes/webhooks/webhook-schemas.ts';
import { disableByOperator, enableByOperator } from '../../changes/webhooks/webhooks.ts';
import { theService } from '../../domain/actor.ts';
import type { ReadConfig } from '../../platform/config.ts';
import type { Db } from '../../platform/db/handles.ts';
import { type JournalOptions, openCommandJournal, reportMissingLine, withoutJournalOption } from '../terminal/command-records.ts';
import { type ConfirmOptions, confirm, named, UsageError } from '../terminal/output.ts';
import { addListAction, limitMax, onStore, parseId, yesOption } from '../terminal/store-command.ts';
import { clientNamesOf } from './clients.ts';

interface ReplayOptions {
  readonly delivery?: bigint;
  readonly failed?: boolean;
  readonly from?: string;
  readonly to?: string;
}

export function addWebhookCommands(program: Command, config: ReadConfig): void {
  const webhooks = program.command('webhooks').description("list, disable and enable clients' webhook endpoints, and replay deliveries");

  const list = webhooks
    .command('list')
    .description('list endpoints of all clients')
    .option('--client <id>', 'only endpoints of this client', parseId);
  addListAction(list, config, {
    what: 'endpoints',
    limitDefault: limitMax,
    find: async ({ db }, page, { client }: { client?: bigint }) => {
      const found = await selectWebhooks(db, client === undefined ? 'any' : { clientId: client }, page);
      const names = await clientNamesOf(db, found);
      return { found: found.map((webhook) => ({ ...webhook, client: names.get(webhook.clientId) })), filters: { client } };
    },
    columns: ({ id, client, clientId, keyId, url, status, failingSince, behindSince, types, shelterIds, categoryIds }) => ({
      id,
      client: named(client, clientId),
      key: keyId,
      url,
      status,
      'failing since': failingSince,
      'behind since': behindSince,
      types: orAll(types),
      shelters: orAll(shelterIds),
      categories: orAll(categoryIds),
    }),
    leastImportant: ['types', 'categories', 'shelters', 'key', 'behind since', 'failing since'],
  });

  const disable = webhooks
    .command('disable')
    .description('stop sending to an endpoint; its client can enable it again unless the client is suspended')
    .argument('<id>', 'the endpoint', parseId)
    .option(...withoutJournalOption)
    .option(...yesOption);
  onStore(disable, config, (id: bigint, options: ConfirmOptions & JournalOptions) => async (dependencies) => {
    const journal = await openCommandJournal(dependencies, options);
    await confirmDisabling(dependencies.db, id, options);
    const { isJournaled } = await disableByOperator(dependencies.db, journal, id);
    if (!isJournaled) reportMissingLine(dependencies.config);
    return { json: { id, status: 'disabled' }, text: `Endpoint ${id} is disabled.` };
  });

  const enable = webhooks.command('enable').description('resume sending to an endpoint').argument('<id>', 'the endpoint', parseId);
  onStore(enable, config, (id: bigint) => async ({ db }) => {
    await enableByOperator(db, id);
    return { json: { id, status: 'enabled' }, text: `Endpoint ${id} is enabled.` };
  });

  const replayCommand = webhooks
    .command('replay')
    .description('send events to an endpoint again')
    .argument('<id>', 'the endpoint', parseId)
    .option('--failed', 'every failed delivery')
    .option('--delivery <id>', 'this delivery', parseId)
    .option('--from <time>', 'every event published from this time on, such as 2026-11-15T10:00:00Z')
    .option('--to <time>', 'only events published before this time');
  onStore(replayCommand, config, (id: bigint, options: ReplayOptions) => {
    const input = readReplay(options);
    return async ({ db }) => {
      const count = await db.transaction((tx) => replay(tx, 'any', id, input), theService);
      return { json: { id, count }, text: `Queued ${count} ${count === 1 ? 'delivery' : 'deliveries'}.` };
    };
  });
}

async function confirmDisabling(db: Db, id: bigint, options: ConfirmOptions): Promise<void> {
  const [webhook] = await selectWebhooks(db, 'any', { afterId: id - 1n, limit: 1 });
  // What does not exist is reported by the act itself.
  if (webhook?.id !== id) return;
  const names = await clientNamesOf(db, [webhook]);
  const target = `Endpoint ${id} of ${named(names.get(webhook.clientId), webhook.clientId)}, ${webhook.url}`;
  await confirm(target, 'Stop sending to it?', options);
}

function readReplay({ delivery, failed, from, to }: ReplayOptions): ReplayRequest {
  const ways = [delivery, failed, from ?? to].filter((one) => one !== undefined).length;
  if (ways !== 1) throw new UsageError('Give one of --failed, --delivery, or --from with --to.');
  if (delivery !== undefined) return { deliveryId: delivery };
  if (failed) return { failed: true };
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

const orAll = (wanted: readonly unknown[]) => (wanted.length > 0 ? wanted.join(', ') : 'all');
