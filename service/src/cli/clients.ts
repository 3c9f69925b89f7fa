import type { Command } from 'commander';
import { settleClientChange } from '../clients/client-epochs.ts';
import { type Client, listClients } from '../clients/client-queries.ts';
import { setPlan, setSuspended } from '../clients/clients.ts';
import type { ReadConfig } from '../config.ts';
import { openDependencies } from '../dependencies.ts';
import { boundsOf, planNames, quotaOf } from '../rate-limit/plans.ts';
import { choiceOption } from './choices.ts';
import { getClientByName } from './clients-by-name.ts';
import { type JournalOptions, openCommandJournal, withoutJournalOption } from './command-journal.ts';
import { addLimitOptions, type LimitOptions, readLimits } from './limit-options.ts';
import { reportMissingLine } from './missing-journal-line.ts';
import { named } from './names.ts';
import { confirm, parseId, printJson, printLines, printTable } from './output.ts';

const listedMax = 1_000;

export function addClientCommands(program: Command, config: ReadConfig): void {
  const clients = program.command('clients').description('list clients, change their plans, suspend and resume them');

  clients
    .command('list')
    .description('list clients with their plans and their number of active keys')
    .option('--after <id>', `list clients after this id; at most ${listedMax} are listed at once`)
    .option('--json', 'print one JSON array')
    .action(async (options: { after?: string; json?: boolean }) => {
      await using dependencies = await openDependencies(config());
      const rows = await listClients(dependencies.db, options.after ? parseId(options.after) : 0n, listedMax);
      const shown = rows.map(withLimits);
      if (options.json) return printJson(shown);
      return printTable(
        shown.map(({ id, name, plan, perMinute, perDay, openOrders, keys, suspendedAt }) => ({
          id,
          name,
          plan,
          'per minute': perMinute,
          'per day': perDay,
          'open orders': openOrders,
          keys,
          suspended: suspendedAt,
        })),
        'There are no clients.',
        { leastImportant: ['open orders', 'per day', 'per minute'] },
      );
    });

  addLimitOptions(
    clients
      .command('set-plan')
      .description("change a client's plan; it applies from the client's next request")
      .argument('<name>', 'the client')
      .addOption(choiceOption('--plan <plan>', 'the new plan', planNames).makeOptionMandatory()),
  )
    .option('--json', 'print one JSON object')
    .action(async (name: string, options: LimitOptions & { json?: boolean }) => {
      const limits = readLimits(options);
      await using dependencies = await openDependencies(config());
      const client = await setPlan(dependencies.db, name, limits);
      await settleClientChange(dependencies.redis, dependencies.redisKeys, client.id);
      const shown = withLimits(client);
      const { name: named, plan, perMinute, perDay, openOrders } = shown;
      if (options.json) printJson(shown);
      else printLines(`${named} is on the ${plan} plan: ${perMinute} requests per minute, ${perDay} per day, ${openOrders} open orders.`);
    });

  const suspension = [
    {
      command: 'suspend',
      isSuspended: true,
      description: 'reject every key of a client with 403, stop sending to its endpoints, and close its streams',
    },
    { command: 'resume', isSuspended: false, description: 'end a suspension' },
  ] as const;
  for (const { command, isSuspended, description } of suspension) {
    clients
      .command(command)
      .description(description)
      .argument('<name>', 'the client')
      .option(...withoutJournalOption)
      .option('--yes', 'do not ask on a terminal')
      .option('--json', 'print one JSON object')
      .action(async (name: string, { yes, json, ...options }: { yes?: boolean; json?: boolean } & JournalOptions) => {
        await using dependencies = await openDependencies(config());
        const journal = await openCommandJournal(dependencies, options);
        const { id } = await getClientByName(dependencies.db, name);
        if (isSuspended) await confirm({ target: `Every key and endpoint of ${named(name, id)}`, question: 'Suspend them?', yes, json });
        const { client, isJournaled } = await setSuspended(dependencies.db, journal, name, isSuspended);
        await settleClientChange(dependencies.redis, dependencies.redisKeys, client.id);
        if (!isJournaled) reportMissingLine(dependencies.config);
        if (json) printJson({ id: client.id, name: client.name, suspendedAt: client.suspendedAt, everywhere: true });
        else printLines(isSuspended ? `${client.name} is suspended.` : `The suspension of ${client.name} has ended.`);
      });
  }
}

/** Adds the limits that apply to the client: those of its plan, or its own. */
function withLimits<C extends Client>({ openOrdersMax, newCategoriesMax, ...client }: C) {
  const { openOrders, newCategoriesPerDay } = boundsOf({ ...client, openOrdersMax, newCategoriesMax });
  return { ...client, ...quotaOf(client), openOrders, newCategoriesPerDay };
}
