interface Job {
  failures: number;
  items: number;
  succeededAtMs: number;
}

/** Counts what the jobs of a worker have done. */
export class JobTally {
  readonly #jobs = new Map<string, Job>();

  /** Adds a job before it has run. Until it does, the time of its last success is now: it is as old as the worker. */
  add(name: string): Job {
    const known = this.#jobs.get(name);
    if (known) return known;
    const job = { failures: 0, items: 0, succeededAtMs: Date.now() };
    this.#jobs.set(name, job);
    return job;
  }

  /** Runs a job, which returns how many items it has done. */
  async run(name: string, run: () => Promise<number>): Promise<number> {
    try {
      const items = await run();
      this.noteSuccess(name, items);
      return items;
    } catch (error) {
      this.noteFailure(name);
      throw error;
    }
  }

  noteSuccess(name: string, items = 0): void {
    const job = this.add(name);
    job.items += items;
    job.succeededAtMs = Date.now();
  }

  noteFailure(name: string): void {
    this.add(name).failures += 1;
  }

  [Symbol.iterator](): Iterator<[string, Readonly<Job>]> {
    return this.#jobs.entries();
  }
}
