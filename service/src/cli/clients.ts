import type { Command } from 'commander';
import { settleClientChange } from '../partners/clients/client-changes.ts';
import { type Client, listClients } from '../partners/clients/client-queries.ts';
import { setPlan, setSuspended } from '../partners/clients/clients.ts';
import { boundsOf, planNames, quotaOf } from '../partners/rate-limit/plans.ts';
import type { ReadConfig } from '../platform/config.ts';
import { getClientByName } from './clients-by-name.ts';
import { commandAuthor } from './command-author.ts';
import { type JournalOptions, openCommandJournal, reportMissingLine, withoutJournalOption } from './command-journal.ts';
import { addLimitOptions, type LimitOptions, readLimits } from './limit-options.ts';
import { addListAction, limitMax } from './list-command.ts';
import { named } from './names.ts';
import { choiceOption } from './option-values.ts';
import { type Asked, confirm } from './output.ts';
import { onStore, yesOption } from './store-command.ts';

export function addClientCommands(program: Command, config: ReadConfig): void {
  const clients = program.command('clients').description('list clients, change their plans, suspend and resume them');

  const list = clients.command('list').description('list clients with their plans and their number of active keys');
  addListAction(list, config, {
    what: 'clients',
    limitDefault: limitMax,
    find: async ({ db }, { afterId, limit }) => ({ found: (await listClients(db, afterId, limit)).map(withLimits) }),
    columns: ({ id, name, plan, perMinute, perDay, openOrders, keys, suspendedAt }) => ({
      id,
      name,
      plan,
      'per minute': perMinute,
      'per day': perDay,
      'open orders': openOrders,
      keys,
      suspended: suspendedAt,
    }),
    leastImportant: ['open orders', 'per day', 'per minute'],
  });

  const setPlanCommand = addLimitOptions(
    clients
      .command('set-plan')
      .description("change a client's plan; it applies from the client's next request")
      .argument('<name>', 'the client')
      .addOption(choiceOption('--plan <plan>', 'the new plan', planNames).makeOptionMandatory()),
  );
  onStore(setPlanCommand, config, (name: string, options: LimitOptions) => {
    const limits = readLimits(options);
    return async ({ db, redis, redisKeys }) => {
      const client = await setPlan(db, commandAuthor(), name, limits);
      await settleClientChange(redis, redisKeys, client.id);
      const json = withLimits(client);
      const { plan, perMinute, perDay, openOrders } = json;
      const text = `${client.name} is on the ${plan} plan: ${perMinute} requests per minute, ${perDay} per day, ${openOrders} open orders.`;
      return { json, text };
    };
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
    const suspend = clients
      .command(command)
      .description(description)
      .argument('<name>', 'the client')
      .option(...withoutJournalOption)
      .option(...yesOption);
    onStore(suspend, config, (name: string, options: Asked & JournalOptions) => async (dependencies) => {
      const { db, redis, redisKeys } = dependencies;
      const journal = await openCommandJournal(dependencies, options);
      const { id } = await getClientByName(db, name);
      if (isSuspended) await confirm(`Every key and endpoint of ${named(name, id)}`, 'Suspend them?', options);
      const { client, isJournaled } = await setSuspended(db, journal, commandAuthor(), name, isSuspended);
      await settleClientChange(redis, redisKeys, id);
      if (!isJournaled) reportMissingLine(dependencies.config);
      return {
        json: { id, name: client.name, suspendedAt: client.suspendedAt, everywhere: true },
        text: isSuspended ? `${client.name} is suspended.` : `The suspension of ${client.name} has ended.`,
      };
    });
  }
}

/** Adds the limits that apply to the client: those of its plan, or its own. */
function withLimits<C extends Client>({ openOrdersMax, newCategoriesMax, ...client }: C) {
  const { openOrders, newCategoriesPerDay } = boundsOf({ ...client, openOrdersMax, newCategoriesMax });
  return { ...client, ...quotaOf(client), openOrders, newCategoriesPerDay };
}
