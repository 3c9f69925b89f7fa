// Who is banned, for how long, and who is not. The ladder takes 81 minutes, so its store's clock runs 600 times as fast.
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient, type Response } from '../testkit/http.ts';
import { plantMutant } from '../testkit/mutant.ts';
import { Staff } from '../testkit/staff.ts';
import { type Key, Store } from '../testkit/store.ts';
import type { Claim, Proof, ProofContext } from './proof.ts';
import { outageLogLevel, whileRedisResponses } from './redis-outages.ts';

const clockRate = 600;
const minuteMs = 60_000;
const dayMs = 86_400_000;
const strikesMax = 30;
const perDay = 1_000_000;
const requestsUntilBanMax = 5_000;
const inFlight = 300;

type Send = (key: Key) => Promise<Response>;

export const bans: Proof = {
  name: 'bans',
  promise: 'a key that ignores 429 is banned for 1, 5, 15, 60 minutes, and no other key is',
  hasMutant: true,
  run,
};

async function run({ short, mutant, progress }: ProofContext): Promise<Claim[]> {
  // The mutant grants nothing to what was in flight, and starts the ladder anew with each ban.
  const edits = [
    { file: 'rate-limit/consume.lua', from: 'DAY, 1000, DAY', to: 'DAY, -1, DAY' },
    { file: 'rate-limit/consume.lua', from: 'math.min(g.level + 1, #lengths)', to: '1' },
  ];
  using tree = mutant ? plantMutant(edits) : undefined;
  const common = { processes: 2, env: outageLogLevel, root: tree?.root };
  const stores = await Promise.all([Store.open({ ...common, clockRate }), Store.open(common)]);
  await using fast = stores[0];
  await using steady = stores[1];
  const claims = await Promise.all([proveOnFastClock(fast, { forget: !short, progress }), proveOnSteadyClock(steady)]);
  return claims.flat();
}

interface Options {
  /** Also wait for the day after which a ban is forgotten. */
  readonly forget: boolean;
  readonly progress: ProofContext['progress'];
}

async function proveOnFastClock(store: Store, { forget, progress }: Options): Promise<Claim[]> {
  await using staff = await Staff.of(store);
  using http = new HttpClient();
  const send = sendTo(store, http);
  return await whileRedisResponses(store, async (attempt) => {
    const [greedy, sibling] = (await staff.createKeys(`greedy ${attempt}`, { perMinute: 2, perDay }, 2)) as [Key, Key];
    const [patient] = (await staff.createKeys(`patient ${attempt}`, { perMinute: 10, perDay }, 1)) as [Key];
    const stop = new AbortController();
    const waited = waitAsTold(store, () => send(patient), stop.signal);
    const ladder = await climb(store, send, { greedy, sibling, forget, progress });
    stop.abort();
    return [...ladder, await waited];
  });
}

