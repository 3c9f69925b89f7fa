// Eight processes, one client of 1,000 requests a minute, and twice as many requests, in bursts that all of them get at once.
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient, type Response } from '../testkit/http.ts';
import { plantMutant } from '../testkit/mutant.ts';
import { Staff } from '../testkit/staff.ts';
import { type Key, Store } from '../testkit/store.ts';
import type { Claim, Proof, ProofContext } from './proof.ts';
import { decidedAlone, outageLogLevel } from './redis-outages.ts';

const processes = 8;
const perMinute = 1_000;
const perDay = 100_000_000;
const windowsMin = 3;
/** More are asked for only where Redis was late or the demand was not made, as on a machine with too much to do. */
const windowsMax = 12;
const askedMin = 1_500;
const aloneMax = 50;
const writtenWithinMs = 50;
const minuteMs = 60_000;
const burstSize = 40;
const burstsPerMinute = 56;
/** A key that goes on after 429 is banned after 1,000 such requests, so the client's demand comes by several of its keys. */
const keyCount = 16;

/** A request as its sender saw it, in the store's time. */
interface Asked {
  readonly answer: Response;
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
}

interface Window {
  readonly asked: readonly Asked[];
  /** How many requests of it a process decided without Redis. */
  readonly alone: number;
}

export const limits: Proof = {
  name: 'limits',
  promise: 'never one request over the limit, whichever process gets it',
  hasMutant: true,
  run,
};

async function run({ short, mutant, progress }: ProofContext): Promise<Claim[]> {
  // The mutant forgets what Redis holds: each process then counts for itself.
  using tree = mutant ? plantMutant([{ file: 'rate-limit/consume.lua', from: 'if stored[1] then', to: 'if false then' }]) : undefined;
  const clockRate = short ? 20 : 1;
  await using store = await Store.open({ processes, clockRate, env: outageLogLevel, root: tree?.root });
  await using staff = await Staff.of(store);
  const keys = await staff.createKeys('limited', { perMinute, perDay }, keyCount);
  const asked: Asked[] = [];
  // The minute that it begins in is not asked for in full.
  const firstMinute = Math.floor(store.now() / minuteMs) + 1;
  let windows: Window[] = [];
  for (let wanted = windowsMin; wanted <= windowsMax && windows.length < windowsMin; wanted += 1) {
    await demand(store, keys, (firstMinute + wanted) * minuteMs, { clockRate, asked, progress });
    windows = readWindows(store, asked, { first: firstMinute, count: wanted, clockRate }).filter(isTelling);
  }
  return judge(asked, windows.slice(0, windowsMin), clockRate);
}

/**
 * Asks twice as often as is allowed, over all processes and keys, until `endMs` of the store's time. It asks for an animal
 * that there is not, so that nothing but the limit decides how it ends.
 */
async function demand(
  store: Store,
  keys: readonly Key[],
  endMs: number,
  { clockRate, asked, progress }: { clockRate: number; asked: Asked[]; progress: ProofContext['progress'] },
): Promise<void> {
  using http = new HttpClient();
  const startMs = store.now();
  for (let burst = 0; store.now() < endMs; burst += 1) {
    const responses = Array.from({ length: burstSize }, async (_, i) => {
      const url = `${store.processes[i % processes]?.url}/pets/none`;
      const key = keys[(burst * burstSize + i) % keyCount]?.key ?? '';
      const sentAtMs = store.now();
      const response = await http.send(url, { key });
      asked.push({ answer: response, sentAtMs, answeredAtMs: store.now() });
    });
    await Promise.all(responses);
    progress(`${asked.length} requests, ${Math.ceil((endMs - store.now()) / 1_000 / clockRate)} s left`);
    const nextMs = startMs + (burst + 1) * (minuteMs / burstsPerMinute);
    await sleep(Math.max((nextMs - store.now()) / clockRate, 0));
  }
}

function readWindows(
  store: Store,
  asked: readonly Asked[],
  { first, count, clockRate }: { first: number; count: number; clockRate: number },
): Window[] {
  const byMinute = Map.groupBy(asked, minuteOf);
  const realTime = (minute: number) => Date.now() - (store.now() - minute * minuteMs) / clockRate;
  const alone = decidedAlone(store);
  return Array.from({ length: count }, (_, i) => {
    const minute = first + i;
    // A request may have been decided a moment before its process wrote so.
    const isWithin = (timeMs: number) => timeMs >= realTime(minute) && timeMs <= realTime(minute + 1) + writtenWithinMs;
    return { asked: byMinute.get(minute) ?? [], alone: alone.filter(isWithin).length };
  });
}

