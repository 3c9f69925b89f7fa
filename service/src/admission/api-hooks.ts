import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Scope } from '../domain/scopes.ts';
import { AppError } from '../errors.ts';
import { requestSubject } from '../http/addresses.ts';
import { asAppError, sendError } from '../http/error-handler.ts';
import { etagOf, matchesEtag } from '../http/etags.ts';
import { addLink } from '../http/paging.ts';
import { errorResponses } from '../http/schemas.ts';
import { securityHeaders } from '../http/security-headers.ts';
import { type Admission, type Caller, givenTwice, type Rehearsal } from './admission.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the key is known to be valid; a route under /v1 always has one. */
    caller: Caller | null;
    /** The catalogue's token, read after this request had come in; null: no page may be kept or taken from memory. */
    catalogueToken: string | null;
    /** What it tries out; null: nothing, as always in production. */
    rehearsal: Rehearsal | null;
  }
  interface FastifyContextConfig {
    scope?: Scope;
    deprecation?: Deprecation;
  }
}

/** A deprecated operation: announced in the headers of its every response, gone from the sunset on. */
export interface Deprecation {
  readonly since: Date;
  readonly sunset: Date;
  readonly notice: string;
  /** Names the path's parameters in braces. */
  readonly successor: string;
}

type Admit = (request: { authorization: string | undefined; address: () => string; raw: IncomingMessage }) => Promise<Admission>;

const idOfProcess = randomBytes(6).toString('base64url');
let requests = 0;

/** Unique by the process and the request's number in it: a random one for each request would cost more than its key's hash. */
export const newRequestId = () => `req_${idOfProcess}${(requests++).toString(36).padStart(8, '0')}`;

interface Parts {
  readonly admit: Admit;
  /** What an address sees of its limit. */
  look(address: string): Promise<Record<string, string>>;
  /** What a browser may send here, beside the usual. */
  readonly moreHeaders: readonly string[];
}

/** The steps that every request under /v1 takes before and after its operation. */
export function addApiHooks(api: FastifyInstance, parts: Parts): void {
  api.decorateRequest('caller', null);
  api.decorateRequest('catalogueToken', null);
  api.decorateRequest('rehearsal', null);
  api.addHook('onRequest', async (request, reply) => {
    reply.headers(corsHeaders);
    reply.header('x-request-id', request.id);
    if (isPreflight(request)) return answerPreflight(request, reply, parts);
    await admitRequest(request, reply, parts.admit);
    requireOneHost(request);
    requireScope(request);
  });
  // An operation that takes no query refuses one, as every other refuses a parameter that it does not know.
  api.addHook('onRoute', ({ schema }) => {
    if (!schema?.operationId || schema.querystring) return;
    schema.querystring = Type.Object({}, { additionalProperties: false });
    schema.response = { ...errorResponses('invalid_query'), ...(schema.response as object) };
  });
  api.addHook('onSend', (request, reply, payload, done) => {
    announceDeprecation(request, reply);
    done(null, answerConditionally(request, reply, payload));
  });
}

/** What the router refuses before any hook has run is admitted, counted and answered like every other request. */
export async function refuseUnroutable(error: AppError, request: FastifyRequest, reply: FastifyReply, admit: Admit): Promise<void> {
  reply.headers(securityHeaders).headers(corsHeaders).header('cache-control', 'no-store');
  const refusal = await admitRequest(request, reply, admit).then(() => error, asAppError);
  sendError(refusal, request, reply);
}

async function admitRequest(request: FastifyRequest, reply: FastifyReply, admit: Admit): Promise<void> {
  const authorization = countOfHeader(request.raw, 'authorization') > 1 ? givenTwice : request.headers.authorization;
  const admission = await admit({ authorization, address: () => requestSubject(request), raw: request.raw });
  reply.headers(admission.headers);
  request.caller = admission.caller ?? null;
  if ('refusal' in admission) throw admission.refusal;
  request.catalogueToken = admission.catalogueToken ?? null;
  request.rehearsal = admission.rehearsal ?? null;
}

export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw new Error('the route is not behind admission');
  return request.caller;
}

/** HTTP/1.1 requires it (RFC 9112, section 3.2); what came before does without. */
function requireOneHost(request: FastifyRequest): void {
  const hosts = countOfHeader(request.raw, 'host');
  if (hosts === 1 || (hosts === 0 && request.raw.httpVersion !== '1.1')) return;
  throw new AppError('malformed_request', `The Host header is given ${hosts} times; give it once.`);
}

function requireScope(request: FastifyRequest): void {
  const { scope } = request.routeOptions.config;
  if (!scope || callerOf(request).scopes.includes(scope)) return;
  const held = callerOf(request).scopes.join(', ') || 'none';
  throw new AppError('insufficient_scope', `This operation needs the scope ${scope}; this key has ${held}.`, {
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  });
}

export const exposedHeaders = [
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Strikes-Remaining, RateLimit-Policy, RateLimit',
  'Retry-After, Link, ETag, Location, Idempotent-Replayed, Deprecation, Sunset, X-Request-Id',
].join(', ');

const corsHeaders = { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposedHeaders };

const cacheControl = 'private, no-cache';

/** What every answer of a successful read has, beside those of its limits and its own. */
export const answerHeaders = { ...securityHeaders, ...corsHeaders, 'cache-control': cacheControl };

const isPreflight = ({ method, headers }: FastifyRequest) =>
  method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;

const allowedHeaders = ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'If-None-Match', 'Last-Event-ID'];

async function answerPreflight(request: FastifyRequest, reply: FastifyReply, { look, moreHeaders }: Parts) {
  return reply
    .status(204)
    .headers(await look(requestSubject(request)))
    .headers({
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': [...allowedHeaders, ...moreHeaders].join(', '),
      'access-control-max-age': '86400',
    })
    .send();
}

function announceDeprecation(request: FastifyRequest, reply: FastifyReply): void {
  const { deprecation } = request.routeOptions.config;
  if (!deprecation) return;
  reply.header('deprecation', `@${Math.floor(deprecation.since.getTime() / 1_000)}`);
  reply.header('sunset', deprecation.sunset.toUTCString());
  addLink(reply, `<${deprecation.notice}>; rel="deprecation"; type="text/html"`);
  const params = request.params as Record<string, string>;
  const successor = deprecation.successor.replace(/\{(\w+)\}/, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  addLink(reply, `<${successor}>; rel="successor-version"`);
}

/** Gives a successful read its ETag, a hash of its bytes and links unless the route gave one, and answers 304 where the caller has them already. */
function answerConditionally(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  reply.header('cache-control', reply.statusCode < 400 ? cacheControl : 'no-store');
  if (reply.statusCode !== 200 || (request.method !== 'GET' && request.method !== 'HEAD')) return payload;
  if (typeof payload !== 'string') return payload;
  const etag = String(reply.getHeader('etag') ?? etagOf(payload, String(reply.getHeader('link') ?? '')));
  reply.header('etag', etag);
  const held = request.headers['if-none-match'];
  if (held === undefined || !matchesEtag(held.replaceAll('W/', ''), etag)) return payload;
  reply.status(304).removeHeader('content-type').removeHeader('content-length');
  // A HEAD keeps its payload until its length is taken; a GET must not give the length of the nothing that it sends.
  return request.method === 'HEAD' ? payload : null;
}

/** Node keeps the first of several and drops the others. */
export function countOfHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i] ?? '';
    if (header.length === name.length && header.toLowerCase() === name) count += 1;
  }
  return count;
}