/** Earns one ban after the other; from the last rung on it stays at 60 minutes, and a day without a ban forgets all. */
async function climb(
  store: Store,
  send: Send,
  { greedy, sibling, forget, progress }: { greedy: Key; sibling: Key; forget: boolean; progress: ProofContext['progress'] },
): Promise<Claim[]> {
  const expected = forget ? [1, 5, 15, 60, 60, 1] : [1, 5, 15, 60];
  const lengths: number[] = [];
  const during: boolean[] = [];
  const afterwards: string[] = [];
  const ofSibling: string[] = [];
  for (const [rung, expectedMinutes] of expected.entries()) {
    progress(`ban ${rung + 1} of ${expected.length}`);
    if (rung > 0 && expectedMinutes === 1) await until(store, store.now() + dayMs + minuteMs);
    const ban = await earnBan(() => send(greedy));
    lengths.push(Number(ban.headers['retry-after']) / 60);
    const endMs = Number(ban.headers['x-ratelimit-reset']) * 1_000;
    // Requests all through the ban, by the banned key and by another of its client.
    while (store.now() < endMs - 10_000) {
      const [banned, free] = await Promise.all([send(greedy), send(sibling)]);
      // What was answered after the end says nothing of the ban.
      if (store.now() >= endMs - 1_000) break;
      during.push(codeOf(banned) === 'api_key_banned' && Number(banned.headers['x-ratelimit-reset']) * 1_000 === endMs);
      ofSibling.push(codeOf(free));
      await until(store, Math.min(store.now() + 2 * minuteMs, endMs));
    }
    await until(store, endMs);
    afterwards.push(codeOf(await send(greedy)));
  }
  const kept = during.filter(Boolean).length;
  const wrongedSibling = ofSibling.filter((code) => code === 'api_key_banned').length;
  return [
    {
      claim: `The bans of a key that never waits, in minutes${forget ? ', the last after a day without one' : ''}`,
      bar: expected.join(', '),
      figure: lengths.join(', '),
      holds: lengths.join() === expected.join(),
    },
    {
      claim: 'Requests during a ban are refused and leave its end where it was; at its end it is over',
      bar: 'every one',
      figure: `${kept} of ${during.length}; ${afterwards.filter((code) => code !== 'api_key_banned').length} of ${lengths.length} ended in time`,
      holds: during.length >= lengths.length && kept === during.length && !afterwards.includes('api_key_banned'),
    },
    {
      claim: 'Requests of another key of the same client, meanwhile, that were refused by the ban',
      bar: '0, and some answered 200',
      figure: `${wrongedSibling} of ${ofSibling.length}; ${ofSibling.filter((code) => code === '').length} answered 200`,
      holds: wrongedSibling === 0 && ofSibling.includes(''),
    },
  ];
}

/** A client that uses up each minute and then waits for as long as Retry-After says. */
async function waitAsTold(store: Store, send: () => Promise<Response>, stop: AbortSignal): Promise<Claim> {
  let waits = 0;
  let rejections = 0;
  let strikesLeft = strikesMax;
  while (!stop.aborted) {
    const response = await send();
    if (response.status !== 429) continue;
    rejections += codeOf(response) === 'api_key_banned' ? 1 : 0;
    strikesLeft = Math.min(strikesLeft, Number(response.headers['x-ratelimit-strikes-remaining']));
    await until(store, store.now() + Number(response.headers['retry-after']) * 1_000);
    waits += 1;
  }
  return {
    claim: 'A client that uses up every minute and waits as Retry-After says: refused by a ban, strikes counted',
    bar: '0 and 0 in at least 20 minutes',
    figure: `${rejections} and ${strikesMax - strikesLeft} in ${waits} minutes`,
    holds: rejections === 0 && strikesLeft === strikesMax && waits >= 20,
  };
}

async function proveOnSteadyClock(store: Store): Promise<Claim[]> {
  await using staff = await Staff.of(store);
  using http = new HttpClient(inFlight);
  const send = sendTo(store, http);
  const keyOf = async (client: string, limits: { perMinute: number; perDay: number }) => {
    const [key] = await staff.createKeys(client, limits, 1);
    if (!key) throw new Error('no key was made');
    return key;
  };
  // Connections and code are warm before the second begins in which what was in flight is free.
  const warm = await keyOf('warm', { perMinute: 1_000_000, perDay });
  for (let round = 0; round < 3; round += 1) await Promise.all(Array.from({ length: inFlight }, () => send(warm)));
  const inFlightClaims = await whileRedisResponses(store, async (attempt) => {
    const bursting = await keyOf(`bursting ${attempt}`, { perMinute: 10, perDay });
    return [await burst(() => send(bursting))];
  });
  const dayClaims = await whileRedisResponses(store, async (attempt) => {
    const spent = await keyOf(`spent ${attempt}`, { perMinute: strikesMax, perDay: 20 });
    return [await outrunTheDay(() => send(spent))];
  });
  const countdownClaims = await whileRedisResponses(store, async (attempt) => {
    const counted = await keyOf(`counted ${attempt}`, { perMinute: 10, perDay });
    return countDown(store, () => send(counted), counted);
  });
  return [...inFlightClaims, ...dayClaims, ...countdownClaims];
}

