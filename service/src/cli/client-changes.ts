import { renewEpoch } from '../clients/client-epochs.ts';
import type { Limits } from '../clients/clients.ts';
import type { Dependencies } from '../dependencies.ts';
import { type PlanName, planNames } from '../rate-limit/plans.ts';
import { parseCount, UsageError } from './output.ts';

/** Tells the processes that the client has changed. */
export async function announce({ redis, names }: Dependencies, clientId: bigint): Promise<boolean> {
  const told = await renewEpoch(redis, names, clientId);
  if (!told)
    console.error('homeward: Redis did not answer. The change is made; a process that still reaches Redis may take up to 10 s to see it.');
  return told;
}

export function readLimits(options: { plan: string; perMinute?: string; perDay?: string }): Limits {
  const plan = planNames.find((name): name is PlanName => name === options.plan);
  if (!plan) throw new UsageError(`--plan must be one of ${planNames.join(', ')}; got "${options.plan}".`);
  const own = options.perMinute !== undefined || options.perDay !== undefined;
  if (plan !== 'enterprise') {
    if (own) throw new UsageError(`The limits of the plan ${plan} are fixed; only enterprise takes --per-minute and --per-day.`);
    return { plan, perMinute: null, perDay: null };
  }
  if (options.perMinute === undefined || options.perDay === undefined)
    throw new UsageError('The plan enterprise needs both --per-minute and --per-day.');
  return { plan, perMinute: parseCount(options.perMinute), perDay: parseCount(options.perDay) };
}
