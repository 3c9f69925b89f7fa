import type { ListVersion } from '../../domain/caches.ts';
import { networkOf } from '../../platform/caller-addresses.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import type { ChangeWatch } from '../../platform/db/change-watch.ts';
import { AppError, internalError, retryLater } from '../../platform/errors.ts';
import { invalidityOf, type KnownKey } from '../clients/key-cache.ts';
import type { KeyFinder, ReadEpoch } from '../clients/key-finder.ts';
import { type KeyCaller, keyCaller } from '../principals/principals.ts';
import { charge, clientSubject } from '../rate-limit/charging.ts';
import type { Verdict } from '../rate-limit/decide.ts';
import type { Limiter } from '../rate-limit/limiter.ts';
import { addressQuotas, type Quota } from '../rate-limit/plans.ts';
import { addressLimitError, clientLimitError, type RateLimitHeaders, rateLimitHeaders } from '../rate-limit/rate-limit-headers.ts';
import type { LimiterDecision } from '../rate-limit/redis-limiter.ts';
import { invalidKey, type KeyPlaces, readKey, unknownKey } from './authentication.ts';

/** A client's rate limit after this request was counted. */
export interface RateLimitState {
  readonly verdict: Verdict;
  readonly quota: Quota;
  readonly plan: string;
}

/** What a request rehearses, on staging. */
export interface Rehearsal {
  /** The simulated time for deprecations; undefined: the real time. */
  readonly nowMs: number | undefined;
  /** The response is sent late. */
  readonly isDelayed: boolean;
}

export type Admission =
  | {
      readonly caller: KeyCaller;
      readonly headers: RateLimitHeaders;
      /** Undefined: no page may be cached or served from the cache. */
      readonly listVersion: ListVersion | undefined;
      readonly rateLimit: RateLimitState;
      /** Undefined: nothing is rehearsed. Always undefined in production. */
      readonly rehearsal?: Rehearsal;
    }
  | { readonly error: AppError; readonly caller?: KeyCaller; readonly headers: RateLimitHeaders };

interface Parts {
  readonly keys: Pick<KeyFinder, 'findCached' | 'isCurrent' | 'lookUp'>;
  readonly limiter: Pick<Limiter, 'consume' | 'readEpoch'>;
  readonly changes: Pick<ChangeWatch, 'isTrusted' | 'trust'>;
  readonly clock: Clock;
  readonly config: Pick<Config, 'environment' | 'otherUrl'>;
}

/** The limiter's decision about a request that fell through from the fast path, so that it is counted once. */
export interface LimiterResult {
  readonly known: KnownKey;
  readonly decision: LimiterDecision;
}

interface Request {
  readonly authorization: string | undefined;
  /** A function: parsing an IPv6 address takes some 10 µs, and a cached key needs no address. */
  readonly address: () => string;
  readonly decided?: LimiterResult | undefined;
  /** Where a request without the header may have its key, for the message. */
  readonly places?: KeyPlaces | undefined;
}

const epochChangesMax = 3;
/** The name of its span in a trace. */
export const admissionSpan = 'admission';

/** Authenticates and rate-limits one request, before it is routed and before its body is read. */
export async function admit(parts: Parts, request: Request): Promise<Admission> {
  try {
    return await admitKey(parts, readKey(request.authorization, parts.config, request.places), request);
  } catch (error) {
    return reject(parts, error instanceof AppError ? error : internalError(error), request.address());
  }
}

/** The rate-limit headers of an address without a valid key; nothing is counted. */
export async function readAddressHeaders(limiter: Pick<Limiter, 'consume'>, address: string): Promise<RateLimitHeaders> {
  return rateLimitHeaders(await charge(limiter, { address, purpose: 'api' }, 0), addressQuotas.api);
}

/** Counts a malformed request against its address. It is never 429: its response is the error for the malformed request. */
export async function countUnreadable(
  limiter: Pick<Limiter, 'consume'>,
  address: string,
  purpose: 'api' | 'signIn',
): Promise<RateLimitHeaders> {
  return rateLimitHeaders(await charge(limiter, { address, purpose }), addressQuotas[purpose]);
}

/**
 * Looks up the key, in the cache if possible, and lets the limiter decide. If the client's epoch has changed, the cache
 * entry is stale: look the key up again under the new epoch, and ask the limiter again, `epochChangesMax` times at most.
 */
async function admitKey(parts: Parts, given: string, { address, decided }: Request): Promise<Admission> {
  const { keys, limiter, clock } = parts;
  const lookUp = async (readEpoch: ReadEpoch) => requireNotEnded(await keys.lookUp(given, networkOf(address()), readEpoch), clock.now());
  // The fast path has checked the key of its decision, which is already counted.
  let known =
    decided?.known ??
    (await findTrusted(parts, given)) ??
    (await lookUp(({ id, clientId }) => limiter.readEpoch(clientSubject(clientId), id)));
  for (let stales = 0; stales <= epochChangesMax; stales += 1) {
    const decision = (stales === 0 && decided?.decision) || (await limiter.consume(known.charge));
    if ('stale' in decision) {
      known = await lookUp(async () => decision.stale.epoch);
      continue;
    }
    // Nobody has confirmed the epoch, but the limiter has looked for changes since the request arrived.
    if (decision.by === 'process' && !(decision.hasLooked && keys.isCurrent(known))) known = await lookUp(async () => undefined);
    return conclude(known, decision.verdict, {
      nowMs: clock.now(),
      listVersion: decision.listVersion,
    });
  }
  throw retryLater('This client is being changed too often. Retry in 1 s.');
}

/** Looks for changes first, if that is too long ago. Throws if the key has ended. Undefined: it must be looked up. */
async function findTrusted({ keys, changes, clock }: Parts, given: string): Promise<KnownKey | undefined> {
  const cached = keys.findCached(given);
  if (!cached) return undefined;
  requireNotEnded(cached, clock.now());
  if (changes.isTrusted) return cached;
  await changes.trust();
  return keys.isCurrent(cached) ? cached : undefined;
}

/** Rejects a revoked or expired key before it is counted. It never becomes valid again, so its cache entry needs no epoch. */
function requireNotEnded(known: KnownKey | undefined, nowMs: number): KnownKey {
  if (!known) throw unknownKey();
  const invalidity = invalidityOf(known, nowMs);
  if (invalidity?.isFinal) throw invalidKey(known, invalidity);
  return known;
}

function conclude(
  known: KnownKey,
  verdict: Verdict,
  { nowMs, listVersion }: { readonly nowMs: number; readonly listVersion: ListVersion | undefined },
): Admission {
  const { plan, quota } = known.terms;
  const headers = rateLimitHeaders(verdict, quota);
  const caller = keyCaller(known);
  if (verdict.outcome !== 'admitted') return { error: clientLimitError(verdict, quota, plan), caller, headers };
  // A suspension can end, so it is checked only now: the limiter has just confirmed that the cache entry is not stale.
  const invalidity = invalidityOf(known, nowMs);
  if (invalidity) return { error: invalidKey(known, invalidity), caller, headers };
  return { caller, headers, listVersion, rateLimit: { verdict, quota, plan } };
}

/** A request without a valid key counts against its address, and gets 429 once the address's limit is reached. */
async function reject({ limiter }: Parts, error: AppError, address: string): Promise<Admission> {
  const verdict = await charge(limiter, { address, purpose: 'api' }, error.status === 401 ? 1 : 0);
  const headers = rateLimitHeaders(verdict, addressQuotas.api);
  return { error: verdict.outcome === 'admitted' ? error : addressLimitError(verdict, addressQuotas.api), headers };
}
