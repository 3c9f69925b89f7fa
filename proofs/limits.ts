// One client with a limit of 1,000 requests a minute sends twice as many, in bursts that reach eight processes at once, or four in the short form.
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient, type Response } from '../testkit/http.ts';
import { Staff } from '../testkit/staff.ts';
import { type Key, Store } from '../testkit/store.ts';
import { grouped } from './claims.ts';
import type { Claim, Proof, ProofContext } from './proof.ts';
import { decidedWithoutRedis, outageLogLevel } from './redis-outages.ts';

const [processesMax, processesShort] = [8, 4];
const perMinute = 1_000;
const perDay = 100_000_000;
const windowsMin = 3;
/** More windows are measured only if Redis was late or too few requests were sent, as on a busy machine. */
const windowsMax = 12;
const sentMin = 1_500;
const withoutRedisMax = 50;
const writtenWithinMs = 50;
const minuteMs = 60_000;
const burstSize = 40;
const burstsPerMinute = 56;
/** A key that ignores 429 is banned after 1,000 such requests, so the client spreads its requests over several keys. */
const keyCount = 16;

/** A request as its sender saw it; times are on the store's clock. */
interface SentRequest {
  readonly response: Response;
  readonly sentAtMs: number;
  readonly respondedAtMs: number;
}

interface Window {
  readonly sent: readonly SentRequest[];
  /** How many requests in this window a process decided without Redis. */
  readonly withoutRedis: number;
}

export const limits: Proof = {
  name: 'limits',
  promise: 'limits are exact, whichever process gets the request',
  // The mutant ignores the counts in Redis, so each process counts by itself.
  mutant: [{ file: 'access/rate-limit/consume.lua', from: 'if stored[1] then', to: 'if false then' }],
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  const clockRate = short ? 20 : 1;
  const processes = short ? processesShort : processesMax;
  await using store = await Store.open({ processes, clockRate, env: outageLogLevel, root });
  await using staff = await Staff.of(store);
  const keys = await staff.createKeys('limited', { perMinute, perDay }, keyCount);
  const sent: SentRequest[] = [];
  // The minute in which the proof starts is not a full one.
  const firstMinute = Math.floor(store.now() / minuteMs) + 1;
  let windows: Window[] = [];
  for (let wanted = windowsMin; wanted <= windowsMax && windows.length < windowsMin; wanted += 1) {
    await demand(store, keys, (firstMinute + wanted) * minuteMs, { clockRate, sent, progress });
    windows = readWindows(store, sent, { first: firstMinute, count: wanted, clockRate }).filter(isConclusive);
  }
  return judge(sent, windows.slice(0, windowsMin), { processes, clockRate });
}

/**
 * Sends twice as many requests as are allowed, spread over all processes and keys, until `endMs` on the store's clock. They
 * are for an animal that does not exist, so that only the limit decides between 404 and 429.
 */
async function demand(
  store: Store,
  keys: readonly Key[],
  endMs: number,
  { clockRate, sent, progress }: { clockRate: number; sent: SentRequest[]; progress: ProofContext['progress'] },
): Promise<void> {
  using http = new HttpClient();
  const startMs = store.now();
  for (let burst = 0; store.now() < endMs; burst += 1) {
    const responses = Array.from({ length: burstSize }, async (_, i) => {
      const url = `${store.processes[i % store.processes.length]?.url}/pets/none`;
      const key = keys[(burst * burstSize + i) % keyCount]?.key ?? '';
      const sentAtMs = store.now();
      const response = await http.send(url, { key });
      sent.push({ response, sentAtMs, respondedAtMs: store.now() });
    });
    await Promise.all(responses);
    progress(`${sent.length} requests, ${Math.ceil((endMs - store.now()) / 1_000 / clockRate)} s left`);
    const nextMs = startMs + (burst + 1) * (minuteMs / burstsPerMinute);
    await sleep(Math.max((nextMs - store.now()) / clockRate, 0));
  }
}

function readWindows(
  store: Store,
  sent: readonly SentRequest[],
  { first, count, clockRate }: { first: number; count: number; clockRate: number },
): Window[] {
  const byMinute = Map.groupBy(sent, minuteOf);
  const realTime = (minute: number) => Date.now() - (store.now() - minute * minuteMs) / clockRate;
  const withoutRedis = decidedWithoutRedis(store);
  return Array.from({ length: count }, (_, i) => {
    const minute = first + i;
    // A process logs a decision slightly after it was made.
    const isWithin = (timeMs: number) => timeMs >= realTime(minute) && timeMs <= realTime(minute + 1) + writtenWithinMs;
    return { sent: byMinute.get(minute) ?? [], withoutRedis: withoutRedis.filter(isWithin).length };
  });
}

