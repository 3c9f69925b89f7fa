import { createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';
const keyBytes = 24;
/** The limits that Standard Webhooks specifies. */
const [keyBytesMin, keyBytesMax] = [24, 64];

export const newSecret = (): string => prefix + randomBytes(keyBytes).toString('base64');

/**
 * The headers of Standard Webhooks. Each secret adds a signature; a receiver needs to know only one of the secrets.
 * Throws if a secret is malformed: a truncated secret would be a key that anyone can guess.
 */
export function signedHeaders(id: string, timestampSeconds: number, body: string, secrets: readonly string[]): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = keyOf(secret);
    if (!key) throw new TypeError('the secret is malformed');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': String(timestampSeconds), 'webhook-signature': signatures.join(' ') };
}

/** Whether deliveries can be signed with the secret. */
export const isSecret = (secret: string): boolean => keyOf(secret) !== undefined;

function keyOf(secret: string): Buffer | undefined {
  const base64 = secret.slice(prefix.length);
  const key = Buffer.from(base64, 'base64');
  // Buffer.from ignores characters that are not base64.
  const isComplete = secret.startsWith(prefix) && key.toString('base64') === base64;
  return isComplete && key.length >= keyBytesMin && key.length <= keyBytesMax ? key : undefined;
}
