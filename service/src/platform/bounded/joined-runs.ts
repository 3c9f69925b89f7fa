import { setImmediate as endOfTurn } from 'node:timers/promises';

/**
 * Runs the same work for many callers, one run at a time. A run is queued, then in flight, then done. Invariants:
 * - At most one run is in flight, and at most one is queued, which every new caller joins. Nobody joins the one in flight: it may have
 *   begun before what the caller wants it to see.
 * - A queued run starts when the one in flight has ended, whether it failed or not; without one, at the end of this turn of the event
 *   loop.
 */
export class JoinedRuns<T> {
  readonly #run: () => Promise<T>;
  #queued: Promise<T> | undefined;
  #inFlight: Promise<void> | undefined;

  constructor(run: () => Promise<T>) {
    this.#run = run;
  }

  /** Settles when the run in flight has ended; it never rejects. Undefined: none is. */
  get inFlight(): Promise<void> | undefined {
    return this.#inFlight;
  }

  /** The outcome of a run that begins after this call. */
  next(): Promise<T> {
    this.#queued ??= (this.#inFlight ?? endOfTurn()).then(() => this.#start());
    return this.#queued;
  }

  #start(): Promise<T> {
    this.#queued = undefined;
    const run = this.#run();
    const end = () => {
      this.#inFlight = undefined;
    };
    this.#inFlight = run.then(end, end);
    return run;
  }
}

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
