import type { Db } from '../../platform/db/handles.ts';
import type { Endpoint } from './endpoint.ts';
import { selectDueStates } from './endpoint-queries.ts';
import { selectDueRows } from './sending-queries.ts';
import type { Shares } from './shares.ts';

interface DueRowsParts {
  readonly db: Db;
  readonly shares: Shares;
  disable(endpoints: readonly Endpoint[], reason: string): Promise<void>;
}

/** Endpoints whose rows are read by one statement, and the rows of each. */
const readSize = 200;
const rowsOfEndpointMax = 8;
/** Events of animals that wait behind a failed one. Beyond that the endpoint is disabled. */
const heldMax = 10_000;
const pauseMs = 1_000;

/** Reads what is due in `delivery_exceptions`: retries, what waited behind them, single replays and tests. */
export class DueRows {
  readonly #parts: DueRowsParts;
  readonly #times = new DueTimes(performance.now());
  readonly #wanted = new Set<Endpoint>();

  constructor(parts: DueRowsParts) {
    this.#parts = parts;
  }

  /** Finds out when rows of these endpoints are due. */
  async schedule(endpoints: readonly Endpoint[]): Promise<void> {
    if (endpoints.length === 0) return;
    // In case that this fails.
    for (const endpoint of endpoints) this.#times.set(endpoint, performance.now() + pauseMs);
    const ids = endpoints.map(({ id }) => id);
    const states = await selectDueStates(this.#parts.db, ids, heldMax + 1);
    const tooFarBehind: Endpoint[] = [];
    for (const [i, endpoint] of endpoints.entries()) {
      const state = states[i];
      if (!state) continue;
      endpoint.noteStored(state.failed);
      const rowsInMs = endpoint.rowsIn(state);
      const isDue = rowsInMs <= 0;
      this.#times.set(endpoint, isDue ? Infinity : performance.now() + rowsInMs);
      if (isDue) this.#wanted.add(endpoint);
      // It was wanted before it was known that nothing is due: a failing endpoint would get its oldest event once more.
      else if (this.#wanted.delete(endpoint)) this.#parts.shares.add(endpoint);
      if (state.waiting > heldMax) tooFarBehind.push(endpoint);
    }
    if (tooFarBehind.length === 0) return;
    const reason = `too_far_behind: more than ${heldMax.toLocaleString('en')} events waited behind failed deliveries of the same animals.`;
    await this.#parts.disable(tooFarBehind, reason);
  }

  /** Takes nothing from the endpoint for a while, and then looks for its rows. */
  pause(endpoint: Endpoint): void {
    endpoint.pausedUntilMs = performance.now() + pauseMs;
    this.#times.set(endpoint, Math.min(endpoint.rowsAtMs, endpoint.pausedUntilMs));
  }

  /** Reads the rows of endpoints that have some due. */
  async read(): Promise<void> {
    for (const endpoint of this.#times.takeDue(performance.now())) this.#wanted.add(endpoint);
    const endpoints: Endpoint[] = [];
    for (const endpoint of this.#wanted) {
      if (endpoints.length === readSize) break;
      if (!endpoint.isRetired && (endpoint.openRows > 0 || endpoint.rows.length > 0)) {
        // After a pause, what it has read before comes first.
        this.#parts.shares.add(endpoint);
        continue;
      }
      this.#wanted.delete(endpoint);
      if (!endpoint.isRetired) endpoints.push(endpoint);
    }
    if (endpoints.length === 0) return;
    const choices = endpoints.map(({ id, rowChoice: choice }) => ({ id, choice }));
    const rows = await selectDueRows(this.#parts.db, choices, rowsOfEndpointMax).catch((error: unknown) => {
      for (const endpoint of endpoints) this.#wanted.add(endpoint);
      throw error;
    });
    const rowsOf = Map.groupBy(rows, ({ webhookId }) => webhookId);
    for (const endpoint of endpoints) {
      endpoint.rows.push(...(rowsOf.get(endpoint.id) ?? []));
      this.#parts.shares.add(endpoint);
    }
    await this.schedule(endpoints.filter(({ rows: { length } }) => length === 0));
  }
}

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
