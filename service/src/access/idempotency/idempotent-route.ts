import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Acting, visibilityOf } from '../../domain/actor.ts';
import type { Db, Transaction, Transactions } from '../../platform/db/handles.ts';
import { AppError, show } from '../../platform/errors.ts';
import { callerOf, sendJson } from '../admission/admission-hook.ts';
import {
  eraseAdoptersFromResponses,
  eraseApplicantsFromResponses,
  insertResponse,
  lockResponse,
  type StoredResponse,
  selectStoredKeys,
  tryLockKey,
} from './idempotency-queries.ts';

/**
 * Handles a POST in one transaction. With an Idempotency-Key, a retry gets the first response again, byte for byte. Without
 * one, `byOneStatement` is tried first, since a single statement needs no transaction. If it returns undefined, it has done
 * nothing, and `work` runs in a transaction.
 */
export async function respondOnce<Tx extends Transaction>(
  db: Transactions<Tx>,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (tx: Tx) => Promise<IdempotentResponse>,
  {
    byOneStatement,
    complete = (body) => body,
  }: {
    readonly byOneStatement?: () => Promise<IdempotentResponse | undefined>;
    /** Adds to a body what may not be stored, also to that of a retry. */
    readonly complete?: (body: string) => string;
  } = {},
): Promise<FastifyReply> {
  const key = readIdempotencyKey(request.headers['idempotency-key']);
  const caller = callerOf(request);
  const { clientId, shelterId } = caller;
  const respond = (response: StoredResponse) => send(reply, { ...response, body: complete(response.body) });
  if (key === undefined) return respond((await byOneStatement?.()) ?? (await db.transaction(work, caller)));
  const once = { clientId, key, fingerprint: fingerprintOf(request), shelterId: shelterId ?? 0n };
  const { response, replayed } = await runOnce(db, once, work, caller);
  if (replayed) reply.header('idempotent-replayed', 'true');
  return respond(response);
}

const send = (reply: FastifyReply, { status, headers, body }: StoredResponse) => sendJson(reply.status(status).headers(headers), body);

export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) return header;
  throw new AppError('invalid_idempotency_key', `Idempotency-Key must be 1–255 visible ASCII characters, given once; got ${show(header)}.`);
}

/** Includes the visibility: a response with data that only keys of the store or a shelter may see is not sent to another key of the client. */
function fingerprintOf(request: FastifyRequest): string {
  const { method, url, rawBody } = request;
  const visibility = visibilityOf(callerOf(request));
  const seen = visibility === 'all' ? 'all' : visibility.shelterId === null ? 'own' : `own and shelter ${visibility.shelterId}`;
  return createHash('sha256')
    .update(`${seen} ${method} ${url}\n`)
    .update(rawBody ?? '')
    .digest('base64url');
}

export { eraseAdoptersFromResponses, eraseApplicantsFromResponses, type StoredResponse };

export interface IdempotentResponse extends StoredResponse {
  /** The order whose adopter is in the body, so that the adopter can be erased there too. */
  readonly orderId?: bigint;
  /** The same for an application. */
  readonly applicationId?: bigint;
  /** The body for a retry, if `body` has a secret that must not be stored. */
  readonly storedBody?: string;
}

interface IdempotentRequest extends KeyOfClient {
  readonly fingerprint: string;
  /** The shelter that the caller's key is bound to, for which it acts; 0n: none. */
  readonly shelterId: bigint;
}

/**
 * Runs `work` once for each client and key. Its effect, the key and the response are committed in one transaction, so a
 * crash leaves either everything or nothing, and a retry is right in both cases.
 */
export async function runOnce<Tx extends Transaction>(
  db: Transactions<Tx>,
  request: IdempotentRequest,
  work: (tx: Tx) => Promise<IdempotentResponse>,
  by: Acting,
): Promise<{ response: StoredResponse; replayed: boolean }> {
  return db.transaction(async (tx) => {
    if (!(await tryLockKey(tx, request.clientId, request.key))) {
      const message = 'A request with this Idempotency-Key is still in progress. Retry in 1 s.';
      throw new AppError('idempotency_in_progress', message, { headers: { 'retry-after': '1' } });
    }
    const stored = await lockResponse(tx, request.clientId, request.key);
    if (stored) {
      if (stored.fingerprint !== request.fingerprint)
        throw keyReused('for a request with another method, path or body, or by an API key with other scopes');
      if (stored.shelterId !== null && stored.shelterId !== request.shelterId) throw keyReused('by an API key of another shelter');
      if (stored.transactionId !== null) tx.acknowledge(stored.transactionId);
      return { response: stored, replayed: true };
    }
    const response = await work(tx);
    await insertResponse(tx, { ...request, ...response, body: response.storedBody ?? response.body });
    return { response, replayed: false };
  }, by);
}

const keyReused = (how: string) => new AppError('idempotency_key_reused', `This Idempotency-Key was used ${how}. Use a new key.`);

/** An Idempotency-Key. Each client has its own. */
export interface KeyOfClient {
  readonly clientId: bigint;
  readonly key: string;
}

/** Those of the keys whose first request has succeeded. */
export async function findStoredKeys(db: Db, keys: readonly KeyOfClient[]): Promise<ReadonlySet<KeyOfClient>> {
  return new Set(keys.length === 0 ? [] : await selectStoredKeys(db, keys));
}
