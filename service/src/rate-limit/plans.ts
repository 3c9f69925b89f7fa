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

/** What one client may have open or start at once, whatever its requests would allow. The error that refuses more names the bound and the count. */
export interface Bounds {
  readonly openOrders: number;
  /** Of one adopter's e-mail address within the client. */
  readonly openOrdersOfAdopter: number;
  /** Categories that it may register in a UTC day. */
  readonly newCategoriesPerDay: number;
  readonly webhooks: number;
  /** At one process. */
  readonly streams: number;
  /** Streams that read pages of the feed at the same time, at one process; further ones wait. */
  readonly catchUps: number;
}

const boundsOfAll = { openOrdersOfAdopter: 3, webhooks: 20, streams: 100, catchUps: 2 };

/** An enterprise client's record may hold others in place of the first two. */
export const planBounds: Record<PlanName, Bounds> = {
  free: { openOrders: 20, newCategoriesPerDay: 20, ...boundsOfAll },
  pro: { openOrders: 100, newCategoriesPerDay: 100, ...boundsOfAll },
  business: { openOrders: 500, newCategoriesPerDay: 500, ...boundsOfAll },
  enterprise: { openOrders: 10_000, newCategoriesPerDay: 10_000, ...boundsOfAll },
};

export function boundsOf(client: { plan: PlanName; openOrdersMax?: number | null; newCategoriesMax?: number | null }): Bounds {
  const bounds = planBounds[client.plan];
  return {
    ...bounds,
    openOrders: client.openOrdersMax ?? bounds.openOrders,
    newCategoriesPerDay: client.newCategoriesMax ?? bounds.newCategoriesPerDay,
  };
}

/** What an address may send without a valid key. */
export const addressQuota: Quota = { perMinute: 60, perDay: undefined };

export const banLengthsMinutes = [1, 5, 15, 60] as const;

const strikesMin = 30;
export const strikesUntilBan = (quota: Quota) => Math.max(strikesMin, quota.perMinute);
