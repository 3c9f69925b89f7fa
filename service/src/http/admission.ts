import { environmentOfKey, hashApiKey } from '../clients/api-key.ts';
import { clientSubject } from '../clients/client-epochs.ts';
import { type KeyFinder, TooManyLookups } from '../clients/key-finder.ts';
import type { KnownKey } from '../clients/key-memory.ts';
import type { Scope } from '../clients/scopes.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { AppError, internalError } from '../errors.ts';
import type { Verdict } from '../rate-limit/decide.ts';
import type { Limiter } from '../rate-limit/limiter.ts';
import { addressQuota, quotaOf } from '../rate-limit/plans.ts';
import { rateLimitHeaders, refuseAddress, refuseClient } from '../rate-limit/rate-limit-headers.ts';

/** Who sends a request. */
export interface Caller {
  readonly clientId: bigint;
  readonly keyId: bigint;
  readonly scopes: readonly Scope[];
}

export type Admission =
  | { readonly caller: Caller; readonly headers: Record<string, string> }
  | { readonly refusal: AppError; readonly caller?: Caller; readonly headers: Record<string, string> };

interface Parts {
  readonly keys: KeyFinder;
  readonly limiter: Limiter;
  readonly clock: Clock;
  readonly config: Pick<Config, 'environment' | 'otherUrl'>;
}

const epochChangesMax = 3;

/** Stands for an Authorization header that was sent more than once: none of them is believed. */
export const givenTwice = 'given twice';

/** Authenticates and counts one request, before it is routed and before its body is read. */
export async function admit(parts: Parts, request: { authorization: string | undefined; address: string }): Promise<Admission> {
  try {
    const hash = hashApiKey(readKey(request.authorization, parts.config));
    return await admitKey(parts, hash, request.address);
  } catch (error) {
    if (error instanceof TooManyLookups) return refuseForLookups(parts, request.address);
    return refuse(parts, error instanceof AppError ? error : internalError(error), request.address);
  }
}

/** What an address without a valid key sees of its limit; nothing is counted. */
export async function lookAtAddress(limiter: Limiter, address: string): Promise<Record<string, string>> {
  return rateLimitHeaders(await chargeAddress(limiter, address, 0), addressQuota);
}

/** Counts a request that could not even be read; the answer is 400 whatever the count says. */
export async function countUnreadable(limiter: Limiter, address: string): Promise<Record<string, string>> {
  return rateLimitHeaders(await chargeAddress(limiter, address, 1), addressQuota);
}

async function admitKey(parts: Parts, hash: string, address: string): Promise<Admission> {
  const { keys, limiter } = parts;
  let known = validate(parts, keys.recall(hash) ?? (await keys.lookUp(hash, address, undefined)));
  for (let changes = 0; changes <= epochChangesMax; changes += 1) {
    const quota = quotaOf(known.client);
    const key = { id: known.key.id, epoch: known.epoch };
    const answer = await limiter.consume({ subject: clientSubject(known.client.id), quota, cost: 1, key });
    if ('stale' in answer) {
      known = validate(parts, await keys.lookUp(hash, address, answer.stale.epoch));
      continue;
    }
    // Without Redis nobody vouches for what is remembered.
    if (answer.by === 'process' && known.epoch !== undefined) known = validate(parts, await keys.lookUp(hash, address, undefined));
    return conclude(known, answer.verdict);
  }
  throw new AppError('unavailable', 'This client is being changed too fast. Repeat the request in 1 s.', {
    headers: { 'retry-after': '1' },
  });
}

function conclude({ key, client }: KnownKey, verdict: Verdict): Admission {
  const quota = quotaOf(client);
  const headers = rateLimitHeaders(verdict, quota);
  const caller = { clientId: client.id, keyId: key.id, scopes: key.scopes };
  if (verdict.outcome !== 'admitted') return { refusal: refuseClient(verdict, quota, client.plan), caller, headers };
  return { caller, headers };
}

/** A request that names no valid key counts against its address, and is told 429 once that is exhausted. */
async function refuse({ limiter }: Parts, error: AppError, address: string): Promise<Admission> {
  const cost = error.status === 401 ? 1 : 0;
  const verdict = await chargeAddress(limiter, address, cost);
  const refusal = verdict.outcome === 'admitted' ? error : refuseAddress(verdict, addressQuota);
  return { refusal, headers: rateLimitHeaders(verdict, addressQuota) };
}

/** As if the address had used up its minute. */
async function refuseForLookups({ limiter }: Parts, address: string): Promise<Admission> {
  const verdict: Verdict = { ...(await chargeAddress(limiter, address, 1)), inMinute: addressQuota.perMinute };
  return { refusal: refuseAddress(verdict, addressQuota), headers: rateLimitHeaders(verdict, addressQuota) };
}

async function chargeAddress(limiter: Limiter, address: string, cost: 0 | 1): Promise<Verdict> {
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

function validate({ clock }: Parts, known: KnownKey | undefined): KnownKey {
  if (!known) throw invalid('No such key exists here. Compare it with the one you saved when it was made.');
  const { id, revokedAt, expiresAt, replacedBy } = known.key;
  if (revokedAt) throw invalid(`Key ${id} was revoked at ${revokedAt.toISOString()}. Use another key.`, 'api_key_revoked');
  if (expiresAt && expiresAt.getTime() <= clock.now()) {
    const why = replacedBy ? `was replaced by key ${replacedBy}, and its overlap ended` : 'expired';
    throw invalid(`Key ${id} ${why} at ${expiresAt.toISOString()}. Use ${replacedBy ? 'its successor' : 'a new key'}.`, 'api_key_expired');
  }
  return known;
}

function invalid(message: string, code: 'api_key_invalid' | 'api_key_revoked' | 'api_key_expired' = 'api_key_invalid'): AppError {
  return new AppError(code, message, { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } });
}
