import type { Config } from '../../platform/config.ts';
import { AppError, type ErrorCode } from '../../platform/errors.ts';
import { environmentOfKey } from '../clients/api-key.ts';
import type { KnownKey } from '../clients/key-cache.ts';
import type { Invalidity } from '../clients/key-validity.ts';
import { describeMalformedKey, describeMisplacedKey, describeScheme, type KeyPlaces } from './misplaced-key.ts';

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
