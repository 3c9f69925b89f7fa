import type { Command } from 'commander';
import type { Terms } from '../clients/clients.ts';
import { type PlanName, planBounds, planNames } from '../rate-limit/plans.ts';
import { parseCount, UsageError } from './output.ts';

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
