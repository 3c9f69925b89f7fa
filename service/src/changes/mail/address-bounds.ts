import { createHmac, hkdfSync } from 'node:crypto';
import { normalizeEmail } from '../../domain/email-addresses.ts';
import type { CountBounds } from './claim-queries.ts';

/** To one address on one day (UTC), of all messages that are counted: someone who fills in forms with others' addresses sends them no more. */
export const addressBounds: CountBounds = { confirmations: 3, messages: 10 };

/** The key by which addresses are hashed. Derived, so that no other use of the secret has the same one. */
export const addressKeyOf = (secret: Buffer): Buffer => Buffer.from(hkdfSync('sha256', secret, '', 'homeward: addresses of mail, 1', 32));

/** Not a plain hash: addresses can be guessed, and a dump without the key must have no trace of them. */
export const hashAddress = (key: Buffer, address: string): Buffer => createHmac('sha256', key).update(mailboxOf(address)).digest();

/** Gmail ignores the dots in a name, and has two domains. */
const mailboxOf = (address: string): string =>
  normalizeEmail(address).replace(/^(.+)@(?:gmail|googlemail)\.com$/u, (_, name: string) => `${name.replaceAll('.', '')}@gmail.com`);
