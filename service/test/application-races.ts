// Races for applications: contenders that act on the same animal at once, many times, and what has become of it.

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { roundsOf } from '../../testkit/rounds.ts';
import { closeUnanswered } from '../src/adoption/applications/settling.ts';
import { expireDueOrders } from '../src/adoption/orders/orders.ts';
import { verifyHistory } from '../src/adoption/verify/verify.ts';
import { createManager } from './adoption-steps.ts';
import { decide, readApplication } from './application-steps.ts';
import type { TestKey, TestResponse, TestStore } from './test-store.ts';

/** Of each race. More find more: ROUNDS=10000 takes about a minute each. */
const rounds = Number(process.env['ROUNDS'] ?? roundsOf(12, 24));
const batchSize = 200;
/** On a busy machine. */
export const raceTimeoutMs = 120_000 + rounds * 500;
const sideBySide = 6;
const jitterTurnsMax = 12;
/** Between the rounds of the worker's jobs, which run beside every race. */
const jobPauseMs = 5;
const triesMax = 100;
const wrongShownMax = 3;
export const poolSize = 20;

/** An animal, its applications in order of id, and the order of the accepted one. */
export interface Round {
  readonly petId: number;
  readonly applications: readonly number[];
  readonly orderId: number;
}

/** What has become of a round: statuses, or the reason of a closed application. */
export interface End {
  readonly pet: string;
  readonly applications: readonly string[];
  readonly orders: readonly string[];
}

export interface Race {
  /** For each application of an animal, the actions of staff before the race. */
  readonly applications: ReadonlyArray<readonly string[]>;
  /** SQL that changes an animal and its applications before the race. $1 are the ids of animals. */
  readonly prepare?: string;
  /** Each returns its outcome: the status, and the code of an error. */
  readonly contenders: ReadonlyArray<(round: Round) => Promise<string>>;
  /** Whether outcomes, in the order of the contenders, and the end are as they may be. */
  readonly isRight: (outcomes: readonly string[], end: End) => boolean;
}

export interface Raced {
  /** The first rounds that have ended wrong. */
  readonly wrong: readonly string[];
  /** Counted by PostgreSQL in all races so far. */
  readonly deadlocks: bigint | undefined;
  /** What `homeward verify` finds. */
  readonly violation: string | undefined;
}

export const fair: Raced = { wrong: [], deadlocks: 0n, violation: undefined };

export class Races {
  readonly store: TestStore;
  readonly partner: TestKey;
  readonly manager: TestKey;
  readonly #stopping = new AbortController();
  readonly #background: Promise<void>;

  private constructor(store: TestStore, partner: TestKey, manager: TestKey) {
    this.store = store;
    this.partner = partner;
    this.manager = manager;
    this.#background = this.#workBeside();
  }

  static async open(store: TestStore): Promise<Races> {
    return new Races(store, await store.createKey(), await createManager(store));
  }

  /** Runs the race in every round. */
  async run({ applications, prepare, contenders, isRight }: Race): Promise<Raced> {
    const seen: Record<string, number> = {};
    const wrong: string[] = [];
    for (let left = rounds; left > 0; left -= batchSize) {
      const batch = await this.#prepare(Math.min(left, batchSize), applications, prepare);
      const outcomes = new Map<Round, string[]>();
      const waiting = [...batch];
      const race = async () => {
        for (let round = waiting.pop(); round; round = waiting.pop()) outcomes.set(round, await raceOnce(round, contenders));
      };
      await Promise.all(Array.from({ length: sideBySide }, race));
      const ends = await this.#readEnds(batch);
      for (const [round, outcome] of outcomes) {
        const end = ends.get(round.petId) as End;
        const name = outcome.join(', ').replaceAll(/ \(id \d+\)/g, '');
        seen[name] = (seen[name] ?? 0) + 1;
        if (!isRight(outcome, end)) wrong.push(`${name}: ${JSON.stringify(end)}`);
      }
    }
    if (process.env['ROUNDS']) console.info(JSON.stringify(seen));
    const { violation } = await verifyHistory(this.store.dependencies.db, () => {});
    return { wrong: wrong.slice(0, wrongShownMax), deadlocks: await this.#countDeadlocks(), violation };
  }

  /** Every connection says what it has counted before it is read. */
  async #countDeadlocks(): Promise<bigint | undefined> {
    const tell = () => this.store.read('select pg_stat_force_next_flush(), pg_sleep(0.05)');
    await Promise.all(Array.from({ length: poolSize }, tell));
    const rows = await this.store.read<{ deadlocks: bigint }>('select deadlocks from pg_stat_database where datname = current_database()');
    return rows[0]?.deadlocks;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#background;
  }

