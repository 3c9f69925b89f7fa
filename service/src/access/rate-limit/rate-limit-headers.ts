import { AppError } from '../../platform/errors.ts';
import { banLengthsMinutes, dayMs, minuteMs, type Quota, strikesUntilBan, type Verdict } from './plans.ts';

interface Window {
  readonly name: 'minute' | 'day';
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
  readonly lengthSeconds: number;
}

export type RateLimitHeaders = Record<
  'x-ratelimit-limit' | 'x-ratelimit-remaining' | 'x-ratelimit-reset' | 'ratelimit-policy' | 'ratelimit',
  string
>;

/** `X-RateLimit-*` describes the window with fewer requests remaining. The IETF fields describe both. */
export function rateLimitHeaders(verdict: Verdict, quota: Quota): RateLimitHeaders {
  const [minute, day] = windowsOf(verdict, quota);
  const shown = tightest([minute, day]);
  const banned = verdict.outcome === 'banned';
  return {
    'x-ratelimit-limit': String(shown.limit),
    'x-ratelimit-remaining': String(banned ? 0 : shown.remaining),
    'x-ratelimit-reset': String(Math.ceil((banned ? verdict.bannedUntilMs : shown.resetMs) / 1_000)),
    'ratelimit-policy': policiesOf(quota, minute, day),
    ratelimit: day ? `${stateOf(minute, verdict)}, ${stateOf(day, verdict)}` : stateOf(minute, verdict),
  };
}

const policies = new WeakMap<Quota, string>();

/** Made once for each quota: all clients of a plan share one. */
function policiesOf(quota: Quota, minute: Window, day: Window | undefined): string {
  const known = policies.get(quota);
  if (known) return known;
  const text = day ? `${policyOf(minute)}, ${policyOf(day)}` : policyOf(minute);
  policies.set(quota, text);
  return text;
}

const policyOf = ({ name, limit, lengthSeconds }: Window) => `"${name}";q=${limit};w=${lengthSeconds}`;

const stateOf = ({ name, remaining, resetMs }: Window, { outcome, nowMs }: Verdict) =>
  `"${name}";r=${outcome === 'banned' ? 0 : remaining};t=${Math.ceil((resetMs - nowMs) / 1_000)}`;

/** The 429 for a client: which window is exhausted, how long to wait, and how many requests are left before a ban. */
export function clientLimitError(verdict: Verdict, quota: Quota, plan: string): AppError {
  const strikesMax = strikesUntilBan(quota);
  if (verdict.outcome === 'banned') {
    const until = new Date(verdict.bannedUntilMs).toISOString().slice(11, 19);
    const retry = retryAfter(verdict, verdict.bannedUntilMs);
    return new AppError(
      'api_key_banned',
      `Banned until ${until} UTC: this key sent ${strikesMax} requests without waiting for Retry-After. Wait ${retry} s. Requests during the ban do not extend it.`,
      { headers: { 'retry-after': retry, 'x-ratelimit-strikes-remaining': '0' } },
    );
  }
  const window = tightest(windowsOf(verdict, quota));
  const retry = retryAfter(verdict, window.resetMs);
  const strikesLeft = Math.max(strikesMax - (verdict.strikes ?? 0), 0);
  const banMinutes = banLengthsMinutes[Math.min(verdict.banLevel, banLengthsMinutes.length - 1)] ?? 1;
  const warning =
    window.name === 'minute' && verdict.strikes !== undefined
      ? ` If you send ${strikesLeft} more requests before then, this key is banned for ${banMinutes} ${banMinutes === 1 ? 'minute' : 'minutes'}.`
      : '';
  const period = window.name === 'minute' ? 'this minute' : 'today (UTC)';
  const used = window.limit - window.remaining;
  return new AppError(
    'rate_limit_exceeded',
    `${used} of ${window.limit} requests used ${period} (${capitalised(plan)} plan). Wait ${retry} s.${warning}`,
    {
      headers: { 'retry-after': retry, 'x-ratelimit-strikes-remaining': String(strikesLeft) },
    },
  );
}

/** The 429 for an address that sends requests without a valid key. */
export function addressLimitError(verdict: Verdict, quota: Quota): AppError {
  const window = tightest(windowsOf(verdict, quota));
  const retry = retryAfter(verdict, window.resetMs);
  const message = `${window.limit} of ${window.limit} requests without a valid key used this minute from this address. Wait ${retry} s, or send a valid key.`;
  return new AppError('rate_limit_exceeded', message, { headers: { 'retry-after': retry } });
}

function windowsOf(verdict: Verdict, quota: Quota): [minute: Window, day?: Window | undefined] {
  const minute: Window = {
    name: 'minute',
    limit: quota.perMinute,
    remaining: Math.max(quota.perMinute - verdict.inMinute, 0),
    resetMs: (verdict.minute + 1) * minuteMs,
    lengthSeconds: minuteMs / 1_000,
  };
  if (quota.perDay === undefined) return [minute];
  const day: Window = {
    name: 'day',
    limit: quota.perDay,
    remaining: Math.max(quota.perDay - verdict.inDay, 0),
    resetMs: (verdict.day + 1) * dayMs,
    lengthSeconds: dayMs / 1_000,
  };
  return [minute, day];
}

/** On a tie it is the day, which lasts longer. */
const tightest = ([minute, day]: [minute: Window, day?: Window | undefined]): Window =>
  day && day.remaining <= minute.remaining ? day : minute;

const retryAfter = (verdict: Verdict, untilMs: number) => String(Math.max(Math.ceil((untilMs - verdict.nowMs) / 1_000), 1));

const capitalised = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
