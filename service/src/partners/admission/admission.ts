import type { ListVersion } from '../../domain/list-version.ts';
import type { Scope } from '../../domain/scopes.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import type { ChangeWatch } from '../../platform/db/change-watch.ts';
import { AppError, internalError, retryLater } from '../../platform/errors.ts';
import { networkOf } from '../../platform/http/addresses.ts';
import { clientSubject } from '../clients/client-epochs.ts';
import type { KnownKey } from '../clients/key-cache.ts';
import type { KeyFinder, ReadEpoch } from '../clients/key-finder.ts';
import { invalidityOf } from '../clients/key-validity.ts';
import { msUntilAdmitted, type Verdict } from '../rate-limit/decide.ts';
import type { Limiter } from '../rate-limit/limiter.ts';
import { addressQuota, type Bounds, type Quota } from '../rate-limit/plans.ts';
import { addressLimitError, clientLimitError, type RateLimitHeaders, rateLimitHeaders } from '../rate-limit/rate-limit-headers.ts';
import type { LimiterDecision } from '../rate-limit/redis-limiter.ts';
import { invalidKey, readKey, unknownKey } from './authentication.ts';
import type { KeyPlaces } from './misplaced-key.ts';

/** The client and key that sent a request. */
export interface Caller {
  readonly clientId: bigint;
  readonly keyId: bigint;
  readonly personId: null;
  /** The shelter that the key is bound to; null: none. */
  readonly shelterId: bigint | null;
  readonly scopes: readonly Scope[];
  readonly bounds: Bounds;
  readonly quota: Quota;
}

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
      readonly caller: Caller;
      readonly headers: RateLimitHeaders;
      /** Undefined: no page may be cached or served from the cache. */
      readonly listVersion: ListVersion | undefined;
      readonly rateLimit: RateLimitState;
      /** Undefined: nothing is rehearsed. Always undefined in production. */
      readonly rehearsal?: Rehearsal;
    }
  | { readonly error: AppError; readonly caller?: Caller; readonly headers: RateLimitHeaders };

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
  return rateLimitHeaders(await chargeAddress(limiter, address, 0), addressQuota);
}

/**
 * Charges a client one request for a page that its stream reads. The charge has no key, so a rejection is not a strike and
 * opens no grace second: the reader did nothing wrong. Returns the ms to wait before the next attempt; 0: admitted.
 */
export async function chargeForWork(
  limiter: Pick<Limiter, 'consume'>,
  { clientId, quota }: Pick<Caller, 'clientId' | 'quota'>,
): Promise<number> {
  const decision = await limiter.consume({ subject: clientSubject(clientId), quota, cost: 1 });
  if ('stale' in decision) throw new Error('a charge without a key has no epoch');
  return msUntilAdmitted(decision.verdict);
}

/** Counts a malformed request against its address. It is never 429: its response is the error for the malformed request. */
export async function countUnreadable(limiter: Pick<Limiter, 'consume'>, address: string): Promise<RateLimitHeaders> {
  return rateLimitHeaders(await chargeAddress(limiter, address, 1), addressQuota);
}

/** Counts a request that needs no key against its address. Returns the seconds until it may be sent again; 0: admitted. */
export async function admitAddress(limiter: Pick<Limiter, 'consume'>, address: string): Promise<number> {
  return Math.ceil(msUntilAdmitted(await chargeAddress(limiter, address, 1)) / 1_000);
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
  const { plan, bounds, quota } = known.terms;
  const headers = rateLimitHeaders(verdict, quota);
  const caller = {
    clientId: known.clientId,
    keyId: known.id,
    personId: null,
    shelterId: known.shelterId,
    scopes: known.scopes,
    bounds,
    quota,
  };
  if (verdict.outcome !== 'admitted') return { error: clientLimitError(verdict, quota, plan), caller, headers };
  // A suspension can end, so it is checked only now: the limiter has just confirmed that the cache entry is not stale.
  const invalidity = invalidityOf(known, nowMs);
  if (invalidity) return { error: invalidKey(known, invalidity), caller, headers };
  return { caller, headers, listVersion, rateLimit: { verdict, quota, plan } };
}

/** A request without a valid key counts against its address, and gets 429 once the address's limit is reached. */
async function reject({ limiter }: Parts, error: AppError, address: string): Promise<Admission> {
  const verdict = await chargeAddress(limiter, address, error.status === 401 ? 1 : 0);
  const headers = rateLimitHeaders(verdict, addressQuota);
  return { error: verdict.outcome === 'admitted' ? error : addressLimitError(verdict, addressQuota), headers };
}

async function chargeAddress(limiter: Pick<Limiter, 'consume'>, address: string, cost: 0 | 1): Promise<Verdict> {
  const decision = await limiter.consume({ subject: address, quota: addressQuota, cost });
  if ('stale' in decision) throw new Error('an address has no epoch');
  return decision.verdict;
}
