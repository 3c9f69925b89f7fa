import type { ListVersion } from '../../domain/caches.ts';
import { keyPrefixes } from '../../domain/token-formats.ts';
import { usualKeyHeaders, usualKeyParameters, usualSchemes } from '../../domain/usual-names.ts';
import { networkOf } from '../../platform/caller-addresses.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import type { ChangeWatch } from '../../platform/db/change-watch.ts';
import { AppError, type ErrorCode, internalError, retryLater } from '../../platform/errors.ts';
import { environmentOfKey } from '../clients/api-key.ts';
import { type Invalidity, invalidityOf, type KeyFinder, type KnownKey, type ReadEpoch } from '../clients/key-finder.ts';
import { type KeyCaller, keyCaller } from '../principals/principals.ts';
import { charge, clientSubject, type Limiter } from '../rate-limit/limiter.ts';
import { addressQuotas, type Quota, type Verdict } from '../rate-limit/plans.ts';
import { addressLimitError, clientLimitError, type RateLimitHeaders, rateLimitHeaders } from '../rate-limit/rate-limit-headers.ts';
import type { LimiterDecision } from '../rate-limit/redis-limiter.ts';

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

/** Replaces the value of an Authorization header that was sent more than once: none of the values is trusted. */
export const sentTwice = 'sent twice';

/**
 * Extracts the key from an Authorization header and checks only its format. Throws a 401 that says what is wrong. `places`: where a
 * request without the header may have its key.
 */
export function readKey(
  authorization: string | undefined,
  config: Pick<Config, 'environment' | 'otherUrl'>,
  places: KeyPlaces = { rawHeaders: [], url: '' },
): string {
  if (authorization === undefined) {
    const found = describeMisplacedKey(places) ?? 'This request had no Authorization header.';
    throw new AppError('api_key_missing', `Send your key as 'Authorization: Bearer <API_KEY>'. ${found}`, {
      headers: { 'www-authenticate': 'Bearer' },
    });
  }
  if (authorization === sentTwice) throw unauthorized('The Authorization header was sent more than once; send it once.');
  const [scheme = '', ...parts] = authorization.trim().split(/ +/);
  if (scheme.toLowerCase() !== 'bearer') throw unauthorized(describeScheme(authorization));
  const [key = '', ...rest] = parts;
  const environment = rest.length === 0 ? environmentOfKey(key) : undefined;
  if (environment === undefined) {
    throw unauthorized(describeMalformedKey(parts));
  }
  if (environment !== config.environment) {
    const there = config.otherUrl ? ` ${environment === 'staging' ? 'Staging' : 'Production'} is at ${config.otherUrl}.` : '';
    throw unauthorized(`This is a ${environment} key, but this is ${config.environment}.${there}`);
  }
  return key;
}

export const unknownKey = () => unauthorized('This key does not exist here. Compare it with the one that you saved when it was created.');

/** The error for a key that is not valid. */
export function invalidKey({ id, replacedBy, suspension }: KnownKey, { code, at }: Invalidity): AppError {
  const since = at.toISOString();
  if (code === 'client_suspended') {
    return new AppError(
      code,
      `${suspension?.clientName} was suspended by the store at ${since}. Contact the store's staff. Your keys work again once the suspension ends.`,
    );
  }
  if (code === 'api_key_revoked') return unauthorized(`Key ${id} was revoked at ${since}. Use another key.`, code);
  const why = replacedBy ? `was replaced by key ${replacedBy}, and its overlap ended` : 'expired';
  return unauthorized(`Key ${id} ${why} at ${since}. Use ${replacedBy ? 'its successor' : 'a new key'}.`, code);
}

const unauthorized = (message: string, code: ErrorCode = 'api_key_invalid'): AppError =>
  new AppError(code, message, { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } });

// Says in words where a key was put that is not where it belongs. No message has a part of a value that may be a secret: names come from
// tables, or are those of a header.

