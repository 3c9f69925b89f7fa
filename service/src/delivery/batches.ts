/** Handles values in batches: everything that was added while the last batch was handled is the next one. */
export class Batches<T> {
  readonly #handle: (batch: readonly T[]) => Promise<void>;
  #waiting: T[] = [];
  #running: Promise<void> | undefined;

  constructor(handle: (batch: readonly T[]) => Promise<void>) {
    this.#handle = handle;
  }

  get isEmpty(): boolean {
    return this.#running === undefined;
  }

  add(value: T): void {
    this.#waiting.push(value);
    this.#running ??= this.#run();
  }

  async drained(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    // What is added in the same turn of the event loop belongs to the first batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#handle(batch);
    }
    this.#running = undefined;
  }
}
