// Which keys are banned and for how long, and which are not. The four bans take 81 minutes, so their store's clock runs 600 times as fast.
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient, type Response } from '../testkit/http.ts';
import { Staff } from '../testkit/staff.ts';
import { type Key, Store } from '../testkit/store.ts';
import { none } from './claims.ts';
import type { Claim, Proof, ProofContext } from './proof.ts';
import { outageLogLevel, retryIfRedisWasLate } from './redis-outages.ts';

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
  promise: 'a key that ignores 429 is banned for 1, 5, 15, then 60 minutes, and no other key is',
  // In the mutant, requests that were in flight at the first 429 count as strikes, and every ban is as long as the first.
  mutant: [
    { file: 'access/rate-limit/consume.lua', from: 'DAY, 1000, DAY', to: 'DAY, -1, DAY' },
    { file: 'access/rate-limit/consume.lua', from: 'math.min(ban.level + 1, #lengths)', to: '1' },
  ],
  isNightly: true,
  about: ['service/src/access/rate-limit', 'proofs/bans.ts'],
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  const common = { processes: 2, env: outageLogLevel, root };
  const stores = await Promise.all([Store.open({ ...common, clockRate }), Store.open(common)]);
  await using fast = stores[0];
  await using steady = stores[1];
  const claims = await Promise.all([proveOnFastClock(fast, { untilReset: !short, progress }), proveOnSteadyClock(steady)]);
  return claims.flat();
}

interface Options {
  /** Also wait for the day without a ban that resets the key's ban level. */
  readonly untilReset: boolean;
  readonly progress: ProofContext['progress'];
}

async function proveOnFastClock(store: Store, { untilReset, progress }: Options): Promise<Claim[]> {
  await using staff = await Staff.of(store);
  using http = new HttpClient();
  const send = sendTo(store, http);
  return await retryIfRedisWasLate(store, async (attempt) => {
    const [greedy, sibling] = (await staff.createKeys(`greedy ${attempt}`, { perMinute: 2, perDay }, 2)) as [Key, Key];
    const patient = await staff.createKey(`patient ${attempt}`, { perMinute: 10, perDay });
    const stop = new AbortController();
    const waited = waitForRetryAfter(store, () => send(patient), stop.signal);
    const bans = await measureBans(store, send, { greedy, sibling, untilReset, progress });
    stop.abort();
    return [...bans, await waited];
  });
}

/** Gets banned again and again. The fourth ban and all later ones last 60 minutes; after a day without a ban the next lasts 1 minute. */
async function measureBans(
  store: Store,
  send: Send,
  { greedy, sibling, untilReset, progress }: { greedy: Key; sibling: Key; untilReset: boolean; progress: ProofContext['progress'] },
): Promise<Claim[]> {
  const expected = untilReset ? [1, 5, 15, 60, 60, 1] : [1, 5, 15, 60];
  const lengths: number[] = [];
  const during: boolean[] = [];
  const afterwards: string[] = [];
  const siblingCodes: string[] = [];
  for (const [index, expectedMinutes] of expected.entries()) {
    progress(`ban ${index + 1} of ${expected.length}`);
    if (index > 0 && expectedMinutes === 1) await until(store, store.now() + dayMs + minuteMs);
    const ban = await sendUntilBanned(() => send(greedy));
    lengths.push(Number(ban.headers['retry-after']) / 60);
    const endMs = Number(ban.headers['x-ratelimit-reset']) * 1_000;
    // Requests throughout the ban, with the banned key and with another key of the same client.
    while (store.now() < endMs - 10_000) {
      const [banned, free] = await Promise.all([send(greedy), send(sibling)]);
      // A response that came after the ban's end doesn't count.
      if (store.now() >= endMs - 1_000) break;
      during.push(codeOf(banned) === 'api_key_banned' && Number(banned.headers['x-ratelimit-reset']) * 1_000 === endMs);
      siblingCodes.push(codeOf(free));
      await until(store, Math.min(store.now() + 2 * minuteMs, endMs));
    }
    await until(store, endMs);
    afterwards.push(codeOf(await send(greedy)));
  }
  const unchanged = during.filter(Boolean).length;
  const bannedSibling = siblingCodes.filter((code) => code === 'api_key_banned').length;
  return [
    {
      claim: `Lengths of the bans of a key that never waits, in minutes${untilReset ? ', the last after a day without one' : ''}`,
      bar: expected.join(', '),
      figure: lengths.join(', '),
      holds: lengths.join() === expected.join(),
    },
    {
      claim: 'Requests during a ban are rejected and do not extend it; the ban ends on time',
      bar: 'every one',
      figure: `${unchanged} of ${during.length}; ${afterwards.filter((code) => code !== 'api_key_banned').length} of ${lengths.length} ended on time`,
      holds: during.length >= lengths.length && unchanged === during.length && !afterwards.includes('api_key_banned'),
    },
    {
      claim: 'Requests with another key of the same client during these bans that were rejected as banned',
      bar: '0, and some got 200',
      figure: `${bannedSibling} of ${siblingCodes.length}; ${siblingCodes.filter((code) => code === '').length} got 200`,
      holds: bannedSibling === 0 && siblingCodes.includes(''),
    },
  ];
}

