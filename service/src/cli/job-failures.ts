import type { FastifyBaseLogger } from 'fastify';

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
