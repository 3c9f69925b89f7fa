// What a partner's program does with the SDK. Each function runs in Node.js and, passed as source text, in a browser, so it
// uses only its arguments and what every runtime has.
import type { createStore as CreateStore, HomewardError } from '../../sdk/src/index.ts';

type Create = typeof CreateStore;

export interface Target {
  readonly url: string;
  readonly key: string;
}

export interface Iteration {
  readonly seen: number;
  readonly distinct: number;
}

export async function iterate(createStore: Create, { url, key }: Target): Promise<Iteration> {
  const store = createStore({ url, key });
  const ids = new Set<unknown>();
  let seen = 0;
  for await (const { id } of store.pets.list({ status: 'available' })) {
    seen += 1;
    ids.add(id);
  }
  return { seen, distinct: ids.size };
}

export interface CallOutcome {
  readonly responded: number;
  /** 429 responses after which the instance waited. */
  readonly limited: number;
  readonly banned: number;
  /** The lowest X-RateLimit-Strikes-Remaining; undefined if no response had it. */
  readonly strikesLeftMin: number | undefined;
  /** Error codes of the calls that failed. */
  readonly givenUp: string[];
}

/** Many callers without pauses on one instance, for some minutes of its clock. */
export async function callWithoutPause(
  createStore: Create,
  { url, key, minutes, callers }: Target & { minutes: number; callers: number },
): Promise<CallOutcome> {
  let responded = 0;
  let limited = 0;
  let banned = 0;
  let strikesLeftMin: number | undefined;
  const givenUp: string[] = [];
  const watched: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    const strikes = response.headers.get('x-ratelimit-strikes-remaining');
    if (strikes !== null) strikesLeftMin = Math.min(strikesLeftMin ?? Number(strikes), Number(strikes));
    if (response.status === 429) {
      limited += 1;
      const { code } = (await response.clone().json()) as { code: string };
      if (code === 'api_key_banned') banned += 1;
    }
    return response;
  };
  const store = createStore({ url, key, fetch: watched });
  const endsAtMs = Date.now() + minutes * 60_000;
  const call = async () => {
    while (Date.now() < endsAtMs) {
      try {
        await store.pets.find(1);
        responded += 1;
      } catch (error) {
        givenUp.push((error as HomewardError).code ?? String(error));
      }
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  return { responded, limited, banned, strikesLeftMin, givenUp };
}

export interface Writes {
  readonly acknowledged: string[];
  readonly givenUp: string[];
}

/** Adds animals, several at a time, with one call of the SDK for each. */
export async function write(
  createStore: Create,
  { url, key, count, callers, prefix }: Target & { count: number; callers: number; prefix: string },
): Promise<Writes> {
  const store = createStore({ url, key });
  const names = Array.from({ length: count }, (_, i) => `${prefix} ${i}`);
  const acknowledged: string[] = [];
  const givenUp: string[] = [];
  const call = async () => {
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      try {
        acknowledged.push((await store.pets.add({ name, categoryId: 1 })).name);
      } catch (error) {
        givenUp.push(`${name}: ${error}`);
      }
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  return { acknowledged, givenUp };
}

/** Makes this runtime's clock run faster than real time, as the store's does. */
export function speedUpClock(rate: number): void {
  const realNow = Date.now.bind(Date);
  const realTimeout = globalThis.setTimeout;
  const startMs = realNow();
  Date.now = () => startMs + (realNow() - startMs) * rate;
  const faster = (run: () => void, ms = 0, ...given: []) => realTimeout(run, ms / rate, ...given);
  globalThis.setTimeout = faster as unknown as typeof setTimeout;
}
