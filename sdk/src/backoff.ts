/** Resolves after `ms`, or rejects with the signal's reason. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(end, ms);
    function end(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    }
    signal?.addEventListener('abort', end);
  });
  signal?.throwIfAborted();
}

/** Exponential backoff from 250 ms to 8 s, with jitter. */
export const backoffMs = (failures: number): number => Math.min(250 * 2 ** failures, 8_000) * (0.5 + Math.random() / 2);
