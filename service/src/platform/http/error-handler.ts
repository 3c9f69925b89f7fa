import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, type ErrorCode, internalError, show } from '../errors.ts';
import type { KnownOperations } from './advice/known-operations.ts';
import { addLink } from './paging.ts';
import { lingerOnClose } from './protocol/connections.ts';

declare module 'fastify' {
  interface FastifyInstance {
    knownOperations: KnownOperations;
  }
}

export const helpLink = (code: ErrorCode) => `</docs/errors/${code}>; rel="help"`;

/** Added to the whole app, and again under /v1, so that the hooks of /v1 also run for unknown paths. */
export function addErrorHandler(api: FastifyInstance): void {
  api.setErrorHandler<FastifyError>((error, request, reply) => sendError(asAppError(error, request), request, reply));
  api.setNotFoundHandler((request, reply) => sendError(routeNotFound(request), request, reply));
}

export function routeNotFound({ url, method, server }: FastifyRequest): AppError {
  const path = url.split('?', 1)[0] ?? '';
  const [, plainPath] = /^(\/v1\/.*[^/])\/+$/.exec(path) ?? [];
  // Nobody reads the body of a preflight's response.
  const nearest = method === 'OPTIONS' ? undefined : server.knownOperations.nearestPath(path);
  const advice = adviseOnSlash(plainPath, nearest) ?? (nearest && ` Did you mean ${nearest}?`) ?? '';
  return new AppError('route_not_found', `There is no operation at ${path.slice(0, 100)}.${advice}`);
}

function adviseOnSlash(plainPath: string | undefined, nearest: string | undefined): string | undefined {
  if (plainPath === undefined || (nearest !== undefined && nearest !== plainPath)) return undefined;
  return ` Paths have no slash at the end: try ${plainPath.slice(0, 100)}.`;
}

/** An error is logged once, here, and only if the service caused it. */
export function noteError(error: AppError, request: FastifyRequest): void {
  if (error.code === 'internal_error') request.log.error({ err: error.cause }, 'internal error');
  else if (error.code === 'unavailable') warnOfUnavailable(request, error.cause);
  request.errorCode = error.code;
  if (error.code === 'body_too_large') lingerOnClose(request.raw);
}

export function sendError(error: AppError, request: FastifyRequest, reply: FastifyReply) {
  noteError(error, request);
  addLink(reply, helpLink(error.code));
  return reply
    .status(error.status)
    .header('x-request-id', request.id)
    .headers(error.headers)
    .type('application/json; charset=utf-8')
    .send({ code: error.code, message: error.message, status: error.status });
}

/** Requests that Fastify rejects, by Fastify's error code. */
const frameworkErrors: Record<string, [ErrorCode, string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['body_too_large', 'The body is larger than 1 MiB (1,048,576 bytes).'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['malformed_request', 'The length of the body does not match Content-Length.'],
  FST_ERR_BAD_URL: ['route_not_found', 'The path is not a valid URL.'],
};

/** `request`: the one that has failed, if the message can say more with it. */
export function asAppError(error: unknown, request?: FastifyRequest): AppError {
  if (error instanceof AppError) return error;
  const code = (error as { code?: string }).code ?? '';
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new AppError('unsupported_media_type', describeMediaType(request?.headers['content-type']), { cause: error });
  }
  const [known, message] = frameworkErrors[code] ?? [];
  if (known && message) return new AppError(known, message, { cause: error });
  const { statusCode = 500 } = error as { statusCode?: number };
  if (code.startsWith('FST_') && statusCode < 500)
    return new AppError('malformed_request', 'The request could not be parsed.', { cause: error });
  // The caller closed the connection before the end of the body, so nobody will read the response.
  if (code === 'ECONNRESET') return new AppError('malformed_request', 'The connection was closed before the body ended.', { cause: error });
  return internalError(error);
}

function describeMediaType(sent: string | undefined): string {
  const advice = "Send the body as JSON, with 'Content-Type: application/json'.";
  if (sent === undefined) return `${advice} This request has a body and no Content-Type.`;
  const isForm = /^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i.test(sent);
  return `${advice} Got ${show(sent)}${isForm ? ', which is the data of a form' : ''}.`;
}

const warnIntervalMs = 1_000;

interface Logged {
  atMs: number;
  /** Responses since then that were not logged. */
  silent: number;
}

/** By the server, of which a process has one. */
const logged = new WeakMap<object, Logged>();

/** Warns of a 503 with its reason: at once, then of one a second at most, so that an outage fills no disk. Each has a line of its own as a request. */
function warnOfUnavailable(request: FastifyRequest, cause: unknown): void {
  const nowMs = performance.now();
  const last = logged.get(request.server.server);
  if (last && nowMs - last.atMs < warnIntervalMs) {
    last.silent += 1;
    return;
  }
  const silent = last?.silent ?? 0;
  request.log.warn({ reason: String(cause), ...(silent > 0 && { notLogged: silent }) }, 'unavailable');
  logged.set(request.server.server, { atMs: nowMs, silent: 0 });
}
