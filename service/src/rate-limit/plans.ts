export interface Quota {
  readonly perMinute: number;
  /** Undefined: no day window (requests without a valid key are limited by the minute alone). */
  readonly perDay: number | undefined;
}

export const planNames = ['free', 'pro', 'business', 'enterprise'] as const;
export type PlanName = (typeof planNames)[number];

/** Enterprise has no row: its limits stand in the client's own record. */
const planQuotas: Record<Exclude<PlanName, 'enterprise'>, Quota> = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
};

export function quotaOf(client: { plan: PlanName; perMinute: number | null; perDay: number | null }): Quota {
  if (client.plan !== 'enterprise') return planQuotas[client.plan];
  if (client.perMinute === null || client.perDay === null) throw new Error('an enterprise client without limits');
  return { perMinute: client.perMinute, perDay: client.perDay };
}

/** What an address may send without a valid key. */
export const addressQuota: Quota = { perMinute: 60, perDay: undefined };

export const banLengthsMinutes = [1, 5, 15, 60] as const;

const strikesMin = 30;
export const strikesUntilBan = (quota: Quota) => Math.max(strikesMin, quota.perMinute);
