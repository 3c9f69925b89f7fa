import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isDay } from '../../platform/clock.ts';
import { AppError, show, unavailable } from '../../platform/errors.ts';
import { exposedHeaders } from '../../platform/http/protocol/browsers.ts';
import { type RedisKeys, type RedisLink, RedisLost } from '../../platform/redis/redis-link.ts';
import { minuteMs, type Quota, type Verdict } from '../rate-limit/plans.ts';
import { clientLimitError, type RateLimitHeaders, rateLimitHeaders } from '../rate-limit/rate-limit-headers.ts';
import type { Admission, RateLimitState } from './admission.ts';

interface Parts {
  readonly redis: Pick<RedisLink, 'call'>;
  readonly redisKeys: Pick<RedisKeys, 'rehearsal'>;
}

const simulations = ['rate_limit', 'ban', 'unavailable', 'slow'] as const;
type Simulation = (typeof simulations)[number];
type SimulatedError = Exclude<Simulation, 'slow'>;

const simulationLengthsMs: Record<SimulatedError, number> = { rate_limit: 3_000, ban: 10_000, unavailable: 1_000 };
/** How long the end of a simulated error is stored: within this time, the next request succeeds. */
const endRetainedMs = 300_000;

/** Further request headers that a browser may send to a staging deployment. */
export const rehearsalHeaders = ['Homeward-Now', 'Homeward-Simulate'];

export const asksForRehearsal = (headers: IncomingHttpHeaders): boolean =>
  headers['homeward-now'] !== undefined || headers['homeward-simulate'] !== undefined;

/** For a staging deployment. The request is authenticated and rate-limited as usual. If it is admitted, the simulation begins. */
export async function rehearse(parts: Parts, admission: Admission, headers: IncomingHttpHeaders): Promise<Admission> {
  if ('error' in admission || !asksForRehearsal(headers)) return admission;
  const { caller, rateLimit } = admission;
  try {
    const nowMs = readNow(headers['homeward-now']);
    const simulation = readSimulation(headers['homeward-simulate']);
    const rehearsal = { nowMs, isDelayed: simulation === 'slow' };
    const rejected = simulation && simulation !== 'slow' ? await simulateError(parts, caller.keyId, simulation, rateLimit) : undefined;
    if (rejected) return { error: rejected.error, caller, headers: { ...rejected.headers, ...noticeHeaders(nowMs, simulation) } };
    return { ...admission, rehearsal, headers: { ...admission.headers, ...noticeHeaders(nowMs, undefined) } };
  } catch (error) {
    if (error instanceof AppError) return { error, caller, headers: admission.headers };
    throw error;
  }
}

const delayedMax = 100;

/** Delays responses. The work of their requests is already done: a caller that gave up can still see its effect. */
export class DelayedResponses {
  readonly #delayMs: number;
  readonly #delayed = new Set<() => void>();
  #isEnded = false;

  constructor(delayMs = 5_000) {
    this.#delayMs = delayMs;
  }

  /** For an onSend hook. If too many are already waiting, the response is sent at once, without the notice of a simulation. */
  async delay({ rehearsal }: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (!rehearsal?.isDelayed || this.#isEnded || this.#delayed.size >= delayedMax || reply.raw.destroyed) return;
    reply.headers(noticeHeaders(rehearsal.nowMs, 'slow'));
    await this.#wait(reply.raw);
    if (this.#isEnded) reply.header('connection', 'close');
  }

  /** Sends all delayed responses, and delays no further ones. */
  end(): void {
    this.#isEnded = true;
    for (const end of this.#delayed) end();
  }

  #wait(response: ServerResponse): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timeout);
        this.#delayed.delete(end);
        response.off('close', end);
        resolve();
      };
      const timeout = setTimeout(end, this.#delayMs);
      this.#delayed.add(end);
      response.once('close', end);
    });
  }
}

function readNow(text: string | string[] | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms =
    typeof text === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(ms) && isDay(String(text).slice(0, 10))) return ms;
  throw new AppError('invalid_rehearsal', `Homeward-Now must be a time such as 2030-12-06T00:00:00Z; got ${show(text)}.`);
}

function readSimulation(text: string | string[] | undefined): Simulation | undefined {
  if (text === undefined) return undefined;
  const found = simulations.find((one) => one === text);
  if (found) return found;
  throw new AppError('invalid_rehearsal', `Homeward-Simulate must be one of ${simulations.join(', ')}; got ${show(text)}.`);
}

