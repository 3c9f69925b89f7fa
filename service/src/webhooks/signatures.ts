import { createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';
const keyBytes = 24;
/** As Standard Webhooks specifies. */
const [keyBytesMin, keyBytesMax] = [24, 64];

export const newSecret = (): string => prefix + randomBytes(keyBytes).toString('base64');

/**
 * The headers of Standard Webhooks. With several secrets there are several signatures: a receiver needs to know one.
 * Throws where a secret is malformed: what is left of one is a key that anyone can guess.
 */
export function signedHeaders(id: string, timestampSeconds: number, body: string, secrets: readonly string[]): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = keyOf(secret);
    if (!key) throw new TypeError('the secret is malformed');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': String(timestampSeconds), 'webhook-signature': signatures.join(' ') };
}

/** Whether deliveries can be signed with it. */
export const isSecret = (secret: string): boolean => keyOf(secret) !== undefined;

function keyOf(secret: string): Buffer | undefined {
  const base64 = secret.slice(prefix.length);
  const key = Buffer.from(base64, 'base64');
  // Buffer.from passes over what is not base64.
  const isWhole = secret.startsWith(prefix) && key.toString('base64') === base64;
  return isWhole && key.length >= keyBytesMin && key.length <= keyBytesMax ? key : undefined;
}
