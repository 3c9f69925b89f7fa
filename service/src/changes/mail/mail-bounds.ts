import { createHmac, hkdfSync } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { normalizeEmail } from '../../platform/email-addresses.ts';
import type { CountBounds } from './claim-queries.ts';

/** On one day (UTC). To one address: someone who fills in forms with others' addresses sends them no more. Or, of what staff cause, about one subject. */
export const addressBounds: CountBounds = { confirmations: 3, messages: 10 };

/** Of those to an address, what one client causes: the last confirmation of the day is kept for another client. */
export const askerBounds: CountBounds = { ...addressBounds, confirmations: 2 };

/**
 * On one day (UTC), of what is sent about a shelter: to adopters for what one client submits there, and when that ends without a decision,
 * as when the client withdraws it, so that nobody uses up what is others'; to adopters for what its staff decide; to the shelter itself.
 */
export const shelterBounds = {
  submissions: { confirmations: 1_000, messages: 2_000 },
  endings: { confirmations: 500, messages: 5_000 },
  decisions: { confirmations: 500, messages: 5_000 },
  own: { confirmations: 5, messages: 30 },
} as const satisfies Record<string, CountBounds>;

export type ShelterBound = keyof typeof shelterBounds;

/** In place of a server's code, for staff. */
export const dailyLimit = '4.7.1 daily limit';

/** The key by which addresses are hashed. Derived, so that no other use of the secret has the same one. */
export const addressKeyOf = (secret: Buffer): Buffer => Buffer.from(hkdfSync('sha256', secret, '', 'homeward: addresses of mail, 1', 32));

/** Not a plain hash: addresses can be guessed, and a dump without the key must have no trace of them. */
export const hashAddress = (key: Buffer, address: string): Buffer => createHmac('sha256', key).update(mailboxOf(address)).digest();

/** Of what staff cause: staff who decide to and fro, or a program that does, send no flood. No address is like this. */
export const hashSubject = (key: Buffer, subjectId: bigint): Buffer => createHmac('sha256', key).update(`subject ${subjectId}`).digest();

/** What a shelter, or one client there, has caused. No address is like this. */
export const hashShelter = (
  key: Buffer,
  bound: ShelterBound,
  { id, clientId }: { readonly id: bigint; readonly clientId?: bigint },
): Buffer =>
  createHmac('sha256', key)
    .update(`shelter ${id} ${bound} ${bound === 'submissions' || bound === 'endings' ? clientId : ''}`)
    .digest();

/** What one client has caused to an address that nobody has confirmed. No address is like this. */
export const hashAsked = (key: Buffer, address: string, clientId: bigint): Buffer =>
  createHmac('sha256', key)
    .update(`asked ${clientId} ${mailboxOf(address)}`)
    .digest();

/** Invitations of an address, apart from what it gets as an adopter. No address is like this. */
export const hashInvited = (key: Buffer, address: string): Buffer =>
  createHmac('sha256', key)
    .update(`invited ${mailboxOf(address)}`)
    .digest();

/** Gmail ignores the dots in a name, and has two domains. */
const mailboxOf = (address: string): string =>
  normalizeEmail(address).replace(/^(.+)@(?:gmail|googlemail)\.com$/u, (_, name: string) => `${name.replaceAll('.', '')}@gmail.com`);

const pauseMsMin = 1_000;
const pauseMsMax = 60_000;

/**
 * Between attempts while the server can't be reached, rejects the login, or fails in another way. Shared by the senders: a server may lock out
 * who tries too often. A single fault is followed by no pause: connections break.
 */
export class ServerPause {
  #failures = 0;
  #untilMs = 0;

  /** The server has failed. Failures of several senders at the same time are one. */
  note(): void {
    const nowMs = performance.now();
    if (nowMs < this.#untilMs) return;
    this.#failures += 1;
    if (this.#failures > 1) this.#untilMs = nowMs + Math.min(pauseMsMin * 2 ** (this.#failures - 2), pauseMsMax);
  }

  /** The server works. */
  clear(): void {
    this.#failures = 0;
    this.#untilMs = 0;
  }

  async wait(signal: AbortSignal): Promise<void> {
    const leftMs = this.#untilMs - performance.now();
    if (leftMs > 0) await sleep(leftMs, undefined, { signal }).catch(() => {});
  }
}
