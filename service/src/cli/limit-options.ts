import type { Command } from 'commander';
import type { Terms } from '../partners/clients/clients.ts';
import { type PlanName, planBounds } from '../partners/rate-limit/plans.ts';
import { parseCount } from './option-values.ts';
import { UsageError } from './output.ts';

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

export function readLimits({ plan, ...limits }: LimitOptions): Terms {
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
