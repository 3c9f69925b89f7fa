import { createHmac, timingSafeEqual } from 'node:crypto';

/** What has a page that only its adopter can find. */
export type Subject = 'order' | 'application';

/**
 * The end of the address of such a page: the id of the order or the application, and a 128-bit signature that only this site can make.
 * Ids are sequential, so an address with the id alone would let anyone read who adopts whom.
 * The API key is the signing key: the site needs no other secret, and the signature does not reveal the key.
 * Anyone who has the address sees the page, and can cancel. A new API key invalidates old addresses; use a separate secret if that matters.
 */
export function referenceOf(subject: Subject, id: number | bigint, key: string): string {
  const signature = createHmac('sha256', key).update(`adoption-site ${subject} ${id}`).digest().subarray(0, 16);
  return `${id}-${signature.toString('base64url')}`;
}

/** The id; undefined if this site did not make the reference for such a subject. */
export function readReference(subject: Subject, reference: string, key: string): number | undefined {
  const id = Number(/^([1-9]\d{0,14})-/.exec(reference)?.[1]);
  if (Number.isNaN(id)) return undefined;
  const [given, expected] = [Buffer.from(reference), Buffer.from(referenceOf(subject, id, key))];
  return given.length === expected.length && timingSafeEqual(given, expected) ? id : undefined;
}
