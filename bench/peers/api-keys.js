// Authentication for the three peers: the key's hash, its lookup, and a cache with entries of 10 s.
import { createHash } from 'node:crypto';

/** Takes the hash as its only parameter. */
export const findKeyStatement = `select api_keys.id as "keyId", client_id as "clientId", scopes, expires_at as "expiresAt",
    revoked_at as "revokedAt", per_minute as "perMinute", per_day as "perDay"
  from api_keys join clients on clients.id = client_id where hash = decode($1, 'hex')`;

const cacheMs = 10_000;
const cacheEntriesMax = 50_000;

/** `find` looks up a hash in PostgreSQL. Returns a function from an Authorization header to its key, or undefined if that is not valid. */
export function createAuthenticator(find) {
  const cache = new Map();
  return async (authorization) => {
    if (!authorization?.startsWith('Bearer ')) return undefined;
    const hash = createHash('sha256').update(authorization.slice(7)).digest('hex');
    const now = Date.now();
    let entry = cache.get(hash);
    if (!entry || entry.untilMs < now) {
      // The promise is cached, so that concurrent requests share one query.
      entry = { key: find(hash), untilMs: now + cacheMs };
      entry.key.catch(() => cache.delete(hash));
      cache.delete(hash);
      cache.set(hash, entry);
      if (cache.size > cacheEntriesMax) cache.delete(cache.keys().next().value);
    }
    const key = await entry.key;
    const isValid = key && !key.revokedAt && (!key.expiresAt || key.expiresAt.getTime() > now);
    return isValid ? key : undefined;
  };
}
