import type { Command } from 'commander';
import { settleClientChange } from '../../access/clients/client-changes.ts';
import { type Client, findClientByName, findClientNames, listClients } from '../../access/clients/client-queries.ts';
import { setPlan, setSuspended, type Terms } from '../../access/clients/clients.ts';
import { boundsOf, type PlanName, planBounds, planNames, quotaOf } from '../../access/rate-limit/plans.ts';
import type { ReadConfig } from '../../platform/config.ts';
import type { Db } from '../../platform/db/handles.ts';
import {
  commandAuthor,
  type JournalOptions,
  openCommandJournal,
  reportMissingLine,
  withoutJournalOption,
} from '../terminal/command-records.ts';
import { type ConfirmOptions, confirm, named, UsageError } from '../terminal/output.ts';
import { addListAction, choiceOption, limitMax, onStore, parseCount, yesOption } from '../terminal/store-command.ts';

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
    onStore(suspend, config, (name: string, options: ConfirmOptions & JournalOptions) => async (dependencies) => {
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

export interface LimitOptions {
  readonly plan: PlanName;
  readonly perMinute?: number;
  readonly perDay?: number;
  readonly openOrders?: number;
  readonly newCategories?: number;
}

/** Limits that are set for each enterprise client. */
export const addLimitOptions = (command: Command): Command =>
  command
    .option('--per-minute <n>', 'requests per minute (enterprise)', parseCount)
    .option('--per-day <n>', 'requests per day (enterprise)', parseCount)
    .option('--open-orders <n>', `open orders at once (enterprise; ${planBounds.enterprise.openOrders} unless set)`, parseCount)
    .option(
      '--new-categories <n>',
      `new categories per day (enterprise; ${planBounds.enterprise.newCategoriesPerDay} unless set)`,
      parseCount,
    );

/** Undefined without a plan: the client exists, and keeps its plan. */
export function readLimitsIfGiven({ plan, ...limits }: Partial<LimitOptions>): Terms | undefined {
  if (plan !== undefined) return readLimits({ plan, ...limits });
  if (hasOwnLimits(limits)) throw new UsageError('--per-minute, --per-day, --open-orders and --new-categories need --plan enterprise.');
  return undefined;
}

function readLimits({ plan, ...limits }: LimitOptions): Terms {
  if (plan !== 'enterprise') {
    if (!hasOwnLimits(limits)) return { plan, perMinute: null, perDay: null };
    throw new UsageError(
      `The limits of the plan ${plan} are fixed. Only enterprise takes --per-minute, --per-day, --open-orders and --new-categories.`,
    );
  }
  const { perMinute, perDay, openOrders = null, newCategories = null } = limits;
  if (perMinute === undefined || perDay === undefined) throw new UsageError('The plan enterprise needs both --per-minute and --per-day.');
  return { plan, perMinute, perDay, openOrdersMax: openOrders, newCategoriesMax: newCategories };
}

const hasOwnLimits = ({ perMinute, perDay, openOrders, newCategories }: Omit<LimitOptions, 'plan'>) =>
  [perMinute, perDay, openOrders, newCategories].some((one) => one !== undefined);

export async function getClientByName(db: Db, name: string): Promise<Client> {
  const client = await findClientByName(db, name);
  if (!client) throw new UsageError(`There is no client "${name}". 'homeward clients list' lists all.`);
  return client;
}

/** The names of the clients of these rows, by id. */
export const clientNamesOf = (db: Db, rows: ReadonlyArray<{ readonly clientId: bigint }>): Promise<Map<bigint, string>> =>
  findClientNames(
    db,
    rows.map(({ clientId }) => clientId),
  );