/** Where too little was asked, or much was decided without Redis, a window tells nothing. */
const isTelling = ({ asked, alone }: Window) => asked.length >= askedMin && alone <= aloneMax;

function judge(asked: readonly Asked[], windows: readonly Window[], clockRate: number): Claim[] {
  const admitted = windows.map((window) => window.asked.filter(isAdmitted).length);
  const countdowns = windows.filter(isCountdown);
  const rejected = asked.filter((one) => !isAdmitted(one));
  const rejectedRightly = rejected.filter(isRejectedRightly);
  const other = rejected.find((one) => !isRejectedRightly(one));
  const trueResets = asked.filter(isResetTrue);
  const clock = clockRate === 1 ? "Redis's clock" : `a clock ${clockRate} times as fast`;
  return [
    {
      claim: `A client of 1,000 a minute asks for twice that, over ${processes} processes and ${keyCount} keys, by ${clock}: admitted in each minute`,
      bar: `exactly 1,000 in ${windowsMin} of ${windowsMin}; where Redis is late, give or take the requests decided without it`,
      figure: describe(windows, admitted),
      holds: windows.length === windowsMin && windows.every(({ alone }, i) => Math.abs((admitted[i] ?? 0) - perMinute) <= alone),
    },
    {
      claim: 'X-RateLimit-Remaining of the admitted is 999 to 0, each once',
      bar: `${windowsMin} of ${windowsMin} minutes`,
      figure: `${countdowns.length} of ${windows.length}`,
      holds: countdowns.length === windowsMin,
    },
    {
      claim: 'X-RateLimit-Reset is the end of the UTC minute that the request fell in',
      bar: 'every answer',
      figure: `${grouped(trueResets.length)} of ${grouped(asked.length)}`,
      holds: trueResets.length === asked.length,
    },
    {
      claim: 'Every other answer is 429 rate_limit_exceeded',
      bar: 'every one',
      figure: `${grouped(rejectedRightly.length)} of ${grouped(rejected.length)}${other ? `, not ${other.answer.text}` : ''}`,
      holds: rejected.length > 0 && rejectedRightly.length === rejected.length,
    },
  ];
}

function describe(windows: readonly Window[], admitted: readonly number[]): string {
  if (windows.length === 0) return `in each of ${windowsMax} minutes too little was asked, or too much decided without Redis`;
  const late = windows.some(({ alone }) => alone > 0) ? `; ${windows.map(({ alone }) => alone).join(', ')} decided without Redis` : '';
  return `${admitted.map(grouped).join(', ')} of ${windows.map((window) => grouped(window.asked.length)).join(', ')} asked${late}`;
}

/** A request decided without Redis shows what its process knew, and the count goes on without it. */
function isCountdown({ asked, alone }: Window): boolean {
  const shown = asked.filter(isAdmitted).map(({ answer: response }) => Number(response.headers['x-ratelimit-remaining']));
  const distinct = new Set(shown);
  const inRange = shown.every((value) => Number.isInteger(value) && value >= 0 && value < perMinute);
  return inRange && shown.length - distinct.size <= alone && perMinute - distinct.size <= alone;
}

/** The request was decided some time between its sending and its answer. */
function isResetTrue({ answer: response, sentAtMs, answeredAtMs: respondedAtMs }: Asked): boolean {
  const minute = minuteOf({ answer: response });
  return Number.isInteger(minute) && minute >= Math.floor(sentAtMs / minuteMs) && minute <= Math.floor(respondedAtMs / minuteMs);
}

const isAdmitted = ({ answer: response }: Pick<Asked, 'answer'>) => response.status === 404;

const isRejectedRightly = ({ answer: response }: Asked) => response.status === 429 && response.text.includes('rate_limit_exceeded');

/** The window that an answer names, numbered from the epoch. */
const minuteOf = ({ answer: response }: Pick<Asked, 'answer'>) => Number(response.headers['x-ratelimit-reset']) / 60 - 1;

const grouped = (count: number) => count.toLocaleString('en');
