export interface Quota {
  readonly perMinute: number;
  /** Undefined: no limit per day. Requests without a valid key are only limited per minute. */
  readonly perDay: number | undefined;
}

export const planNames = ['free', 'pro', 'business', 'enterprise'] as const;
export type PlanName = (typeof planNames)[number];

/** Enterprise is not listed: its limits are in the client's record. */
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

/** Limits of a client other than its requests. The error for an exceeded limit says the limit and the count. */
export interface Bounds {
  readonly openOrders: number;
  /** Open orders for one adopter's e-mail address, per client. */
  readonly openOrdersOfAdopter: number;
  /** Open applications. As many more may be unconfirmed, and as many adopters are asked for confirmation in a UTC day. */
  readonly openApplications: number;
  /** Open applications of one adopter's e-mail address, per client. */
  readonly openApplicationsOfAdopter: number;
  /** New categories in a UTC day. */
  readonly newCategoriesPerDay: number;
  /** Photos sent in a UTC day, in millions of bytes. */
  readonly photoMegabytesPerDay: number;
  /** Files of photos that are stored, in billions of bytes. */
  readonly photoStorageGigabytes: number;
  readonly webhooks: number;
  /** Per process. */
  readonly streams: number;
  /** Streams that catch up by reading pages of the feed at the same time, per process. Others wait. */
  readonly catchUps: number;
}

const boundsOfAll = { openOrdersOfAdopter: 3, openApplicationsOfAdopter: 5, webhooks: 20, streams: 100, catchUps: 2 };

/** An enterprise client's record may override the first two. */
export const planBounds: Record<PlanName, Bounds> = {
  free: {
    openOrders: 20,
    openApplications: 1_000,
    newCategoriesPerDay: 20,
    photoMegabytesPerDay: 1_000,
    photoStorageGigabytes: 2,
    ...boundsOfAll,
  },
  pro: {
    openOrders: 100,
    openApplications: 5_000,
    newCategoriesPerDay: 100,
    photoMegabytesPerDay: 5_000,
    photoStorageGigabytes: 20,
    ...boundsOfAll,
  },
  business: {
    openOrders: 500,
    openApplications: 20_000,
    newCategoriesPerDay: 500,
    photoMegabytesPerDay: 25_000,
    photoStorageGigabytes: 200,
    ...boundsOfAll,
  },
  enterprise: {
    openOrders: 10_000,
    openApplications: 100_000,
    newCategoriesPerDay: 10_000,
    photoMegabytesPerDay: 500_000,
    photoStorageGigabytes: 2_000,
    ...boundsOfAll,
  },
};

export function boundsOf(client: { plan: PlanName; openOrdersMax?: number | null; newCategoriesMax?: number | null }): Bounds {
  const bounds = planBounds[client.plan];
  if (client.openOrdersMax == null && client.newCategoriesMax == null) return bounds;
  return {
    ...bounds,
    openOrders: client.openOrdersMax ?? bounds.openOrders,
    newCategoriesPerDay: client.newCategoriesMax ?? bounds.newCategoriesPerDay,
  };
}

/** What an address may ask for without a key or a session: each purpose has a count of its own, so that wrong keys take nothing from signing in. */
export const addressQuotas = {
  /** Requests to the API without a valid key, and the rate-limit headers of what is not counted. */
  api: { perMinute: 60, perDay: undefined },
  /** Signing in to the console, and everything else that it is asked by nobody who is signed in. */
  signIn: { perMinute: 60, perDay: undefined },
  /** Ending sessions and rights in the console, whatever its person has used up. */
  endings: { perMinute: 60, perDay: undefined },
  /** The pages of adopters. */
  adopterPages: { perMinute: 60, perDay: undefined },
} as const satisfies Record<string, Quota>;

/** What a person may do in the console, over all sessions and processes. */
export const personQuotas = {
  /** Pages, forms and calls of scripts; not the files of pages, nor photos that are shown. */
  requests: { perMinute: 240, perDay: undefined },
  /** Forms and uploads, whatever becomes of them. Each is a request too. */
  acts: { perMinute: 60, perDay: 5_000 },
} as const satisfies Record<string, Quota>;

/** Whose quota it is: that of a plan, of an address, or of a person. */
export const quotaOwners = [...planNames, 'none', 'person'] as const;
export type QuotaOwner = (typeof quotaOwners)[number];

