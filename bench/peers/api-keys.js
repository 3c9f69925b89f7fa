// What the three peers share of authentication: the key's hash, its look-up, and a memory of 10 s.
import { createHash } from 'node:crypto';

/** Takes the hash as its only parameter. */
export const findKeyStatement = `select api_keys.id as "keyId", client_id as "clientId", scopes, expires_at as "expiresAt",
    revoked_at as "revokedAt", per_minute as "perMinute", per_day as "perDay"
  from api_keys join clients on clients.id = client_id where hash = decode($1, 'hex')`;

const rememberedMs = 10_000;
const rememberedMax = 50_000;

/** `find` looks a hash up in PostgreSQL. Returns a function from an Authorization header to the key that it names, if it is valid. */
export function createAuthenticator(find) {
  const remembered = new Map();
  return async (authorization) => {
    if (!authorization?.startsWith('Bearer ')) return undefined;
    const hash = createHash('sha256').update(authorization.slice(7)).digest('hex');
    const now = Date.now();
    let entry = remembered.get(hash);
    if (!entry || entry.untilMs < now) {
      // The promise is kept, so that requests at the same time share one query.
      entry = { key: find(hash), untilMs: now + rememberedMs };
      entry.key.catch(() => remembered.delete(hash));
      remembered.delete(hash);
      remembered.set(hash, entry);
      if (remembered.size > rememberedMax) remembered.delete(remembered.keys().next().value);
    }
    const key = await entry.key;
    const isValid = key && !key.revokedAt && (!key.expiresAt || key.expiresAt.getTime() > now);
    return isValid ? key : undefined;
  };
}
