import type { Transaction, Transactions } from '../db/handles.ts';
import { AppError } from '../errors.ts';
import { findResponse, insertResponse, nullAdopters, type StoredResponse, tryLockKey } from './idempotency-queries.ts';

export interface IdempotentResponse extends StoredResponse {
  /** The order whose adopter the body names, so that it can be erased there too. */
  readonly orderId?: bigint;
  /** What a repeat is answered with, where the body holds a secret that must not be kept. */
  readonly storedBody?: string;
}

/**
 * Does `work` once for each client and key: the effect, the key and the answer are committed together, so that a
 * crash at any point leaves all or nothing, and a repeat finds one or the other.
 */
export async function runOnce<Tx extends Transaction>(
  db: Transactions<Tx>,
  request: { clientId: bigint; key: string; fingerprint: string },
  work: (tx: Tx) => Promise<IdempotentResponse>,
): Promise<{ response: StoredResponse; replayed: boolean }> {
  return db.transaction(async (tx) => {
    if (!(await tryLockKey(tx, request.clientId, request.key))) {
      const message = 'A request with this Idempotency-Key is being answered at this moment. Repeat it in 1 s.';
      throw new AppError('idempotency_in_progress', message, { headers: { 'retry-after': '1' } });
    }
    const stored = await findResponse(tx, request.clientId, request.key);
    if (stored) {
      if (stored.fingerprint === request.fingerprint) return { response: stored, replayed: true };
      throw new AppError(
        'idempotency_key_reused',
        'This Idempotency-Key was used for a request with another method, path or body. Use a new key.',
      );
    }
    const response = await work(tx);
    await insertResponse(tx, { ...request, ...response, body: response.storedBody ?? response.body, orderId: response.orderId });
    return { response, replayed: false };
  }, request.clientId);
}

/** A retry is still recognised; its response no longer names the adopter. Returns how many did. */
export async function eraseAdoptersFromResponses(tx: Transaction, orderIds: readonly bigint[]): Promise<number> {
  return nullAdopters(tx, orderIds);
}
