import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ListVersion } from '../../domain/caches.ts';
import { hasOne, type Scope } from '../../domain/scopes.ts';
import { requestSubject } from '../../platform/caller-addresses.ts';
import type { AppError } from '../../platform/errors.ts';
import { asAppError, routeNotFound, sendError } from '../../platform/http/error-handler.ts';
import { corsHeaders, securityHeaders } from '../../platform/http/protocol/browsers.ts';
import { countOfHeader, requireOneHost } from '../../platform/http/protocol/connections.ts';
import { hasEmptyId } from '../../platform/http/routing.ts';
import type { KeyCaller } from '../principals/principals.ts';
import { insufficientScope } from './access.ts';
import { type Admission, type Rehearsal, sentTwice } from './admission.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until the key is authenticated. Routes under /v1 always have a caller. */
    caller: KeyCaller | null;
    /** As of a time after this request arrived; null: no page may be cached or served from the cache. */
    listVersion: ListVersion | null;
    /** What the request rehearses; null: nothing. Always null in production. */
    rehearsal: Rehearsal | null;
  }
  interface FastifyContextConfig {
    /** The scope that a key must have, or a list of which it must have one. */
    scope?: Scope | readonly Scope[];
  }
}

export type Admit = (request: { authorization: string | undefined; address: () => string; raw: IncomingMessage }) => Promise<Admission>;

/** Authenticates, rate-limits and authorises each request, before its body is read. */
export function addAdmission(api: FastifyInstance, admit: Admit): void {
  api.decorateRequest('caller', null);
  api.decorateRequest('listVersion', null);
  api.decorateRequest('rehearsal', null);
  api.addHook('onRequest', async (request, reply) => {
    await admitRequest(request, reply, admit);
    requireOneHost(request.raw);
    if (hasEmptyId(request)) throw routeNotFound(request);
    requireScope(request);
  });
}

/** For a request that the router rejects before any hook has run: it is authenticated and counted like any other. */
export async function rejectUnroutable(error: AppError, request: FastifyRequest, reply: FastifyReply, admit: Admit): Promise<void> {
  reply.headers(securityHeaders).headers(corsHeaders).header('cache-control', 'no-store');
  const rejection = await admitRequest(request, reply, admit).then(() => error, asAppError);
  sendError(rejection, request, reply);
}

export function callerOf(request: FastifyRequest): KeyCaller {
  if (!request.caller) throw new Error('the route is not behind admission');
  return request.caller;
}

async function admitRequest(request: FastifyRequest, reply: FastifyReply, admit: Admit): Promise<void> {
  const authorization = countOfHeader(request.raw, 'authorization') > 1 ? sentTwice : request.headers.authorization;
  const admission = await admit({ authorization, address: () => requestSubject(request), raw: request.raw });
  reply.headers(admission.headers);
  request.caller = admission.caller ?? null;
  if ('error' in admission) throw admission.error;
  request.listVersion = admission.listVersion ?? null;
  request.rehearsal = admission.rehearsal ?? null;
}

function requireScope(request: FastifyRequest): void {
  const { scope } = request.routeOptions.config;
  const accepted = [scope ?? []].flat();
  const { scopes } = callerOf(request);
  if (accepted.length === 0 || hasOne(scopes, accepted)) return;
  const message = `This operation needs the scope ${accepted.join(' or ')}; this key has ${scopes.join(', ') || 'none'}.`;
  throw insufficientScope(message, accepted);
}
