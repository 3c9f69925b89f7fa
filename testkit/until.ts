import { setTimeout as sleep } from 'node:timers/promises';

/** Asks again until the reply is neither undefined nor false, and returns it. Throws after `timeoutMs`. */
export async function until<T>(
  what: string,
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  { timeoutMs = 30_000, intervalMs = 50 } = {},
): Promise<T> {
  for (const deadlineMs = performance.now() + timeoutMs; ; await sleep(intervalMs)) {
    const found = await ask();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadlineMs) throw new Error(`not within ${timeoutMs / 1_000} s: ${what}`);
  }
}
