// Bytes that no client should send, and connections that send almost nothing.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient } from '../../testkit/http.ts';
import { quantile } from '../../testkit/quantile.ts';
import { type Exchange, exchange, type RawResponse } from '../../testkit/raw-socket.ts';
import { Staff } from '../../testkit/staff.ts';
import { loadFor } from '../../testkit/steady-load.ts';
import { type Key, Store } from '../../testkit/store.ts';
import { none } from '../claims.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { type RawCase, rawCorpus } from './raw-corpus.ts';

const responseTimeoutMs = 4_000;
const droppedWithinMs = 11_500;
const arrivalMs = 1_000;
const requestsPerSecond = 50;

export const rawSockets: Proof = {
  name: 'raw-sockets',
  promise: 'whatever bytes arrive, the response is a prompt Error with its headers, and never a 5xx',
  // In the mutant Node.js itself responds to parser errors, and slow requests get ten times as long.
  mutant: [
    { file: 'app.ts', from: '    clientErrorHandler: handleClientErrors(sendErrorOnSocket),\n', to: '' },
    { file: 'app.ts', from: 'headersTimeout: 5_000', to: 'headersTimeout: 50_000' },
    { file: 'app.ts', from: 'requestTimeout: 10_000', to: 'requestTimeout: 100_000' },
  ],
  isNightly: true,
  about: ['service/src/app.ts', 'service/src/platform/http', 'proofs/raw-sockets'],
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  await using store = await Store.open({ processes: 1, root });
  await using staff = await Staff.of(store);
  const key = await staff.createKey('raw', { perMinute: 1_000_000, perDay: 1_000_000 });
  const [serve] = store.processes;
  if (!serve) throw new Error('the store has no process');
  const port = Number(new URL(serve.url).port);
  const [quick = [], slow = []] = [false, true].map((isSlow) => rawCorpus(key.key).filter((one) => 'withinMs' in one === isSlow));
  const sendAll = (cases: readonly RawCase[]) => Promise.all(cases.map(async (one) => ({ one, got: await send(port, one) })));
  progress('the corpus');
  const quickGot = await sendAll(quick);
  const latency = await controlLatency(serve.url, key, short ? 3_000 : 10_000, progress);
  const [slowGot, flood] = await Promise.all([sendAll(slow), slowSockets(serve.url, key, short ? 200 : 1_000, latency, progress)]);
  return [...judgeCorpus([...quickGot, ...slowGot]), ...flood, judgeLog(serve.log())];
}

function send(port: number, { steps, statuses, ends = false, withinMs = responseTimeoutMs }: RawCase): Promise<Exchange> {
  return exchange(port, steps, { expected: statuses.length, untilEnd: ends, timeoutMs: withinMs + 1_000 });
}

function judgeCorpus(corpus: ReadonlyArray<{ one: RawCase; got: Exchange }>): Claim[] {
  const wrong = corpus.filter(({ one, got }) => !isAsExpected(one, got));
  const late = corpus.filter(({ one, got }) => !(got.respondedAfterMs <= (one.withinMs ?? responseTimeoutMs)));
  const errors = corpus.flatMap(({ one, got }) =>
    got.responses.filter(({ status }) => !(status < 400)).map((response) => ({ one, response })),
  );
  const bare = errors.filter(({ one, response }) => !isWholeError(response, one.outside ?? false));
  const fives = errors.filter(({ response }) => !(response.status < 500));
  const slowest = (status: number) =>
    Math.max(...corpus.filter(({ one }) => one.statuses[0] === status).map(({ got }) => got.respondedAfterMs));
  return [
    {
      claim:
        'Hostile and unusual requests that get exactly the expected responses; the connection is closed where its bytes cannot be trusted',
      bar: 'every one',
      figure: `${corpus.length - wrong.length} of ${corpus.length}${named(wrong)}`,
      holds: wrong.length === 0,
    },
    {
      claim:
        'Error responses with a body of exactly code, message and status, an X-Request-Id and, under /v1, the three X-RateLimit headers',
      bar: 'every one',
      figure: `${errors.length - bare.length} of ${errors.length}${named(bare)}`,
      holds: errors.length > 0 && bare.length === 0,
    },
    { claim: '5xx responses to them', bar: '0', figure: `${fives.length}${named(fives)}`, holds: fives.length === 0 },
    {
      claim: `Requests that get a response in time: within ${responseTimeoutMs / 1_000} s, slow headers within 6 s, slow bodies within 11.5 s`,
      bar: 'every one',
      figure: `${corpus.length - late.length} of ${corpus.length}, the slowest 408 after ${(slowest(408) / 1_000).toFixed(1)} s${named(late)}`,
      holds: late.length === 0,
    },
  ];
}

