import type { FastifyBaseLogger } from 'fastify';

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

const repeatIntervalMs = 60_000;
/** A job that fails in some of its runs only, as all do that write while a standby is away, does not work again between them. */
const quietMs = 10_000;

/** Logs jobs that fail: at once, then once a minute with how often, so that an outage fills no disk; and when they work again. */
export class JobFailures {
  readonly #log: Pick<FastifyBaseLogger, 'error' | 'info'>;
  readonly #failing = new Map<string, { loggedAtMs: number; failedAtMs: number; failures: number }>();

  constructor(log: Pick<FastifyBaseLogger, 'error' | 'info'>) {
    this.#log = log;
  }

  failed(job: string, error: unknown): void {
    const known = this.#failing.get(job);
    const failures = (known?.failures ?? 0) + 1;
    const nowMs = performance.now();
    if (known && nowMs - known.loggedAtMs < repeatIntervalMs) {
      known.failures = failures;
      known.failedAtMs = nowMs;
      return;
    }
    this.#failing.set(job, { loggedAtMs: nowMs, failedAtMs: nowMs, failures });
    this.#log.error({ err: error, job, failures }, 'job failed');
  }

  succeeded(job: string): void {
    const failing = this.#failing.get(job);
    if (!failing || performance.now() - failing.failedAtMs < quietMs) return;
    this.#failing.delete(job);
    this.#log.info({ job, failures: failing.failures }, 'job works again');
  }
}
