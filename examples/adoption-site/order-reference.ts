import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * The address of an order's page: the order's id and a 128-bit signature that only this site can make.
 * Ids are sequential, so an address with the id alone would let anyone read who adopts whom.
 * The API key is the signing key: the site needs no other secret, and the signature does not reveal the key.
 * Anyone who has the address sees the order. A new API key invalidates old addresses; use a separate secret if that matters.
 */
export function referenceOf(orderId: number | bigint, key: string): string {
  const signature = createHmac('sha256', key).update(`adoption-site order ${orderId}`).digest().subarray(0, 16);
  return `${orderId}-${signature.toString('base64url')}`;
}

/** The order's id; undefined if this site did not make the reference. */
export function readReference(reference: string, key: string): number | undefined {
  const orderId = Number(/^([1-9]\d{0,14})-/.exec(reference)?.[1]);
  if (Number.isNaN(orderId)) return undefined;
  const [given, expected] = [Buffer.from(reference), Buffer.from(referenceOf(orderId, key))];
  return given.length === expected.length && timingSafeEqual(given, expected) ? orderId : undefined;
}
