import { theService } from '../../domain/actor.ts';
import { networkOfAddress } from '../../platform/caller-addresses.ts';
import type { Db, Transactor, Writer } from '../../platform/db/handles.ts';
import { addFailedSignIns, deleteOldFailedSignIns, type FailedHour, otherNetworks, selectFailedSignIns } from './failed-sign-in-queries.ts';

export type { FailedHour } from './failed-sign-in-queries.ts';

/** The ways in that can fail. */
export const waysIn = ['passkey', 'link', 'invitation', 'raise', 'provider'] as const;
export type WayIn = (typeof waysIn)[number];

/** Of an hour, in the table and in a process that waits to store them. What comes from more networks is counted together. */
export const failedNetworksMax = 200;
export const failedSignInDays = 90;
const storeAfterMs = 5_000;

type Log = { warn(fields: object, text: string): void };

/**
 * Counts sign-ins that failed by network and hour: nobody is signed in, so they have no author in the audit. They are added to the table
 * every five seconds at most, so that an attempt costs no write and takes as long whether or not it is counted. A process that is killed
 * loses the last ones.
 */
export class FailedSignIns implements AsyncDisposable {
  /** Since the process was started, for metrics. */
  readonly totals = new Map<WayIn, number>(waysIn.map((kind) => [kind, 0]));
  readonly #db: Transactor;
  readonly #log: Log;
  /** By kind, then by network. */
  #waiting = new Map<WayIn, Map<string, number>>();
  #networks = 0;
  #timer: NodeJS.Timeout | undefined;
  #storing: Promise<void> = Promise.resolve();

  constructor(db: Transactor, log: Log) {
    this.#db = db;
    this.#log = log;
  }

  /** `address` is that of the request. */
  count(kind: WayIn, address: string): void {
    this.totals.set(kind, (this.totals.get(kind) ?? 0) + 1);
    this.#add(kind, networkOfAddress(address), 1);
    this.#timer ??= setTimeout(() => void this.store(), storeAfterMs).unref();
  }

  /** Adds what has been counted to the table. If that fails, it waits for the next time. */
  store(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#storing = this.#storing.then(() => this.#store());
    return this.#storing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.store();
  }

  #add(kind: WayIn, network: string, count: number): void {
    const counts = this.#waiting.get(kind) ?? new Map<string, number>();
    this.#waiting.set(kind, counts);
    const place = counts.has(network) || this.#networks < failedNetworksMax ? network : otherNetworks;
    if (!counts.has(place)) this.#networks += 1;
    counts.set(place, (counts.get(place) ?? 0) + count);
  }

  async #store(): Promise<void> {
    const counts = [...this.#waiting].flatMap(([kind, networks]) => [...networks].map(([network, count]) => ({ kind, network, count })));
    if (counts.length === 0) return;
    this.#waiting = new Map();
    this.#networks = 0;
    try {
      await this.#db.transaction((tx) => addFailedSignIns(tx, counts, failedNetworksMax), theService);
    } catch (err) {
      for (const { kind, network, count } of counts) this.#add(kind, network, count);
      this.#timer ??= setTimeout(() => void this.store(), storeAfterMs).unref();
      this.#log.warn({ err }, 'could not store the counts of failed sign-ins: they wait');
    }
  }
}

/** The newest hour first, and in it the most. */
export const listFailedSignIns = (db: Db, since: Date, limit: number): Promise<FailedHour[]> => selectFailedSignIns(db, since, limit);

/** Returns how many rows. */
export const sweepFailedSignIns = (db: Writer, sizeMax: number): Promise<number> => deleteOldFailedSignIns(db, failedSignInDays, sizeMax);