function named(list: ReadonlyArray<{ one: RawCase }>): string {
  if (list.length === 0) return '';
  const names = list.slice(0, 5).map(({ one }) => one.name);
  return ` (not: ${names.join('; ')}${list.length > names.length ? `; and ${list.length - names.length} more` : ''})`;
}

function isAsExpected({ statuses, ends }: RawCase, got: Exchange): boolean {
  return got.responses.map(({ status }) => status).join() === statuses.join() && (!ends || got.ended);
}

function isWholeError({ status, headers, text }: RawResponse, outside: boolean): boolean {
  const limitHeaders = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
  if (!headers.get('x-request-id') || !(outside || limitHeaders.every((name) => /^\d+$/.test(headers.get(name) ?? '')))) return false;
  try {
    const body = JSON.parse(text) as Record<string, unknown>;
    const strings = typeof body['code'] === 'string' && typeof body['message'] === 'string';
    return strings && body['status'] === status && Object.keys(body).sort().join() === 'code,message,status';
  } catch {
    return false;
  }
}

async function controlLatency(url: string, key: Key, forMs: number, progress: ProofContext['progress']): Promise<number[]> {
  progress('latency without slow connections');
  await steadyRequests(url, key, 500);
  return steadyRequests(url, key, forMs);
}

/** Half of the connections send a header one byte at a time, half a body; meanwhile another client sends ordinary requests. */
async function slowSockets(
  url: string,
  key: Key,
  count: number,
  control: readonly number[],
  progress: ProofContext['progress'],
): Promise<Claim[]> {
  progress(`latency with ${count} slow connections`);
  const port = Number(new URL(url).port);
  const flood = Promise.all(
    Array.from({ length: count }, (_, i) => sleep((i / count) * arrivalMs).then(() => dripUntilDropped(port, key, i % 2 === 0))),
  );
  const beside = await steadyRequests(url, key, droppedWithinMs);
  const lifetimes = await flood;
  const dropped = lifetimes.filter((ms) => ms <= droppedWithinMs);
  return [
    {
      claim: `${count} connections that send a byte every second, half of them in a header, half in a body, are dropped within ${droppedWithinMs / 1_000} s`,
      bar: 'every one',
      figure: `${dropped.length} of ${count}, the last after ${(Math.max(...lifetimes) / 1_000).toFixed(1)} s`,
      holds: dropped.length === count,
      isTimed: true,
    },
    judgeLatency('at the median', 0.5, 2, control, beside),
    // On a shared machine, the tail of a few hundred requests reflects the other load on it.
    ...(count < 1_000 ? [] : [judgeLatency('at p99', 0.99, 20, control, beside)]),
  ];
}

function judgeLatency(percentile: string, q: number, slackMs: number, control: readonly number[], beside: readonly number[]): Claim {
  const [without, withThem] = [quantile(control, q), quantile(beside, q)];
  return {
    claim: `Meanwhile another client's requests take, ${percentile}`,
    bar: `at most 20 % and ${slackMs} ms more than without these connections`,
    figure: `${withThem.toFixed(1)} ms, ${without.toFixed(1)} ms without`,
    holds: withThem <= without * 1.2 + slackMs,
    isTimed: true,
  };
}

/** Resolves to the time until the server dropped the connection. */
function dripUntilDropped(port: number, key: Key, inHeader: boolean): Promise<number> {
  return new Promise((resolve) => {
    const startMs = performance.now();
    const socket = connect(port, '127.0.0.1');
    const body = `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key.key}\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n`;
    socket.write(inHeader ? 'GET /v1/pets HTTP/1.1\r\nX: ' : body);
    const drip = setInterval(() => socket.write('a'), 1_000);
    const giveUp = setTimeout(() => end(Number.POSITIVE_INFINITY), droppedWithinMs + 1_000);
    const end = (ms: number) => {
      clearInterval(drip);
      clearTimeout(giveUp);
      socket.destroy();
      resolve(ms);
    };
    socket
      .on('error', () => {})
      .resume()
      .once('close', () => end(performance.now() - startMs));
  });
}

/** The duration of each request in ms; Infinity for one that failed. */
async function steadyRequests(url: string, key: Key, forMs: number): Promise<number[]> {
  using http = new HttpClient();
  const samples = await loadFor(forMs, requestsPerSecond, () => http.send(`${url}/pets`, { key: key.key }));
  return samples.map(({ response, tookMs }) => (response?.status === 200 ? tookMs : Number.POSITIVE_INFINITY));
}

function judgeLog(log: string): Claim {
  const faults = log.split('\n').filter((line) => /"level":(50|60)/.test(line));
  return none('Errors that the process logged', faults.length);
}