/** What is looked at, of a request without a valid key. */
export interface KeyPlaces {
  /** As Node has them: names and values in turn. */
  readonly rawHeaders: readonly string[];
  /** With its query. */
  readonly url: string;
}

const queryLengthMax = 1_000;

/** Where the key was put, if the request has no Authorization header. Undefined: nowhere that is known. */
function describeMisplacedKey({ rawHeaders, url }: KeyPlaces): string | undefined {
  const header = findKeyHeader(rawHeaders);
  if (header) return `This request has the header ${header} in its place.`;
  const parameter = findKeyParameter(url);
  if (!parameter) return undefined;
  return `This request has the query parameter ${parameter} in its place: if that is your key, have it replaced, since addresses are logged.`;
}

/** A header that other APIs take a key in, or any that has a key of ours. */
function findKeyHeader(rawHeaders: readonly string[]): string | undefined {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = '', value = ''] = [rawHeaders[i], rawHeaders[i + 1]];
    if (isOneOf(usualKeyHeaders, name) || looksLikeKey(value.replace(/^\w+ /, ''))) return name.slice(0, 40);
  }
  return undefined;
}

function findKeyParameter(url: string): string | undefined {
  const query = url.slice(url.indexOf('?') + 1, url.indexOf('?') + 1 + queryLengthMax);
  if (!url.includes('?')) return undefined;
  for (const [name, value] of new URLSearchParams(query)) {
    // `key` and `token` may be something else.
    const usual = usualKeyParameters.find((one) => one === name.toLowerCase());
    if (usual && (usual.length > 5 || looksLikeKey(value))) return usual;
  }
  return undefined;
}

/** What an Authorization header has in place of `Bearer <API_KEY>`. */
function describeScheme(authorization: string): string {
  const [scheme = ''] = authorization.trim().split(/[ :=]/, 1);
  if (looksLikeKey(authorization.trim())) return "Put 'Bearer ' before your key: the Authorization header must be 'Bearer <API_KEY>'.";
  if (scheme.toLowerCase() === 'bearer') return "A space must follow 'Bearer': the Authorization header must be 'Bearer <API_KEY>'.";
  const known = usualSchemes.find((one) => one.toLowerCase() === scheme.toLowerCase());
  if (known) return `The Authorization header must be 'Bearer <API_KEY>'; this one has the scheme ${known}. Put Bearer in its place.`;
  return "The Authorization header must be 'Bearer <API_KEY>'; this one has another scheme.";
}

const notAKey = "This is not a Homeward key: it is mistyped or cut off. A key starts with 'hw_' and has 46 characters.";

/** What follows `Bearer` in place of a well-formed key, by its parts. */
function describeMalformedKey(parts: readonly string[]): string {
  const [first = '', ...others] = parts;
  if (first === '') return "Nothing follows 'Bearer' in the Authorization header: is the variable set that has your key?";
  if (first.toLowerCase() === 'bearer') return "The Authorization header has 'Bearer' twice: send 'Bearer <API_KEY>'.";
  if (isPlaceholder(first)) return `${notAKey} Put your key in place of what the example shows, and look whether its variable is set.`;
  if (/^["'<{[(]/.test(first)) return `${notAKey} Send it without quotes or brackets.`;
  if (others.length > 0 && looksLikeKey(first)) return `${notAKey} Send nothing after it.`;
  return notAKey;
}

/** What programs send if a variable is not set, and what is copied from documents. */
const isPlaceholder = (text: string) =>
  /^(undefined|null|none|nil|\$.*|%.*%|[<{[]*(your|my)?[-_ ]?(api)?[-_ ]?(key|token)[>}\]]*)$/i.test(text) || text.endsWith('…');

const looksLikeKey = (text: string) => Object.values(keyPrefixes).some((prefix) => text.startsWith(prefix));

const isOneOf = (names: readonly string[], name: string) => names.includes(name.toLowerCase());
