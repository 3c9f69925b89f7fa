/**
 * A function that runs `run` at the end of this turn of the event loop, once for all its calls in this turn, which share the outcome. A
 * call while `run` is running is for the next turn: runs may overlap. What they handle, and how much of it, is up to the caller.
 */
export function oncePerTurn<T>(run: () => T | Promise<T>): () => Promise<T> {
  let queued: Promise<T> | undefined;
  return () => {
    queued ??= new Promise((resolve) => {
      setImmediate(() => {
        queued = undefined;
        resolve(run());
      });
    });
    return queued;
  };
}