/** A window with too few requests, or with many that were decided without Redis, proves nothing. */
const isConclusive = ({ sent, withoutRedis }: Window) => sent.length >= sentMin && withoutRedis <= withoutRedisMax;

function judge(
  sent: readonly SentRequest[],
  windows: readonly Window[],
  { processes, clockRate }: { processes: number; clockRate: number },
): Claim[] {
  const admitted = windows.map((window) => window.sent.filter(isAdmitted).length);
  const countdowns = windows.filter(isCountdown);
  const rejected = sent.filter((one) => !isAdmitted(one));
  const rejectedRightly = rejected.filter(isRejectedRightly);
  const other = rejected.find((one) => !isRejectedRightly(one));
  const trueResets = sent.filter(isResetTrue);
  const clock = clockRate === 1 ? "Redis's clock" : `a clock ${clockRate} times as fast`;
  return [
    {
      claim: `A client with 1,000 a minute that sends twice that to ${processes} processes with ${keyCount} keys, on ${clock}, is admitted in each minute`,
      bar: `exactly 1,000 in ${windowsMin} of ${windowsMin}; when Redis is late, plus or minus the requests decided without it`,
      figure: describe(windows, admitted),
      holds:
        windows.length === windowsMin && windows.every(({ withoutRedis }, i) => Math.abs((admitted[i] ?? 0) - perMinute) <= withoutRedis),
      isTimed: windows.length < windowsMin,
    },
    {
      claim: 'X-RateLimit-Remaining of the admitted requests is 999 to 0, each value once',
      bar: `${windowsMin} of ${windowsMin} minutes; when Redis is late, except the requests decided without it`,
      figure: `${countdowns.length} of ${windows.length}`,
      holds: countdowns.length === windowsMin,
      isTimed: windows.length < windowsMin,
    },
    {
      claim: 'X-RateLimit-Reset is the end of the UTC minute in which the request was decided',
      bar: 'every response',
      figure: `${grouped(trueResets.length)} of ${grouped(sent.length)}`,
      holds: trueResets.length === sent.length,
    },
    {
      claim: 'Every other response is 429 rate_limit_exceeded',
      bar: 'every one',
      figure: `${grouped(rejectedRightly.length)} of ${grouped(rejected.length)}${other ? `, not ${other.response.text}` : ''}`,
      holds: rejected.length > 0 && rejectedRightly.length === rejected.length,
    },
  ];
}

function describe(windows: readonly Window[], admitted: readonly number[]): string {
  if (windows.length === 0) return `in each of ${windowsMax} minutes too few requests were sent, or too many decided without Redis`;
  const late = windows.some(({ withoutRedis }) => withoutRedis > 0)
    ? `; ${windows.map(({ withoutRedis }) => withoutRedis).join(', ')} decided without Redis`
    : '';
  return `${admitted.map(grouped).join(', ')} of ${windows.map((window) => grouped(window.sent.length)).join(', ')} sent${late}`;
}

/** A request decided without Redis shows the count that its process knew; the count in Redis continues without it. */
function isCountdown({ sent, withoutRedis }: Window): boolean {
  const shown = sent.filter(isAdmitted).map(({ response }) => Number(response.headers['x-ratelimit-remaining']));
  const distinct = new Set(shown);
  const inRange = shown.every((value) => Number.isInteger(value) && value >= 0 && value < perMinute);
  return inRange && shown.length - distinct.size <= withoutRedis && perMinute - distinct.size <= withoutRedis;
}

/** The request was decided at some time between its sending and its response. */
function isResetTrue({ response, sentAtMs, respondedAtMs }: SentRequest): boolean {
  const minute = minuteOf({ response });
  return Number.isInteger(minute) && minute >= Math.floor(sentAtMs / minuteMs) && minute <= Math.floor(respondedAtMs / minuteMs);
}

const isAdmitted = ({ response }: Pick<SentRequest, 'response'>) => response.status === 404;

const isRejectedRightly = ({ response }: SentRequest) => response.status === 429 && response.text.includes('rate_limit_exceeded');

/** The window that a response states, as the number of minutes since the epoch. */
const minuteOf = ({ response }: Pick<SentRequest, 'response'>) => Number(response.headers['x-ratelimit-reset']) / 60 - 1;
