import { findStoredKeys, type KeyOfClient } from '../../access/idempotency/idempotent-route.ts';
import { FairTurns, NoTurn } from '../../platform/bounded/fair-turns.ts';
import type { Db } from '../../platform/db/handles.ts';
import { type AppError, retryLater } from '../../platform/errors.ts';

/** For each client, over all animals. They wait for each other in PostgreSQL anyway, so one more is enough to leave no gap. */
const turnsOfClientMax = 2;
/** As long as a statement may wait for a lock. Who gets the animal is not known then, so it is no 409. */
const gateWaitMsMax = 2_000;
const waitingOfClientMax = 1_000;

interface Request<Who> {
  readonly petId: bigint;
  readonly clientId: bigint;
  readonly who: Who;
  /** The Idempotency-Key. */
  readonly key: string | undefined;
}

/** A request that is at the gate of its animal. */
interface Arrival<Who> {
  readonly at: number;
  readonly who: Who;
  readonly retry: KeyOfClient | undefined;
}

/** Says that an animal rejected requests, read after `at`. */
interface Look<Who> {
  readonly at: number;
  readonly rejectionOf: Rejection<Who>;
  /** Of the requests that had arrived: those that retry one which has succeeded. */
  readonly retries: ReadonlySet<KeyOfClient>;
}

interface Gate<Who> {
  readonly turns: FairTurns;
  readonly arrivals: Set<Arrival<Who>>;
  /** The last look that found the animal rejecting. */
  look: Look<Who> | undefined;
}

/** Why a request of this one is rejected; undefined: it is not. */
export type Rejection<Who> = (who: Who) => AppError | undefined;

/** What people ask for an animal: to place an order, or to apply. `Who` is what a rejection depends on. */
interface Rush<Who> {
  /** Undefined: the animal rejects nobody now. Only what is committed counts. */
  readonly findRejection: (petId: bigint) => Promise<Rejection<Who> | undefined>;
  /** For the message of a 503. */
  readonly what: 'orders' | 'applications';
}

/**
 * Lets one request for an animal at a time into a transaction, in this process, and two of a client. So a rush for an animal holds one
 * connection of each process, and not all of them, while PostgreSQL decides who gets it.
 *
 * A request waits for its client's turn, then for the animal's, then it is in its transaction; or it is rejected: with 409 if the animal
 * rejected it at some time after it had arrived, with 503 if it has waited too long. Invariants:
 * - An animal is in `#gates` exactly while a request for it has arrived and not ended. The first one goes straight to its transaction:
 *   if there is no rush, the gate costs no query.
 * - Any other one looks at the animal in its turn. What it then rejects, it rejects of all requests that had arrived before the
 *   look, without another. If it rejects nobody, nothing is said about the next request.
 * - Only what is committed counts. A lock on the animal says nothing: it may be that of staff who edit its name.
 * - A retry is never rejected if its first request has succeeded: its stored response is committed together with what the animal
 *   then rejects for, and is looked for after that. A retry of a request that is in its transaction does not wait.
 */
export class RushGate<Who> {
  readonly #db: Db;
  readonly #rush: Rush<Who>;
  readonly #clients = new FairTurns({
    turnsMax: Number.POSITIVE_INFINITY,
    turnsOfOwnerMax: turnsOfClientMax,
    waitMsMax: gateWaitMsMax,
    pendingOfOwnerMax: waitingOfClientMax,
  });
  readonly #gates = new Map<bigint, Gate<Who>>();
  /** The keys of the requests that are in their transactions. */
  readonly #inProgress = new Set<string>();
  /** Counts arrivals and looks, to tell which came first. */
  #now = 0;

  constructor(db: Db, rush: Rush<Who>) {
    this.#db = db;
    this.#rush = rush;
  }

  /** Runs `work`, the transaction of a request, in its turn. */
  async run<T>({ petId, clientId, who, key }: Request<Who>, work: () => Promise<T>): Promise<T> {
    const retry = key === undefined ? undefined : { clientId, key };
    const name = key === undefined ? undefined : `${clientId} ${key}`;
    if (name !== undefined && this.#inProgress.has(name)) return work();
    const gate = this.#gates.get(petId) ?? newGate<Who>();
    this.#gates.set(petId, gate);
    const isFirst = gate.arrivals.size === 0;
    const arrival: Arrival<Who> = { at: ++this.#now, who, retry };
    gate.arrivals.add(arrival);
    const enter = async () => {
      if (!isFirst) await this.#requireNoRejection(petId, gate, arrival);
      if (name !== undefined) this.#inProgress.add(name);
      try {
        return await work();
      } finally {
        if (name !== undefined) this.#inProgress.delete(name);
      }
    };
    try {
      return await this.#clients.run(clientId, () => gate.turns.run(clientId, enter));
    } catch (error) {
      throw error instanceof NoTurn ? undecided(petId, this.#rush.what, error) : error;
    } finally {
      gate.arrivals.delete(arrival);
      if (gate.arrivals.size === 0) this.#gates.delete(petId);
    }
  }

  async #requireNoRejection(petId: bigint, gate: Gate<Who>, { at, who, retry }: Arrival<Who>): Promise<void> {
    const look = gate.look && gate.look.at > at ? gate.look : await this.#lookAt(petId, gate);
    if (!look || (retry && look.retries.has(retry))) return;
    const rejection = look.rejectionOf(who);
    if (rejection) throw rejection;
  }

  /** Undefined: the animal rejects nobody. */
  async #lookAt(petId: bigint, gate: Gate<Who>): Promise<Look<Who> | undefined> {
    const at = ++this.#now;
    const retries = [...gate.arrivals].flatMap((arrival) => arrival.retry ?? []);
    const rejectionOf = await this.#rush.findRejection(petId);
    gate.look = rejectionOf && { at, rejectionOf, retries: await findStoredKeys(this.#db, retries) };
    return gate.look;
  }
}

const newGate = <Who>(): Gate<Who> => ({
  turns: new FairTurns({ turnsMax: 1, turnsOfOwnerMax: 1, waitMsMax: gateWaitMsMax, pendingOfOwnerMax: waitingOfClientMax }),
  arrivals: new Set(),
  look: undefined,
});

const undecided = (petId: bigint, what: string, cause: NoTurn) =>
  retryLater(`Too many ${what} for animal ${petId} or of this client are in progress. Retry in 1 s.`, cause);
