// A model of the limiter for sequential requests.
import type { Response } from '../../testkit/http.ts';

export interface ModelQuota {
  readonly perMinute: number;
  readonly perDay?: number;
}

interface Account {
  minute: number;
  inMinute: number;
  day: number;
  inDay: number;
}

interface Shown {
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

export class ModelLimiter {
  readonly #accounts = new Map<string, Account>();

  /**
   * The expected decision on a request that was decided between `sentMs` and `receivedMs` on the store's clock: whether it is
   * admitted, and the values of its headers. A cost of 0 reads the counts without changing them.
   */
  charge(
    subject: string,
    quota: ModelQuota,
    cost: 0 | 1,
    response: Response,
    sentMs: number,
    receivedMs: number,
  ): { admitted: boolean; shown: Shown } {
    const account = this.#at(subject, quota, response, sentMs, receivedMs);
    const fits = account.inMinute + cost <= quota.perMinute && account.inDay + cost <= (quota.perDay ?? Number.POSITIVE_INFINITY);
    if (fits) {
      account.inMinute += cost;
      account.inDay += cost;
    }
    return { admitted: fits, shown: shownOf(account, quota) };
  }

  /** Takes over the counts of the response when exact limits are not promised: Redis was late, because the machine was busy. */
  adopt(subject: string, quota: ModelQuota, response: Response): void {
    const account = this.#accounts.get(subject);
    const { minute, day } = remainingOf(response);
    if (!account) return;
    account.inMinute = quota.perMinute - minute;
    if (quota.perDay !== undefined) account.inDay = quota.perDay - day;
  }

  #at(subject: string, quota: ModelQuota, response: Response, sentMs: number, receivedMs: number): Account {
    const account = this.#accounts.get(subject) ?? { minute: 0, inMinute: 0, day: 0, inDay: 0 };
    this.#accounts.set(subject, account);
    const minute = minuteOf(response, quota, sentMs, receivedMs);
    if (minute > account.minute) Object.assign(account, { minute, inMinute: 0 });
    const day = Math.floor((minute * minuteMs) / dayMs);
    if (day > account.day) Object.assign(account, { day, inDay: 0 });
    return account;
  }
}

/** If a minute ends between the request and the response, the response shows in which of the two it was decided. */
function minuteOf(response: Response, { perMinute }: ModelQuota, sentMs: number, receivedMs: number): number {
  const [first, last] = [Math.floor(sentMs / minuteMs), Math.floor(receivedMs / minuteMs)];
  const reset = Number(response.headers['x-ratelimit-reset']) / 60 - 1;
  if (reset >= first && reset <= last) return reset;
  return first === last || remainingOf(response).minute < perMinute - 1 ? first : last;
}

/** From the RateLimit header, which has both windows: `"minute";r=59;t=12, "day";r=998;t=40000`. */
export function remainingOf(response: Response): { minute: number; day: number } {
  const of = (window: string) => Number(new RegExp(`"${window}";r=(\\d+);t=\\d+`).exec(String(response.headers['ratelimit']))?.[1]);
  return { minute: of('minute'), day: of('day') };
}

/** The window with fewer remaining; on a tie, the day. */
function shownOf({ minute, inMinute, day, inDay }: Account, { perMinute, perDay }: ModelQuota): Shown {
  const minuteShown = { limit: perMinute, remaining: perMinute - inMinute, resetSeconds: (minute + 1) * 60 };
  if (perDay === undefined || perDay - inDay > minuteShown.remaining) return minuteShown;
  return { limit: perDay, remaining: perDay - inDay, resetSeconds: ((day + 1) * dayMs) / 1_000 };
}
