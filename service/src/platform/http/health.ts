import type { FastifyInstance } from 'fastify';

interface Health {
  readonly draining: boolean;
  readonly postgres: boolean;
  readonly redis: boolean;
}

/**
 * Liveness: the process responds. Readiness: it should get traffic. A process without Redis continues to serve, so it is
 * ready and reports `degraded`.
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
