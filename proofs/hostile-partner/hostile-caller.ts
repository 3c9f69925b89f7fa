// The hostile partner runs in a separate process, so that the cost of attacking is not measured as a cost of being attacked.
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient, type Response } from '../../testkit/http.ts';
import { orderListed } from './api-attacks.ts';
import type { Attack, Load, Step, Target } from './attack.ts';
import { type AttackName, attacks } from './attacks.ts';
import { countHeld } from './socket-attacks.ts';

/** The commands of the parent process. Each but `target` and `attack` has a reply. */
export type Command =
  | { readonly do: 'target'; readonly target: Target }
  /** Orders as many animals as it can, in `count` attempts. */
  | { readonly do: 'occupy'; readonly count: number }
  /** Attacks until `stop`. Several attacks share the requests of one partner. */
  | { readonly do: 'attack'; readonly names: readonly AttackName[] }
  /** Opens `count` connections that read nothing. */
  | { readonly do: 'hold'; readonly count: number; readonly ms: number }
  | { readonly do: 'stop' };

/** The responses that the caller got. */
export interface Report {
  readonly responded: number;
  /** How often each load got each status; 0 means that there was no response. */
  readonly statuses: Readonly<Record<string, Readonly<Record<number, number>>>>;
  /** 5xx responses, except the documented 503. */
  readonly faults: readonly string[];
  /** Only of `hold`: the connections that are still open. */
  readonly held?: number;
}

/** The lowest priority: a real attacker has its own machine, so the store must not lose CPU time to this process. */
const priority = 19;
const occupiers = 8;
const faultsMax = 20;
/** Of a load. Beyond that it waits. */
const inFlightMax = 500;
const socketsMax = 256;

if (process.send) {
  setPriority(priority);
  let target: Target | undefined;
  let running: { stop(): Promise<Report> } | undefined;
  process.on('disconnect', () => process.exit());
  const reply = (report: Report | undefined) => process.send?.(report);
  process.on('message', (command: Command) => {
    if (command.do === 'target') target = command.target;
    else if (command.do === 'stop') void running?.stop().then(reply);
    else if (!target) throw new Error('there is no target yet');
    else if (command.do === 'occupy') void occupy(target, command.count).then(reply);
    else if (command.do === 'hold') void hold(target, command).then(reply);
    else running = attack(target, command.names);
  });
}

async function occupy(target: Target, count: number): Promise<Report> {
  const [tally, phase] = [new Tally(), new Phase(target)];
  let left = count;
  const work = async () => {
    for (; left > 0; left -= 1) await tally.count('orders of every animal', orderListed(phase.next('orders of every animal', 'occupy')));
  };
  await Promise.all(Array.from({ length: occupiers }, work));
  await phase.end();
  return tally.report();
}

async function hold(target: Target, { count, ms }: Command & { do: 'hold' }): Promise<Report> {
  const phase = new Phase(target);
  const held = await countHeld(phase.next('slow readers', 'hold'), count, ms);
  await phase.end();
  return { ...new Tally().report(), held };
}

function attack(target: Target, names: readonly AttackName[]): { stop(): Promise<Report> } {
  const [tally, phase] = [new Tally(), new Phase(target)];
  for (const [i, name] of names.entries()) {
    for (const [loadName, load] of Object.entries<Load>(attacks[name] satisfies Attack)) {
      const share = load.isFree ? 1 : names.length;
      const intervalMs = (1_000 * share * (load.atOnce ?? 1)) / load.perSecond;
      // Several attacks don't begin at the same moment.
      const delayMs = (intervalMs * i) / names.length;
      phase.repeat(load, { intervalMs, delayMs }, () => tally.count(loadName, load.step(phase.next(name, loadName))));
    }
  }
  return {
    async stop() {
      await phase.end();
      return tally.report();
    },
  };
}

/** Indexes continue from phase to phase, so that no category, address or adopter is used twice. */
const started = new Map<string, number>();

/** What is sent until the phase ends. */
class Phase {
  readonly #target: Target;
  readonly #http = new HttpClient(socketsMax);
  readonly #stopping = new AbortController();
  readonly #repeating: Array<Promise<void>> = [];

  constructor(target: Target) {
    this.#target = target;
  }

  next(attack: AttackName, load: string): Step {
    const index = started.get(load) ?? 0;
    started.set(load, index + 1);
    const keys = this.#target.keys[attack];
    if (!keys) throw new Error(`there are no keys for ${attack}`);
    return { http: this.#http, target: this.#target, keys, index, stopping: this.#stopping.signal };
  }

  repeat({ atOnce = 1 }: Load, { intervalMs, delayMs }: { intervalMs: number; delayMs: number }, step: () => Promise<void>): void {
    this.#repeating.push(this.#run(atOnce, intervalMs, delayMs, step));
  }

  /** Waits for what is in flight. */
  async end(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#repeating);
    this.#http[Symbol.dispose]();
  }

  async #run(atOnce: number, intervalMs: number, delayMs: number, step: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopping;
    const inFlight = new Set<Promise<void>>();
    const startMs = performance.now() + delayMs;
    for (let round = 0; !signal.aborted; round += 1) {
      await sleep(Math.max(startMs + round * intervalMs - performance.now(), 0), undefined, { signal }).catch(() => {});
      for (let i = 0; i < atOnce && inFlight.size < inFlightMax && !signal.aborted; i += 1) {
        const one = step().finally(() => inFlight.delete(one));
        inFlight.add(one);
      }
    }
    await Promise.all(inFlight);
  }
}

class Tally {
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
    if (status >= 500 && !isDocumented(response) && this.#faults.length < faultsMax)
      this.#faults.push(`${name}: ${status} ${response?.text.slice(0, 120)}`);
  }

  report(): Report {
    return { responded: this.#responded, statuses: this.#statuses, faults: this.#faults };
  }
}

/** Checks the status and Retry-After only, because the body of a rejected stream is not read. */
const isDocumented = (response: Response | undefined) => response?.status === 503 && response.headers['retry-after'] !== undefined;
