import { describe, expect, test } from 'vitest';
import { addressQuotas, dayMs, minuteMs, type Verdict } from '../../../src/access/rate-limit/plans.ts';
import { addressLimitError, clientLimitError, rateLimitHeaders } from '../../../src/access/rate-limit/rate-limit-headers.ts';

const nowMs = Date.parse('2026-12-01T12:00:10.500Z');
const free = { perMinute: 60, perDay: 1_000 };

const verdict = (changes: Partial<Verdict>): Verdict => ({
  outcome: 'admitted',
  nowMs,
  minute: Math.floor(nowMs / minuteMs),
  inMinute: 0,
  day: Math.floor(nowMs / dayMs),
  inDay: 0,
  strikes: 0,
  bannedUntilMs: 0,
  banLevel: 0,
  ...changes,
});

describe('rateLimitHeaders', () => {
  test('show the minute if fewer requests remain in it', () => {
    expect(rateLimitHeaders(verdict({ inMinute: 1, inDay: 1 }), free)).toEqual({
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '59',
      'x-ratelimit-reset': String(Date.parse('2026-12-01T12:01:00Z') / 1_000),
      'ratelimit-policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
      ratelimit: '"minute";r=59;t=50, "day";r=999;t=43190',
    });
  });

  test('show the day if fewer requests remain in it', () => {
    expect(rateLimitHeaders(verdict({ inMinute: 1, inDay: 990 }), free)).toMatchObject({
      'x-ratelimit-limit': '1000',
      'x-ratelimit-remaining': '10',
      'x-ratelimit-reset': String(Date.parse('2026-12-02T00:00:00Z') / 1_000),
    });
  });

  test('show the day on a tie', () => {
    expect(rateLimitHeaders(verdict({ inMinute: 10, inDay: 950 }), free)['x-ratelimit-limit']).toBe('1000');
  });

  test('show nothing below 0, as after a change to a smaller plan', () => {
    expect(rateLimitHeaders(verdict({ inMinute: 100, inDay: 100 }), free)['x-ratelimit-remaining']).toBe('0');
  });

  test('show only the minute without a limit per day', () => {
    expect(rateLimitHeaders(verdict({ inMinute: 1 }), addressQuotas.api)).toMatchObject({
      'ratelimit-policy': '"minute";q=60;w=60',
      ratelimit: '"minute";r=59;t=50',
    });
  });

  test('show nothing remaining until the end of a ban', () => {
    const bannedUntilMs = nowMs + 5 * minuteMs;
    expect(rateLimitHeaders(verdict({ outcome: 'banned', bannedUntilMs }), free)).toMatchObject({
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(Math.ceil(bannedUntilMs / 1_000)),
      ratelimit: '"minute";r=0;t=50, "day";r=0;t=43190',
    });
  });
});

describe('clientLimitError', () => {
  test('by the minute says the used requests, how long to wait, and when a ban of which length begins', () => {
    const error = clientLimitError(verdict({ outcome: 'minute', inMinute: 60, inDay: 60, strikes: 32, banLevel: 1 }), free, 'free');
    expect(error).toMatchObject({
      code: 'rate_limit_exceeded',
      message:
        '60 of 60 requests used this minute (Free plan). Wait 50 s. If you send 28 more requests before then, this key is banned for 5 minutes.',
      headers: { 'retry-after': '50', 'x-ratelimit-strikes-remaining': '28' },
    });
  });

  test('by the minute without Redis does not mention a ban, since strikes are not counted', () => {
    const error = clientLimitError(verdict({ outcome: 'minute', inMinute: 60, strikes: undefined }), free, 'free');
    expect(error.message).toBe('60 of 60 requests used this minute (Free plan). Wait 50 s.');
  });

  test('by the day says so, and does not mention a ban', () => {
    const error = clientLimitError(verdict({ outcome: 'day', inMinute: 3, inDay: 1_000 }), free, 'free');
    expect(error).toMatchObject({
      message: '1000 of 1000 requests used today (UTC) (Free plan). Wait 43190 s.',
      headers: { 'retry-after': '43190' },
    });
  });

  test('at the highest level announces the longest ban', () => {
    const error = clientLimitError(verdict({ outcome: 'minute', inMinute: 60, banLevel: 4 }), free, 'free');
    expect(error.message).toContain('this key is banned for 60 minutes.');
  });

  test('of a banned key says when the ban ends', () => {
    const error = clientLimitError(verdict({ outcome: 'banned', bannedUntilMs: nowMs + minuteMs }), free, 'free');
    expect(error).toMatchObject({
      code: 'api_key_banned',
      message:
        'Banned until 12:01:10 UTC: this key sent 60 requests without waiting for Retry-After. Wait 60 s. Requests during the ban do not extend it.',
      headers: { 'retry-after': '60', 'x-ratelimit-strikes-remaining': '0' },
    });
  });

  test('says to wait at least one second', () => {
    const atEnd = verdict({ outcome: 'minute', inMinute: 60, nowMs: (Math.floor(nowMs / minuteMs) + 1) * minuteMs });
    expect(clientLimitError(atEnd, free, 'free').headers['retry-after']).toBe('1');
  });
});

describe('addressLimitError', () => {
  test('says the used requests, how long to wait, and that a valid key helps', () => {
    expect(addressLimitError(verdict({ outcome: 'minute', inMinute: 60 }), addressQuotas.api)).toMatchObject({
      code: 'rate_limit_exceeded',
      message: '60 of 60 requests without a valid key used this minute from this address. Wait 50 s, or send a valid key.',
      headers: { 'retry-after': '50' },
    });
  });
});
