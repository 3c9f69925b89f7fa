import type { HomewardError } from './errors.ts';
import { type RateLimit, readRateLimit, secondsLeft } from './rate-limit.ts';

export interface Pace {
  readonly rateLimit: RateLimit | undefined;
  /**
   * Resolves when the caller may send a request: first come, first served, but retries go first. Call `leave` after each request.
   * Rejects with the error of the last 429 if its Retry-After ends after `deadlineMs`.
   */
  enter(turn: { deadlineMs: number; signal: AbortSignal | undefined; isRetry: boolean }): Promise<void>;
  leave(headers: Headers | undefined): void;
  /** After a 429: no request is sent until its Retry-After has passed. */
  close(error: HomewardError): void;
}

interface PendingCall {
  readonly deadlineMs: number;
  admit(): void;
  reject(reason: unknown): void;
}

/**
 * The number of connections that a browser opens to one host. Beyond that the browser queues requests itself; after a 429 they
 * could not be held back, and each would count as a strike.
 */
const inFlightMax = 6;
const jitterMs = 1_000;

/**
 * The gate that all calls of an instance pass, so that together they stay within the rate limit and never cause a ban.
 * Closed: after a 429, no request is sent until its Retry-After has passed. Used up: the requests in flight may take all that the
 * window has remaining, so calls wait until it ends. Open: up to `inFlightMax` requests are in flight.
 */
export function createPace(): Pace {
  let rateLimit: RateLimit | undefined;
  let windowEndsAtMs = 0;
  let closedUntilMs = 0;
  let closedBy: HomewardError | undefined;
  let inFlight = 0;
  let queue: PendingCall[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Admits as many calls as may be sent now, and sets a timer for when more may be sent. */
  const advance = () => {
    clearTimeout(timer);
    const now = Date.now();
    if (now < closedUntilMs) {
      for (const { deadlineMs, reject } of queue) if (deadlineMs < closedUntilMs) reject(closedBy);
      if (queue.length > 0) advanceAt(closedUntilMs);
      return;
    }
    for (const next of [...queue]) {
      if (inFlight >= inFlightMax) return;
      // Requests in flight may use up what remains. If the wait would exceed the deadline, send anyway: the store's 429 says why.
      const isUsedUp = rateLimit !== undefined && inFlight >= rateLimit.remaining && now < windowEndsAtMs;
      if (isUsedUp && windowEndsAtMs <= next.deadlineMs) return advanceAt(windowEndsAtMs);
      inFlight += 1;
      next.admit();
    }
  };
  const advanceAt = (timeMs: number) => {
    timer = setTimeout(advance, timeMs - Date.now() + Math.random() * jitterMs);
  };

  return {
    get rateLimit() {
      return rateLimit;
    },
    enter({ deadlineMs, signal, isRetry }) {
      return new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const settle =
          <T>(how: (value: T) => void) =>
          (value: T) => {
            queue = queue.filter((one) => one !== pending);
            signal?.removeEventListener('abort', abort);
            how(value);
          };
        const pending: PendingCall = { deadlineMs, admit: settle<void>(resolve), reject: settle(reject) };
        const abort = () => pending.reject(signal?.reason);
        signal?.addEventListener('abort', abort);
        queue = isRetry ? [pending, ...queue] : [...queue, pending];
        advance();
      });
    },
    leave(headers) {
      inFlight -= 1;
      const seen = headers && readRateLimit(headers);
      if (seen) {
        // Responses may arrive out of order: within a window the lowest count is the latest.
        const isSameWindow = rateLimit?.resetAt.getTime() === seen.resetAt.getTime();
        if (!isSameWindow || seen.remaining < (rateLimit?.remaining ?? 0)) rateLimit = seen;
        windowEndsAtMs = Date.now() + secondsLeft(headers, seen.remaining) * 1_000;
      }
      advance();
    },
    close(error) {
      closedBy = error;
      closedUntilMs = Math.max(closedUntilMs, Date.now() + (error.retryAfterSeconds ?? 1) * 1_000);
      advance();
    },
  };
}
