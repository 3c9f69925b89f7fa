// The hostile partner runs in a separate process, so that the cost of attacking is not measured as a cost of being attacked.
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient, type Response } from '../../testkit/http.ts';
import { attacks, list, order, type Step, type Target } from './hostile-attacks.ts';

/** The commands of the parent process. */
export type Command =
  /** Orders `count` animals, starting at `firstPetId`, as fast as it can. */
  | { readonly do: 'occupy'; readonly target: Target; readonly firstPetId: number; readonly count: number }
  /** All attacks at once, until `stop`. */
  | { readonly do: 'attack'; readonly target: Target }
  /** Ordinary lists by as many callers as the attack has, at full speed or at the rate `perSecond`, until `stop`. */
  | { readonly do: 'list'; readonly target: Target; readonly perSecond?: number }
  | { readonly do: 'stop' };

/** The responses that the caller got. */
export interface Report {
  readonly seconds: number;
  readonly responded: number;
  /** How often each attack got each status; 0 means that the connection failed. */
  readonly statuses: Readonly<Record<string, Readonly<Record<number, number>>>>;
  /** 5xx responses, except the documented 503. */
  readonly faults: readonly string[];
}

/** The lowest priority: a real attacker has its own machine, so the store must not lose CPU time to this process. */
const priority = 19;
const occupiers = 8;
const faultsMax = 20;
/** Pauses after a failed connection, so that immediate failures do not become a busy loop. */
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

/** Lists with as many callers as the attack has. With a rate, each caller waits until its request is due. */
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

/** Indexes continue from phase to phase, so that no category, address or adopter is used twice. */
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
    return { seconds, responded: this.#responded, statuses: this.#statuses, faults: this.#faults };
  }
}

/** Checks the status and Retry-After only, because the body of a rejected stream is not read. */
const isDocumented = (response: Response | undefined) => response?.status === 503 && response.headers['retry-after'] !== undefined;
