import type { Clock } from '../src/platform/clock.ts';

/** A clock that only moves when a test moves it, so that no test has to wait for a minute or a year. */
export class ManualClock implements Clock {
  #nowMs: number;

  constructor(at: string) {
    this.#nowMs = Date.parse(at);
  }

  now(): number {
    return this.#nowMs;
  }

  advance(ms: number): void {
    this.#nowMs += ms;
  }

  set(at: string): void {
    this.#nowMs = Date.parse(at);
  }
}
