import { createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';

export const newSecret = (): string => prefix + randomBytes(24).toString('base64');

/** The headers of Standard Webhooks. With several secrets there are several signatures: a receiver needs to know one. */
export function signedHeaders(id: string, timestampSeconds: number, body: string, secrets: readonly string[]): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': String(timestampSeconds), 'webhook-signature': signatures.join(' ') };
}
