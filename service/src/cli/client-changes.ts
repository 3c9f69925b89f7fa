import type { Command } from 'commander';
import { replaceEpoch } from '../clients/client-epochs.ts';
import type { Terms } from '../clients/clients.ts';
import type { Dependencies } from '../dependencies.ts';
import { type PlanName, planBounds, planNames } from '../rate-limit/plans.ts';
import { parseCount, printProblem, UsageError } from './output.ts';

/** Notifies all processes, through Redis, that the client has changed. */
export async function announce({ redis, redisKeys }: Dependencies, clientId: bigint): Promise<boolean> {
  const isAnnounced = await replaceEpoch(redis, redisKeys, clientId);
  if (!isAnnounced) {
    printProblem('Redis did not respond. The change is stored; a process that still reaches Redis may take up to 10 s to apply it.');
  }
  return isAnnounced;
}

export interface LimitOptions {
  readonly plan: string;
  readonly perMinute?: string;
  readonly perDay?: string;
  readonly openOrders?: string;
  readonly newCategories?: string;
}

/** Limits that are set for each enterprise client. */
export const addLimitOptions = (command: Command): Command =>
  command
    .option('--per-minute <n>', 'requests per minute (enterprise)')
    .option('--per-day <n>', 'requests per day (enterprise)')
    .option('--open-orders <n>', `open orders at once (enterprise; ${planBounds.enterprise.openOrders} unless set)`)
    .option('--new-categories <n>', `new categories per day (enterprise; ${planBounds.enterprise.newCategoriesPerDay} unless set)`);

/** Undefined without a plan: the client exists, and keeps its plan. */
export function readLimitsIfGiven({ plan, ...limits }: Partial<LimitOptions>): Terms | undefined {
  if (plan !== undefined) return readLimits({ plan, ...limits });
  const { perMinute, perDay, openOrders, newCategories } = limits;
  if ([perMinute, perDay, openOrders, newCategories].some((one) => one !== undefined)) {
    throw new UsageError('--per-minute, --per-day, --open-orders and --new-categories need --plan enterprise.');
  }
  return undefined;
}

export function readLimits(options: LimitOptions): Terms {
  const plan = planNames.find((name): name is PlanName => name === options.plan);
  if (!plan) throw new UsageError(`--plan must be one of ${planNames.join(', ')}; got "${options.plan}".`);
  const { perMinute, perDay, openOrders, newCategories } = options;
  if (plan !== 'enterprise') {
    const hasOwnLimits = [perMinute, perDay, openOrders, newCategories].some((one) => one !== undefined);
    if (hasOwnLimits) {
      throw new UsageError(
        `The limits of the plan ${plan} are fixed. Only enterprise takes --per-minute, --per-day, --open-orders and --new-categories.`,
      );
    }
    return { plan, perMinute: null, perDay: null };
  }
  if (perMinute === undefined || perDay === undefined) throw new UsageError('The plan enterprise needs both --per-minute and --per-day.');
  return {
    plan,
    perMinute: parseCount(perMinute),
    perDay: parseCount(perDay),
    openOrdersMax: openOrders === undefined ? null : parseCount(openOrders),
    newCategoriesMax: newCategories === undefined ? null : parseCount(newCategories),
  };
}