/** Headers that say what was simulated. They are exposed to scripts in browsers too. */
function noticeHeaders(nowMs: number | undefined, simulation: Simulation | undefined): Record<string, string> {
  const parts = [
    ...(nowMs === undefined ? [] : [`now=${new Date(nowMs).toISOString()}`]),
    ...(simulation ? [`simulate=${simulation}`] : []),
  ];
  if (parts.length === 0) return {};
  return { 'homeward-rehearsed': parts.join(', '), 'access-control-expose-headers': `${exposedHeaders}, Homeward-Rehearsed` };
}

interface RejectedBySimulation {
  readonly error: AppError;
  readonly headers: RateLimitHeaders;
}

/** Undefined: the simulated error has ended, and this request succeeds. */
async function simulateError(
  parts: Parts,
  keyId: bigint,
  kind: SimulatedError,
  rateLimit: RateLimitState,
): Promise<RejectedBySimulation | undefined> {
  const { verdict, quota, plan } = rateLimit;
  const active = await readActive(parts, keyId, kind, verdict.nowMs);
  if (!active) return undefined;
  if (kind === 'unavailable') return { error: simulated(unavailable('simulated')), headers: rateLimitHeaders(verdict, quota) };
  const simulatedVerdict = kind === 'ban' ? asIfBanned(verdict, active) : asIfUsedUp(verdict, quota, active);
  return { error: simulated(clientLimitError(simulatedVerdict, quota, plan)), headers: rateLimitHeaders(simulatedVerdict, quota) };
}

const asIfBanned = (verdict: Verdict, { endsAtMs }: ActiveSimulation): Verdict => ({
  ...verdict,
  outcome: 'banned',
  bannedUntilMs: endsAtMs,
});

const asIfUsedUp = (verdict: Verdict, quota: Quota, { endsAtMs, strikes }: ActiveSimulation): Verdict => ({
  ...verdict,
  outcome: 'minute',
  // A window that ends with the simulated error, half a millisecond earlier, so that rounding up adds no second.
  minute: (endsAtMs - 0.5) / minuteMs - 1,
  inMinute: quota.perMinute,
  // The error must be about the minute, not the day.
  inDay: Math.min(verdict.inDay, (quota.perDay ?? Number.POSITIVE_INFINITY) - 1),
  strikes,
});

const simulated = ({ code, message, headers }: AppError) =>
  new AppError(code, `${message} (simulated)`, { cause: 'simulated', headers: { ...headers } });

interface ActiveSimulation {
  readonly endsAtMs: number;
  /** Requests that did not wait for the end; undefined while Redis is lost, since nothing counts them. */
  readonly strikes: number | undefined;
}

// KEYS[1]: a key's simulated error of one kind, 'end strikes'. ARGV: the time, the end of an error that begins now, the TTL in ms.
const lua = `
local ends, strikes = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+) (%d+)$')
if ends and tonumber(ends) <= tonumber(ARGV[1]) then
  redis.call('DEL', KEYS[1])
  return ''
end
local text = ends and ends .. ' ' .. (strikes + 1) or ARGV[2] .. ' 0'
redis.call('SET', KEYS[1], text, 'PX', ARGV[3])
return text
`;

/** The simulated error that begins with this request or is still active. Undefined: it has ended; the next request begins another. */
async function readActive(
  { redis, redisKeys }: Parts,
  keyId: bigint,
  kind: SimulatedError,
  nowMs: number,
): Promise<ActiveSimulation | undefined> {
  const lengthMs = simulationLengthsMs[kind];
  // A window ends at a full second, so that X-RateLimit-Reset and Retry-After give the same time.
  const endsAtMs = kind === 'rate_limit' ? Math.floor((nowMs + lengthMs) / 1_000) * 1_000 : nowMs + lengthMs;
  try {
    const redisKey = redisKeys.rehearsal(keyId, kind);
    const text = await redis.call((client) => client.eval(lua, 1, redisKey, nowMs, endsAtMs, lengthMs + endRetainedMs));
    const [storedEndMs, strikes] = String(text).split(' ').map(Number);
    return storedEndMs === undefined || strikes === undefined ? undefined : { endsAtMs: storedEndMs, strikes };
  } catch (error) {
    if (!(error instanceof RedisLost)) throw error;
    return { endsAtMs, strikes: undefined };
  }
}
