import type { HomewardError } from './errors.ts';
import { type RateLimit, readRateLimit, secondsLeft } from './rate-limit.ts';

export interface Pace {
  readonly rateLimit: RateLimit | undefined;
  /**
   * Resolves when a request may be sent, in the order of asking, a repeat first. Each that is sent must leave. Rejects with the
   * refusal where one lasts beyond `deadlineMs`.
   */
  enter(turn: { deadlineMs: number; signal: AbortSignal | undefined; isRepeat: boolean }): Promise<void>;
  leave(headers: Headers | undefined): void;
  /** After a 429: nothing is sent before its Retry-After has passed. */
  close(refusal: HomewardError): void;
}

interface Waiting {
  readonly deadlineMs: number;
  admit(): void;
  refuse(reason: unknown): void;
}

/**
 * As many as a browser opens connections to one host: with more, requests that nobody can call back would be waiting there
 * when a 429 comes, and each would be a strike.
 */
const inFlightMax = 6;
const jitterMs = 1_000;

/** What all calls of an instance share, so that together they keep to the limit and none earns a ban for the others. */
export function createPace(): Pace {
  let rateLimit: RateLimit | undefined;
  let windowEndsAtMs = 0;
  let closedUntilMs = 0;
  let closedBy: HomewardError | undefined;
  let inFlight = 0;
  let queue: Waiting[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Lets through as many as may be sent now, and comes back when more may. */
  const advance = () => {
    clearTimeout(timer);
    const now = Date.now();
    if (now < closedUntilMs) {
      for (const { deadlineMs, refuse } of queue) if (deadlineMs < closedUntilMs) refuse(closedBy);
      if (queue.length > 0) comeBackAt(closedUntilMs);
      return;
    }
    for (const next of [...queue]) {
      if (inFlight >= inFlightMax) return;
      // What is under way may use up what remains. Where the wait would be too long, the store's own 429 says why.
      const isUsedUp = rateLimit !== undefined && inFlight >= rateLimit.remaining && now < windowEndsAtMs;
      if (isUsedUp && windowEndsAtMs <= next.deadlineMs) return comeBackAt(windowEndsAtMs);
      inFlight += 1;
      next.admit();
    }
  };
  const comeBackAt = (timeMs: number) => {
    timer = setTimeout(advance, timeMs - Date.now() + Math.random() * jitterMs);
  };

  return {
    get rateLimit() {
      return rateLimit;
    },
    enter({ deadlineMs, signal, isRepeat }) {
      return new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const settle =
          <T>(how: (value: T) => void) =>
          (value: T) => {
            queue = queue.filter((one) => one !== waiting);
            signal?.removeEventListener('abort', abort);
            how(value);
          };
        const waiting: Waiting = { deadlineMs, admit: settle<void>(resolve), refuse: settle(reject) };
        const abort = () => waiting.refuse(signal?.reason);
        signal?.addEventListener('abort', abort);
        queue = isRepeat ? [waiting, ...queue] : [...queue, waiting];
        advance();
      });
    },
    leave(headers) {
      inFlight -= 1;
      const seen = headers && readRateLimit(headers);
      if (seen) {
        // Answers overtake each other: within a window only the lowest count is news.
        const isSameWindow = rateLimit?.resetAt.getTime() === seen.resetAt.getTime();
        if (!isSameWindow || seen.remaining < (rateLimit?.remaining ?? 0)) rateLimit = seen;
        windowEndsAtMs = Date.now() + secondsLeft(headers, seen.remaining) * 1_000;
      }
      advance();
    },
    close(refusal) {
      closedBy = refusal;
      closedUntilMs = Math.max(closedUntilMs, Date.now() + (refusal.retryAfterSeconds ?? 1) * 1_000);
      advance();
    },
  };
}