/** A client that uses up the limit of each minute, then waits for as long as Retry-After says. */
async function waitForRetryAfter(store: Store, send: () => Promise<Response>, stop: AbortSignal): Promise<Claim> {
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
    claim: 'A client that uses up the limit of every minute and waits for Retry-After: requests rejected as banned, strikes counted',
    bar: '0 and 0 in at least 20 minutes',
    figure: `${rejections} and ${strikesMax - strikesLeft} in ${waits} minutes`,
    holds: rejections === 0 && strikesLeft === strikesMax && waits >= 20,
  };
}

async function proveOnSteadyClock(store: Store): Promise<Claim[]> {
  await using staff = await Staff.of(store);
  using http = new HttpClient(inFlight);
  const send = sendTo(store, http);
  // Requests in flight are exempt for one second after the first 429: connections and code must be warm before it begins.
  const warm = await staff.createKey('warm', { perMinute: 1_000_000, perDay });
  for (let round = 0; round < 3; round += 1) await Promise.all(Array.from({ length: inFlight }, () => send(warm)));
  const inFlightClaims = await retryIfRedisWasLate(store, async (attempt) => {
    const bursting = await staff.createKey(`bursting ${attempt}`, { perMinute: 10, perDay });
    return [await burst(() => send(bursting))];
  });
  const dayClaims = await retryIfRedisWasLate(store, async (attempt) => {
    const spent = await staff.createKey(`spent ${attempt}`, { perMinute: strikesMax, perDay: 20 });
    return [await exceedDailyQuota(() => send(spent))];
  });
  const countdownClaims = await retryIfRedisWasLate(store, async (attempt) => {
    const counted = await staff.createKey(`counted ${attempt}`, { perMinute: 10, perDay });
    return observeBan(store, () => send(counted), counted);
  });
  return [...inFlightClaims, ...dayClaims, ...countdownClaims];
}

async function burst(send: () => Promise<Response>): Promise<Claim> {
  const responses = await Promise.all(Array.from({ length: inFlight }, send));
  const rejected = responses.filter(({ status }) => status === 429);
  const banned = responses.filter((response) => codeOf(response) === 'api_key_banned');
  const strikesLeft = Math.min(...rejected.map(({ headers }) => Number(headers['x-ratelimit-strikes-remaining'])));
  return {
    claim: `${inFlight} requests in flight at the first 429, with a key that is banned after ${strikesMax} strikes: rejected as banned, strikes counted`,
    bar: '0 and 0',
    figure: `${banned.length} and ${strikesMax - strikesLeft} of ${rejected.length} rejected`,
    holds: rejected.length > strikesMax && banned.length === 0 && strikesLeft === strikesMax,
  };
}

async function exceedDailyQuota(send: () => Promise<Response>): Promise<Claim> {
  for (let used = 0; used < 20; used += 1) await send();
  const first = await send();
  await sleep(1_100);
  const later = await Promise.all(Array.from({ length: 4 * strikesMax }, send));
  const rejected = [first, ...later].filter((response) => codeOf(response) === 'rate_limit_exceeded');
  const banned = later.filter((response) => codeOf(response) === 'api_key_banned');
  return none(
    `Requests by a client that has used up its daily quota, with a key that would be banned after ${strikesMax} strikes: rejected as banned`,
    banned.length,
    { of: later.length + 1, control: rejected.length === later.length + 1 },
  );
}

/** One ban in real time: the warnings that the key's owner gets, and how the store's staff list the ban and lift it. */
async function observeBan(store: Store, send: () => Promise<Response>, key: Key): Promise<Claim[]> {
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
      claim: 'X-RateLimit-Strikes-Remaining warns of a ban',
      bar: `${strikesMax - 1} down to 0, then api_key_banned`,
      figure: `${warnings[0]} down to ${warnings.at(-1)} in ${warnings.length} steps, then ${banned}`,
      holds: banned === 'api_key_banned' && warnings.every((value, i) => value === strikesMax - 1 - i),
    },
    {
      claim: "'homeward bans list' shows the ban, and 'bans lift' ends it",
      bar: 'listed, lifted, the next request not rejected as banned, the list empty',
      figure: `${listed.length} listed, lifted ${lifted.lifted}, then ${codeOf(after) || after.status}, ${left.length} listed`,
      holds: listed.length === 1 && listed[0]?.keyId === key.id && lifted.lifted && codeOf(after) !== 'api_key_banned' && left.length === 0,
    },
  ];
}

async function sendUntilBanned(send: () => Promise<Response>): Promise<Response> {
  for (let sent = 0; sent < requestsUntilBanMax; sent += 1) {
    const response = await send();
    if (codeOf(response) === 'api_key_banned') return response;
  }
  throw new Error(`no ban after ${requestsUntilBanMax} requests`);
}

/** Sends to the store's processes in turn. */
function sendTo(store: Store, http: HttpClient): Send {
  let sent = 0;
  return ({ key }) => {
    sent += 1;
    return http.send(`${store.processes[sent % store.processes.length]?.url}/pets?limit=1`, { key });
  };
}

/** The code of an Error body; '' for a success. */
const codeOf = ({ status, text }: Response): string => (status < 400 ? '' : (JSON.parse(text) as { code: string }).code);

async function until(store: Store, timeMs: number): Promise<void> {
  for (let leftMs = timeMs - store.now(); leftMs > 0; leftMs = timeMs - store.now()) await sleep(Math.ceil(leftMs / clockRate));
}
