import type { Command } from 'commander';
import { findClientNames } from '../clients/client-queries.ts';
import type { ReadConfig } from '../config.ts';
import type { Db } from '../db/handles.ts';
import { openDependencies } from '../dependencies.ts';
import { replay } from '../webhooks/deliveries.ts';
import { selectWebhooks } from '../webhooks/webhook-queries.ts';
import type { Replay } from '../webhooks/webhook-schemas.ts';
import { disableByOperator, enableByOperator } from '../webhooks/webhooks.ts';
import { type JournalOptions, openCommandJournal, withoutJournalOption } from './command-journal.ts';
import { reportMissingLine } from './missing-journal-line.ts';
import { named } from './names.ts';
import { confirm, parseId, printJson, printLines, printTable, UsageError } from './output.ts';
import { asUsageError } from './rejections.ts';

interface ReplayOptions {
  readonly delivery?: string;
  readonly failed?: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly json?: boolean;
}

const rowsMax = 1_000;

export function addWebhookCommands(program: Command, config: ReadConfig): void {
  const webhooks = program.command('webhooks').description("list, disable and enable clients' webhook endpoints, and replay deliveries");

  webhooks
    .command('list')
    .description('list endpoints of all clients')
    .option('--client <id>', 'only endpoints of this client')
    .option('--after <id>', 'only endpoints with a higher id, to go on after the last one of a list')
    .option('--json', 'print one JSON array')
    .action(async ({ client, after, json }: { client?: string; after?: string; json?: boolean }) => {
      await using dependencies = await openDependencies(config());
      const owner = client === undefined ? 'any' : { clientId: parseId(client) };
      const rows = await selectWebhooks(dependencies.db, owner, {
        afterId: after === undefined ? undefined : parseId(after),
        limit: rowsMax,
      });
      const names = await findClientNames(dependencies.db, [...new Set(rows.map(({ clientId }) => clientId))]);
      if (json) return printJson(rows.map((webhook) => ({ ...webhook, client: names.get(webhook.clientId) })));
      return printTable(
        rows.map(({ id, clientId, keyId, url, status, failingSince, behindSince, types }) => ({
          id,
          client: named(names.get(clientId), clientId),
          key: keyId,
          url,
          status,
          'failing since': failingSince,
          'behind since': behindSince,
          types: types.length > 0 ? types : 'all',
        })),
        'There are no endpoints.',
        { leastImportant: ['types', 'key', 'behind since', 'failing since'] },
      );
    });

  webhooks
    .command('disable')
    .description('stop sending to an endpoint; its client can enable it again unless the client is suspended')
    .argument('<id>', 'the endpoint')
    .option(...withoutJournalOption)
    .option('--yes', 'do not ask on a terminal')
    .option('--json', 'print one JSON object')
    .action(async (id: string, options: { yes?: boolean; json?: boolean } & JournalOptions) => {
      const { json } = options;
      await using dependencies = await openDependencies(config());
      const journal = await openCommandJournal(dependencies, options);
      await confirmDisabling(dependencies.db, parseId(id), options);
      const { isJournaled } = await disableByOperator(dependencies.db, journal, parseId(id)).catch(asUsageError);
      if (!isJournaled) reportMissingLine(dependencies.config);
      if (json) printJson({ id: parseId(id), status: 'disabled' });
      else printLines(`Endpoint ${id} is disabled.`);
    });

  webhooks
    .command('enable')
    .description('resume sending to an endpoint')
    .argument('<id>', 'the endpoint')
    .option('--json', 'print one JSON object')
    .action(async (id: string, { json }: { json?: boolean }) => {
      await using dependencies = await openDependencies(config());
      await enableByOperator(dependencies.db, parseId(id)).catch(asUsageError);
      if (json) printJson({ id: parseId(id), status: 'enabled' });
      else printLines(`Endpoint ${id} is enabled.`);
    });

  webhooks
    .command('replay')
    .description('send events to an endpoint again')
    .argument('<id>', 'the endpoint')
    .option('--failed', 'every failed delivery')
    .option('--delivery <id>', 'this delivery')
    .option('--from <time>', 'every event published from this time on, such as 2026-11-15T10:00:00Z')
    .option('--to <time>', 'only events published before this time')
    .option('--json', 'print one JSON object')
    .action(async (id: string, options: ReplayOptions) => {
      const input = readReplay(options);
      await using dependencies = await openDependencies(config());
      const count = await dependencies.db.transaction((tx) => replay(tx, 'any', parseId(id), input)).catch(asUsageError);
      if (options.json) printJson({ id: parseId(id), count });
      else printLines(`Queued ${count} ${count === 1 ? 'delivery' : 'deliveries'}.`);
    });
}

async function confirmDisabling(db: Db, id: bigint, options: { yes?: boolean; json?: boolean }): Promise<void> {
  const [webhook] = await selectWebhooks(db, 'any', { afterId: id - 1n, limit: 1 });
  // What does not exist is reported by the act itself.
  if (webhook?.id !== id) return;
  const names = await findClientNames(db, [webhook.clientId]);
  const target = `Endpoint ${id} of ${named(names.get(webhook.clientId), webhook.clientId)}, ${webhook.url}`;
  await confirm({ target, question: 'Stop sending to it?', ...options });
}

function readReplay({ delivery, failed, from, to }: ReplayOptions): Replay {
  const ways = [delivery, failed, from ?? to].filter((one) => one !== undefined).length;
  if (ways !== 1) throw new UsageError('Give one of --failed, --delivery, or --from with --to.');
  if (delivery !== undefined) return { deliveryId: parseId(delivery) };
  if (failed) return { failed: true };
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}
