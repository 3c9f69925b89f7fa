// The hostile partner as a process of its own, so that what it costs to attack is not taken for what it costs to be attacked.
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient, type Response } from '../../testkit/http.ts';
import { attacks, list, order, type Step, type Target } from './hostile-attacks.ts';

/** What it is told to do. */
export type Command =
  /** Orders this many animals, from this id on, as fast as it can. */
  | { readonly do: 'occupy'; readonly target: Target; readonly firstPetId: number; readonly count: number }
  /** Everything at once, until it is told to stop. */
  | { readonly do: 'attack'; readonly target: Target }
  /** Ordinary lists instead, by as many callers: as fast as they are answered, or at this rate. */
  | { readonly do: 'list'; readonly target: Target; readonly perSecond?: number }
  | { readonly do: 'stop' };

/** What came of it. */
export interface Report {
  readonly seconds: number;
  readonly answered: number;
  /** How often each attack was answered with each status; 0: the connection failed. */
  readonly statuses: Readonly<Record<string, Readonly<Record<number, number>>>>;
  /** Answers of 5xx, but for the 503 that the documents name. */
  readonly faults: readonly string[];
}

/** It is on another machine than the store, really: where there is one machine, the store goes first. */
const priority = 19;
const occupiers = 8;
const faultsMax = 20;
/** A connection that is refused at once must not become a loop that does nothing else. */
const failedPauseMs = 10;

if (process.send) {
  setPriority(priority);
  let running: { stop(): Promise<Report> } | undefined;
  process.on('disconnect', () => process.exit());
  const reply = (report: Report | undefined) => process.send?.(report);
  process.on('message', (command: Command) => {
    if (command.do === 'stop') void running?.stop().then(reply);
    else if (command.do === 'occupy') void occupy(command).then(reply);
    else running = command.do === 'attack' ? attack(command.target) : listAll(command.target, command.perSecond);
  });
}

async function occupy({ target, firstPetId, count }: Command & { do: 'occupy' }): Promise<Report> {
  using http = new HttpClient(occupiers);
  const tally = new Tally();
  const stopping = new AbortController().signal;
  let index = 0;
  const work = async () => {
    for (let i = index++; i < count; i = index++) {
      await tally.count('orders of every animal', order({ http, target, index: i, stopping }, firstPetId + i));
    }
  };
  await Promise.all(Array.from({ length: occupiers }, work));
  return tally.report();
}

function attack(target: Target): { stop(): Promise<Report> } {
  return loop(target, (tally, next) =>
    Object.entries(attacks).flatMap(([name, { workers, step }]) =>
      Array.from({ length: workers }, () => () => tally.count(name, step(next(name)))),
    ),
  );
}

/** As many callers as attack. With a rate, each sends when the next is due. */
function listAll(target: Target, perSecond: number | undefined): { stop(): Promise<Report> } {
  const callers = Object.values(attacks).reduce((sum, { workers }) => sum + workers, 0);
  const [startMs, firstIndex] = [performance.now(), started.get('list') ?? 0];
  return loop(target, (tally, next) =>
    Array.from({ length: callers }, () => async () => {
      const step = next('list');
      const aheadMs = perSecond ? startMs + ((step.index - firstIndex) * 1_000) / perSecond - performance.now() : 0;
      if (aheadMs > 0) await sleep(aheadMs);
      await tally.count('lists', list(step));
    }),
  );
}

type MakeSteps = (tally: Tally, next: (name: string) => Step) => Array<() => Promise<void>>;

/** Repeats each of the steps until it is stopped. */
function loop(target: Target, makeSteps: MakeSteps): { stop(): Promise<Report> } {
  const [tally, stopping, http] = [new Tally(), new AbortController(), new HttpClient(64)];
  const next = (name: string): Step => {
    const index = started.get(name) ?? 0;
    started.set(name, index + 1);
    return { http, target, index, stopping: stopping.signal };
  };
  const working = makeSteps(tally, next).map(async (step) => {
    while (!stopping.signal.aborted) await step();
  });
  return {
    async stop() {
      const report = tally.report();
      stopping.abort();
      await Promise.all(working);
      http[Symbol.dispose]();
      return report;
    },
  };
}

/** Goes on where the phase before has ended: no category, address or adopter comes twice. */
const started = new Map<string, number>();

class Tally {
  readonly #startedAtMs = performance.now();
  readonly #statuses: Record<string, Record<number, number>> = {};
  readonly #faults: string[] = [];
  #responded = 0;

  async count(name: string, sending: Promise<Response | undefined>): Promise<void> {
    const response = await sending.catch(() => undefined);
    const status = response?.status ?? 0;
    const statuses = this.#statuses[name] ?? {};
    this.#statuses[name] = statuses;
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (response) this.#responded += 1;
    else await sleep(failedPauseMs);
    if (status >= 500 && !isDocumented(response) && this.#faults.length < faultsMax)
      this.#faults.push(`${name}: ${status} ${response?.text.slice(0, 120)}`);
  }

  report(): Report {
    const seconds = (performance.now() - this.#startedAtMs) / 1_000;
    return { seconds, answered: this.#responded, statuses: this.#statuses, faults: this.#faults };
  }
}

/** A stream that is refused has no body here: its status and when to come back must do. */
const isDocumented = (response: Response | undefined) => response?.status === 503 && response.headers['retry-after'] !== undefined;
