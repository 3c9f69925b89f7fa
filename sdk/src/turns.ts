/** Runs at most `max` jobs at once; the others wait, first in, first out. */
export function createTurns(max: number): <T>(job: () => Promise<T>) => Promise<T> {
  const waiting: Array<() => void> = [];
  let running = 0;
  return async (job) => {
    if (running < max) running += 1;
    else await new Promise<void>((resolve) => void waiting.push(resolve));
    try {
      return await job();
    } finally {
      // A turn that ends goes to the next job, so `running` stays the same.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
