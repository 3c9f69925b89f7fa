import { environmentOfKey } from '../clients/api-key.ts';
import { clientSubject } from '../clients/client-epochs.ts';
import { endOf, type KeyEnd } from '../clients/key-end.ts';
import type { KeyFinder } from '../clients/key-finder.ts';
import type { KnownKey } from '../clients/key-memory.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Scope } from '../domain/scopes.ts';
import { AppError, internalError } from '../errors.ts';
import { networkOf } from '../http/addresses.ts';
import { msUntilAdmitted, type Verdict } from '../rate-limit/decide.ts';
import type { Limiter } from '../rate-limit/limiter.ts';
import { addressQuota, type Bounds, type Quota } from '../rate-limit/plans.ts';
import { type RateLimitHeaders, rateLimitHeaders, refuseAddress, refuseClient } from '../rate-limit/rate-limit-headers.ts';
import type { LimiterAnswer } from '../rate-limit/redis-limiter.ts';

/** Who sends a request. */
export interface Caller {
  readonly clientId: bigint;
  readonly keyId: bigint;
  readonly scopes: readonly Scope[];
  readonly bounds: Bounds;
  readonly quota: Quota;
}

/** How a client stands with its limits. */
export interface Standing {
  readonly verdict: Verdict;
  readonly quota: Quota;
  readonly plan: string;
}

/** What a request tries out, on staging. */
export interface Rehearsal {
  /** When it meets deprecations; undefined: now. */
  readonly nowMs: number | undefined;
  readonly isLate: boolean;
}

export type Admission =
  | {
      readonly caller: Caller;
      readonly headers: RateLimitHeaders;
      /** Undefined: nobody vouches for a page that was kept. */
      readonly catalogueToken: string | undefined;
      readonly standing: Standing;
      /** Undefined: nothing is tried out, as always in production. */
      readonly rehearsal?: Rehearsal;
    }
  | { readonly refusal: AppError; readonly caller?: Caller; readonly headers: RateLimitHeaders };

interface Parts {
  readonly keys: Pick<KeyFinder, 'recall' | 'lookUp'>;
  readonly limiter: Pick<Limiter, 'consume'>;
  readonly clock: Clock;
  readonly config: Pick<Config, 'environment' | 'otherUrl'>;
}

/** What the limiter has said already of a request. */
export interface Decided {
  readonly known: KnownKey;
  readonly answer: LimiterAnswer;
}

interface Request {
  readonly authorization: string | undefined;
  /** A function: parsing an IPv6 address takes some 10 µs, and a cached key needs no address. */
  readonly address: () => string;
  readonly decided?: Decided | undefined;
}

const epochChangesMax = 3;

/** Stands for an Authorization header that was sent more than once: none of them is believed. */
export const givenTwice = 'given twice';

/** Authenticates and counts one request, before it is routed and before its body is read. */
export async function admit(parts: Parts, request: Request): Promise<Admission> {
  try {
    return await admitKey(parts, readKey(request.authorization, parts.config), request);
  } catch (error) {
    return refuse(parts, error instanceof AppError ? error : internalError(error), request.address());
  }
}

/** What an address without a valid key sees of its limit; nothing is counted. */
export async function lookAtAddress(limiter: Parts['limiter'], address: string): Promise<RateLimitHeaders> {
  return rateLimitHeaders(await chargeAddress(limiter, address, 0), addressQuota);
}

/**
 * Charges a client a request for work that its stream does by itself. Without its key, so that a refusal is no strike and opens
 * no free second: the reader did nothing wrong. Returns the ms after which to ask again; 0: admitted.
 */
export async function chargeForWork(limiter: Parts['limiter'], { clientId, quota }: Pick<Caller, 'clientId' | 'quota'>): Promise<number> {
  const answer = await limiter.consume({ subject: clientSubject(clientId), quota, cost: 1 });
  if ('stale' in answer) throw new Error('a charge without a key has no epoch');
  return msUntilAdmitted(answer.verdict);
}

/** Counts a request that could not even be read; the answer is 400 whatever the count says. */
export async function countUnreadable(limiter: Parts['limiter'], address: string): Promise<RateLimitHeaders> {
  return rateLimitHeaders(await chargeAddress(limiter, address, 1), addressQuota);
}

