import type { FastifyInstance } from 'fastify';

interface Health {
  readonly draining: boolean;
  readonly postgres: boolean;
  readonly redis: boolean;
}

/**
 * Liveness says that the process answers; readiness that it should get traffic. Without Redis it serves on, so that
 * is reported and changes nothing.
 */
export function addHealthRoutes(app: FastifyInstance, health: () => Health): void {
  app.get('/livez', { schema: { hide: true }, logLevel: 'warn' }, () => ({ status: 'alive' }));
  app.get('/readyz', { schema: { hide: true }, logLevel: 'warn' }, (_, reply) => {
    const { draining, postgres, redis } = health();
    const ready = postgres && !draining;
    const status = draining ? 'draining' : !postgres ? 'unavailable' : redis ? 'ready' : 'degraded';
    return reply.status(ready ? 200 : 503).send({ status, postgres, redis });
  });
}