async function burst(send: () => Promise<Response>): Promise<Claim> {
  const responses = await Promise.all(Array.from({ length: inFlight }, send));
  const rejected = responses.filter(({ status }) => status === 429);
  const banned = responses.filter((response) => codeOf(response) === 'api_key_banned');
  const strikesLeft = Math.min(...rejected.map(({ headers }) => Number(headers['x-ratelimit-strikes-remaining'])));
  return {
    claim: `${inFlight} requests in flight at the first 429, of a key that ${strikesMax} strikes ban: refused by a ban, strikes counted`,
    bar: '0 and 0',
    figure: `${banned.length} and ${strikesMax - strikesLeft} of ${rejected.length} refused`,
    holds: rejected.length > strikesMax && banned.length === 0 && strikesLeft === strikesMax,
  };
}

async function outrunTheDay(send: () => Promise<Response>): Promise<Claim> {
  for (let used = 0; used < 20; used += 1) await send();
  const first = await send();
  await sleep(1_100);
  const later = await Promise.all(Array.from({ length: 4 * strikesMax }, send));
  const rejected = [first, ...later].filter((response) => codeOf(response) === 'rate_limit_exceeded');
  const banned = later.filter((response) => codeOf(response) === 'api_key_banned');
  return {
    claim: `A client out of its day's quota that goes on, of which ${strikesMax} strikes would ban the key: refused by a ban`,
    bar: '0',
    figure: `${banned.length} of ${later.length + 1}`,
    holds: banned.length === 0 && rejected.length === later.length + 1,
  };
}

/** One ban by the real clock, as the key's owner sees it come and the store's staff see and lift it. */
async function countDown(store: Store, send: () => Promise<Response>, key: Key): Promise<Claim[]> {
  const leftOfMinuteMs = minuteMs - (Date.now() % minuteMs);
  if (leftOfMinuteMs < 5_000) await sleep(leftOfMinuteMs);
  for (let used = 0; used < 10; used += 1) await send();
  await send();
  await sleep(1_100);
  const warnings: number[] = [];
  for (let strike = 0; strike < strikesMax; strike += 1) warnings.push(Number((await send()).headers['x-ratelimit-strikes-remaining']));
  const banned = codeOf(await send());
  const listed = JSON.parse(await store.homeward('bans', 'list', '--json')) as Array<{ keyId: number; level: number }>;
  const lifted = JSON.parse(await store.homeward('bans', 'lift', String(key.id), '--json')) as { lifted: boolean };
  const after = await send();
  const left = JSON.parse(await store.homeward('bans', 'list', '--json')) as unknown[];
  return [
    {
      claim: 'X-RateLimit-Strikes-Remaining gives warning of a ban',
      bar: `${strikesMax - 1} down to 0, then api_key_banned`,
      figure: `${warnings[0]} down to ${warnings.at(-1)} in ${warnings.length} steps, then ${banned}`,
      holds: banned === 'api_key_banned' && warnings.every((value, i) => value === strikesMax - 1 - i),
    },
    {
      claim: "'homeward bans list' shows the ban, and 'bans lift' ends it",
      bar: 'listed, lifted, the next request not refused by it, the list empty',
      figure: `${listed.length} listed, lifted ${lifted.lifted}, then ${codeOf(after) || after.status}, ${left.length} listed`,
      holds: listed.length === 1 && listed[0]?.keyId === key.id && lifted.lifted && codeOf(after) !== 'api_key_banned' && left.length === 0,
    },
  ];
}

async function earnBan(send: () => Promise<Response>): Promise<Response> {
  for (let sent = 0; sent < requestsUntilBanMax; sent += 1) {
    const response = await send();
    if (codeOf(response) === 'api_key_banned') return response;
  }
  throw new Error(`no ban after ${requestsUntilBanMax} requests`);
}

/** Over the store's processes in turn. */
function sendTo(store: Store, http: HttpClient): Send {
  let sent = 0;
  return ({ key }) => {
    sent += 1;
    return http.send(`${store.processes[sent % store.processes.length]?.url}/pets?limit=1`, { key });
  };
}

/** The code of an Error body; '' for an answer that is none. */
const codeOf = ({ status, text }: Response): string => (status < 400 ? '' : (JSON.parse(text) as { code: string }).code);

async function until(store: Store, timeMs: number): Promise<void> {
  for (let leftMs = timeMs - store.now(); leftMs > 0; leftMs = timeMs - store.now()) await sleep(Math.ceil(leftMs / clockRate));
}