async function admitKey(parts: Parts, given: string, { address, decided }: Request): Promise<Admission> {
  const { keys, limiter } = parts;
  let known = decided?.known ?? validate(parts, keys.recall(given) ?? (await keys.lookUp(given, networkOf(address()), undefined)));
  for (let changes = 0; changes <= epochChangesMax; changes += 1) {
    const answer = (changes === 0 && decided?.answer) || (await limiter.consume(known.charge));
    if ('stale' in answer) {
      known = validate(parts, await keys.lookUp(given, networkOf(address()), answer.stale.epoch));
      continue;
    }
    // Without Redis nobody vouches for what is remembered.
    if (answer.by === 'process' && known.epoch !== undefined)
      known = validate(parts, await keys.lookUp(given, networkOf(address()), undefined));
    return conclude(known, answer.verdict, answer.by === 'redis' ? answer.catalogueToken : undefined);
  }
  throw new AppError('unavailable', 'This client is being changed too fast. Repeat the request in 1 s.', {
    headers: { 'retry-after': '1' },
  });
}

function conclude({ key, client, bounds, charge: { quota } }: KnownKey, verdict: Verdict, catalogueToken: string | undefined): Admission {
  const headers = rateLimitHeaders(verdict, quota);
  const caller = { clientId: client.id, keyId: key.id, scopes: key.scopes, bounds, quota };
  if (verdict.outcome !== 'admitted') return { refusal: refuseClient(verdict, quota, client.plan), caller, headers };
  // Only now, since a suspension can end: the limiter has just said that what is known of the client is true.
  if (client.suspendedAt) return { refusal: suspended(client), caller, headers };
  return { caller, headers, catalogueToken, standing: { verdict, quota, plan: client.plan } };
}

/** A request that names no valid key counts against its address, and is told 429 once that is exhausted. */
async function refuse({ limiter }: Parts, error: AppError, address: string): Promise<Admission> {
  const cost = error.status === 401 ? 1 : 0;
  const verdict = await chargeAddress(limiter, address, cost);
  const refusal = verdict.outcome === 'admitted' ? error : refuseAddress(verdict, addressQuota);
  return { refusal, headers: rateLimitHeaders(verdict, addressQuota) };
}

async function chargeAddress(limiter: Parts['limiter'], address: string, cost: 0 | 1): Promise<Verdict> {
  const answer = await limiter.consume({ subject: address, quota: addressQuota, cost });
  if ('stale' in answer) throw new Error('an address has no epoch');
  return answer.verdict;
}

function readKey(authorization: string | undefined, config: Parts['config']): string {
  if (authorization === undefined) {
    throw new AppError('api_key_missing', "Send your key as 'Authorization: Bearer <API_KEY>'. This request had no Authorization header.", {
      headers: { 'www-authenticate': 'Bearer' },
    });
  }
  if (authorization === givenTwice) throw invalid('The Authorization header is given more than once; send it once.');
  const [scheme = '', key = '', ...rest] = authorization.trim().split(/ +/);
  if (scheme.toLowerCase() !== 'bearer') {
    throw invalid("The Authorization header must be 'Bearer <API_KEY>'; it names another scheme.");
  }
  const environment = rest.length === 0 ? environmentOfKey(key) : undefined;
  if (environment === undefined) {
    throw invalid("This is not a Homeward key: it is mistyped or cut off. A key starts with 'hw_' and has 46 characters.");
  }
  if (environment !== config.environment) {
    const there = config.otherUrl ? ` ${environment === 'staging' ? 'Staging' : 'Production'} is at ${config.otherUrl}.` : '';
    throw invalid(`This is a ${environment} key, and this is ${config.environment}.${there}`);
  }
  return key;
}

/** Whether `validate` and `conclude` would let it pass. */
export const isUsable = ({ key, client }: KnownKey, nowMs: number): boolean =>
  client.suspendedAt === null && endOf(key, nowMs) === undefined;

function validate({ clock }: Parts, known: KnownKey | undefined): KnownKey {
  if (!known) throw invalid('No such key exists here. Compare it with the one you saved when it was made.');
  const end = endOf(known.key, clock.now());
  if (!end) return known;
  const { id, replacedBy } = known.key;
  const at = end.at.toISOString();
  if (end.code === 'api_key_revoked') throw invalid(`Key ${id} was revoked at ${at}. Use another key.`, end.code);
  const why = replacedBy ? `was replaced by key ${replacedBy}, and its overlap ended` : 'expired';
  throw invalid(`Key ${id} ${why} at ${at}. Use ${replacedBy ? 'its successor' : 'a new key'}.`, end.code);
}

const suspended = ({ name, suspendedAt }: KnownKey['client']) =>
  new AppError(
    'client_suspended',
    `${name} was suspended by the store at ${suspendedAt?.toISOString()}. Ask the store's staff; your keys work again once it is resumed.`,
  );

function invalid(message: string, code: 'api_key_invalid' | KeyEnd['code'] = 'api_key_invalid'): AppError {
  return new AppError(code, message, { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } });
}
