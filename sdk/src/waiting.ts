/** Waits, or rejects with the signal's reason. */
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

/** Grows from a quarter of a second to 8 s, and is never the same for two callers. */
export const backoffMs = (failures: number): number => Math.min(250 * 2 ** failures, 8_000) * (0.5 + Math.random() / 2);
