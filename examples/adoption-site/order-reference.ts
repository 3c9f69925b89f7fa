import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * The address of an order's page: its id, and a mark of 128 bits that only this site can make.
 * Ids count up, so an address with the id alone would let anyone read who adopts whom.
 * The API key makes the mark: nothing else must be kept secret, and the mark does not give the key away.
 * Whoever has the address sees the order. A new API key makes old addresses lead nowhere; use a secret of your own if that matters.
 */
export function referenceOf(orderId: number | bigint, key: string): string {
  const mark = createHmac('sha256', key).update(`adoption-site order ${orderId}`).digest().subarray(0, 16);
  return `${orderId}-${mark.toString('base64url')}`;
}

/** The order's id; undefined where this site has not made the reference. */
export function readReference(reference: string, key: string): number | undefined {
  const orderId = Number(/^([1-9]\d{0,14})-/.exec(reference)?.[1]);
  if (Number.isNaN(orderId)) return undefined;
  const [given, expected] = [Buffer.from(reference), Buffer.from(referenceOf(orderId, key))];
  return given.length === expected.length && timingSafeEqual(given, expected) ? orderId : undefined;
}
