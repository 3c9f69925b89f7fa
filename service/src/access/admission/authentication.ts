import { keyPrefixes } from '../../domain/token-formats.ts';
import { usualKeyHeaders, usualKeyParameters, usualSchemes } from '../../domain/usual-names.ts';
import type { Config } from '../../platform/config.ts';
import { AppError, type ErrorCode } from '../../platform/errors.ts';
import { environmentOfKey } from '../clients/api-key.ts';
import type { Invalidity, KnownKey } from '../clients/key-cache.ts';

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
