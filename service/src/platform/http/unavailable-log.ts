import type { FastifyRequest } from 'fastify';

const intervalMs = 1_000;

interface Logged {
  atMs: number;
  /** Responses since then that were not logged. */
  silent: number;
}

/** By the server, of which a process has one. */
const logged = new WeakMap<object, Logged>();

/** Warns of a 503 with its reason: at once, then of one a second at most, so that an outage fills no disk. Each has a line of its own as a request. */
export function warnOfUnavailable(request: FastifyRequest, cause: unknown): void {
  const nowMs = performance.now();
  const last = logged.get(request.server.server);
  if (last && nowMs - last.atMs < intervalMs) {
    last.silent += 1;
    return;
  }
  const silent = last?.silent ?? 0;
  request.log.warn({ reason: String(cause), ...(silent > 0 && { notLogged: silent }) }, 'unavailable');
  logged.set(request.server.server, { atMs: nowMs, silent: 0 });
}
