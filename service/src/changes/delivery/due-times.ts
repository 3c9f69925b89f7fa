import type { Endpoint } from './endpoint.ts';

const stepMs = 250;

/** When endpoints have rows to read: in steps, so that any number of endpoints costs nothing until they are due. */
export class DueTimes {
  readonly #steps = new Map<number, Set<Endpoint>>();
  #nextStep: number;

  constructor(nowMs: number) {
    this.#nextStep = Math.floor(nowMs / stepMs);
  }

  /** Replaces the endpoint's time. */
  set(endpoint: Endpoint, atMs: number): void {
    endpoint.rowsAtMs = atMs;
    if (atMs === Infinity) return;
    const step = Math.max(Math.ceil(atMs / stepMs), this.#nextStep);
    const endpoints = this.#steps.get(step);
    if (endpoints) endpoints.add(endpoint);
    else this.#steps.set(step, new Set([endpoint]));
  }

  takeDue(nowMs: number): Endpoint[] {
    const due: Endpoint[] = [];
    for (; this.#nextStep * stepMs <= nowMs; this.#nextStep += 1) {
      for (const endpoint of this.#steps.get(this.#nextStep) ?? []) {
        // One whose time was replaced meanwhile is in another step too.
        if (endpoint.rowsAtMs > nowMs) continue;
        due.push(endpoint);
        endpoint.rowsAtMs = Infinity;
      }
      this.#steps.delete(this.#nextStep);
    }
    return due;
  }
}