const owners = new Map<Quota, QuotaOwner>([
  ...(['free', 'pro', 'business'] as const).map((name) => [planQuotas[name], name] as const),
  ...Object.values(addressQuotas).map((quota) => [quota, 'none'] as const),
  ...Object.values(personQuotas).map((quota) => [quota, 'person'] as const),
]);

/** All clients of a plan share one quota, except of enterprise. */
export const ownerOf = (quota: Quota): QuotaOwner => owners.get(quota) ?? 'enterprise';

export const banLengthsMinutes = [1, 5, 15, 60] as const;

const strikesMin = 30;
export const strikesUntilBan = (quota: Quota) => Math.max(strikesMin, quota.perMinute);

export const minuteMs = 60_000;
export const dayMs = 86_400_000;

/** One request, counted against one subject: a client or an address. */
export interface Charge {
  readonly subject: string;
  readonly quota: Quota;
  /** 0: read the counts without adding to them. */
  readonly cost: 0 | 1;
  /** Only for a client: its key can be banned, and its cache entry can be stale. */
  readonly key?: { readonly id: bigint; readonly epoch: string | undefined };
}

/** The requests used in the current UTC minute and UTC day. Windows are numbered from the Unix epoch. */
export interface Counts {
  readonly minute: number;
  readonly inMinute: number;
  readonly day: number;
  readonly inDay: number;
}

export type ChargeOutcome = 'admitted' | 'minute' | 'day' | 'banned';

export interface Verdict extends Counts {
  readonly outcome: ChargeOutcome;
  readonly nowMs: number;
  /** Undefined while Redis is lost: strikes are counted only there. */
  readonly strikes: number | undefined;
  readonly bannedUntilMs: number;
  /** The number of recent bans of the key, which sets the length of the next one. */
  readonly banLevel: number;
}

/** The counts at `nowMs`. A window that has ended counts nothing. */
export function countsAt(nowMs: number, known: Counts | undefined): Counts {
  const minute = Math.floor(nowMs / minuteMs);
  const day = Math.floor(nowMs / dayMs);
  return {
    minute: Math.max(minute, known?.minute ?? 0),
    inMinute: known && known.minute >= minute ? known.inMinute : 0,
    day: Math.max(day, known?.day ?? 0),
    inDay: known && known.day >= day ? known.inDay : 0,
  };
}

/** The later state of two: within a window, a count only grows. */
export function laterCounts(one: Counts, other: Counts): Counts {
  const { minute, inMinute } = (one.minute - other.minute || one.inMinute - other.inMinute) >= 0 ? one : other;
  const { day, inDay } = (one.day - other.day || one.inDay - other.inDay) >= 0 ? one : other;
  return { minute, inMinute, day, inDay };
}

/** Adds or subtracts the counts of the same windows; those of other windows are ignored. */
export const combine = (counts: Counts, other: Counts | undefined, sign: 1 | -1): Counts => ({
  ...counts,
  inMinute: Math.max(counts.inMinute + (other?.minute === counts.minute ? sign * other.inMinute : 0), 0),
  inDay: Math.max(counts.inDay + (other?.day === counts.day ? sign * other.inDay : 0), 0),
});

/** The time until the window or ban that rejected the request ends; 0: the request was admitted. */
export function msUntilAdmitted({ outcome, nowMs, minute, day, bannedUntilMs }: Verdict): number {
  const endMs = { admitted: nowMs, minute: (minute + 1) * minuteMs, day: (day + 1) * dayMs, banned: bannedUntilMs }[outcome];
  return Math.max(endMs - nowMs, outcome === 'admitted' ? 0 : 1);
}

/** The rule that consume.lua applies in Redis, for a process that decides without Redis. */
export function decide(counts: Counts, quota: Quota, cost: number): { outcome: 'admitted' | 'minute' | 'day'; counts: Counts } {
  if (quota.perDay !== undefined && counts.inDay + cost > quota.perDay) return { outcome: 'day', counts };
  if (counts.inMinute + cost > quota.perMinute) return { outcome: 'minute', counts };
  return { outcome: 'admitted', counts: { ...counts, inMinute: counts.inMinute + cost, inDay: counts.inDay + cost } };
}
