import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { visibilityOf } from '../../domain/actor.ts';
import type { Transaction, Transactions } from '../../platform/db/handles.ts';
import { AppError, show } from '../../platform/errors.ts';
import { callerOf } from '../admission/admission-hook.ts';
import { sendJson } from '../admission/operation.ts';
import { type IdempotentResponse, runOnce, type StoredResponse } from './idempotency.ts';

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