  /** The worker's jobs. A deadlock in one of them fails too. */
  async #workBeside(): Promise<void> {
    const { db, catalogue } = this.store.dependencies;
    while (!this.#stopping.signal.aborted) {
      await closeUnanswered(db, 60, 10);
      await expireDueOrders(db, catalogue, 10);
      await sleep(jobPauseMs);
    }
  }

  async #prepare(count: number, actions: Race['applications'], prepare: string | undefined): Promise<Round[]> {
    const rows = await this.store.write<{ petId: bigint; ids: bigint[] }>(
      `with pets as (insert into pets (name, category_id, status) select 'Animal', 1, 'available' from generate_series(1, $1::int) returning id),
          told as (insert into history (pet_id, to_status, why) select id, 'available', 'added' from pets),
          added as (insert into applications (client_id, pet_id, shelter_id, status, is_mailed, adopter_name, adopter_email, adopter_address, answers)
            select $2, pets.id, 1, 'submitted', false, 'Ada', address, address, '[]' from pets,
              generate_series(1, $3::int) as n, lateral (select format('ada.%s.%s@example.org', pets.id, n) as address) as adopter
              order by pets.id, n returning id, pet_id),
          history as (insert into application_history (application_id, client_id, to_status, by, why)
            select id, $2, 'submitted', 'client', 'submitted' from added)
        select id as "petId", array(select added.id from added where added.pet_id = pets.id order by 1) as ids from pets`,
      count,
      this.partner.clientId,
      actions.length,
    );
    const batch = rows.map(({ petId, ids }) => ({ petId: Number(petId), applications: ids.map(Number), orderId: 0 }));
    const act = async (round: Round): Promise<Round> => {
      for (const [index, id] of round.applications.entries())
        for (const action of actions[index] ?? [])
          requireDone(await untilRoom(async () => outcomeOf(await decide(this.store, this.manager, id, action))));
      const accepted = round.applications[actions.findIndex((names) => names.includes('accept'))];
      return accepted === undefined
        ? round
        : { ...round, orderId: (await readApplication(this.store, this.partner, accepted)).orderId ?? 0 };
    };
    const acted: Round[] = [];
    const prepareNext = async () => {
      for (let round = batch.pop(); round; round = batch.pop()) acted.push(await act(round));
    };
    await Promise.all(Array.from({ length: sideBySide }, prepareNext));
    if (prepare) await this.store.asOwner(prepare.replaceAll('$1', `array[${rows.map(({ petId }) => petId)}]::bigint[]`));
    // The last one is raced first.
    return acted.sort((a, b) => a.petId - b.petId);
  }

  async #readEnds(batch: readonly Round[]): Promise<Map<number, End>> {
    const rows = await this.store.read<End & { id: bigint }>(
      `select id, case when removed_at is null then status::text else 'removed' end as pet,
          array(select coalesce(closed_reason, status::text) from applications where pet_id = pets.id order by id) as applications,
          array(select status::text from orders where pet_id = pets.id order by id) as orders
        from pets where id = any($1::bigint[])`,
      batch.map(({ petId }) => petId),
    );
    return new Map(rows.map(({ id, ...end }) => [Number(id), end]));
  }
}

/** In random order, a few turns of the event loop apart. */
async function raceOnce(round: Round, contenders: Race['contenders']): Promise<string[]> {
  const run = async (contender: (round: Round) => Promise<string>) => {
    for (let turns = Math.floor(Math.random() * jitterTurnsMax); turns > 0; turns -= 1) await nextTurn();
    return untilRoom(() => contender(round));
  };
  const started = contenders.map((contender, index) => ({ contender, index, place: Math.random() })).sort((a, b) => a.place - b.place);
  const ended = await Promise.all(started.map(async ({ contender, index }) => ({ index, outcome: await run(contender) })));
  return ended.sort((a, b) => a.index - b.index).map(({ outcome }) => outcome);
}

function requireDone(outcome: string): void {
  if (outcome !== '200') throw new Error(`expected 200; got ${outcome}`);
}

/** Again while the machine does so much other work that no connection is free. Deadlocks would be the same 503: they are counted. */
async function untilRoom(attempt: () => Promise<string>): Promise<string> {
  for (let left = triesMax; ; left -= 1) {
    const outcome = await attempt();
    if (left === 0 || !outcome.startsWith('503 The database is unreachable or overloaded')) return outcome;
    await sleep(jobPauseMs);
  }
}

/** A 5xx is never right, except one that says who is in the way. */
export const outcomeOf = ({ status, json }: TestResponse<unknown>): string => {
  const { code, message } = (json ?? {}) as { code?: string; message?: string };
  if (status < 400) return String(status);
  return status < 500 ? String(code) : `${status} ${message}`;
};
