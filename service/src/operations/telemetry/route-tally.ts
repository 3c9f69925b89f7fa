import type { FastifyInstance } from 'fastify';
import type { RequestTally } from './request-tally.ts';

/** Adds each operation of the API to the tally. Call it before the routes are added. */
export function tallyRoutes(app: FastifyInstance, requests: RequestTally): void {
  app.addHook('onRoute', ({ method, url, schema }) => {
    const { hide, response } = (schema ?? {}) as { hide?: boolean; response?: Readonly<Record<string, unknown>> };
    if (hide || method === 'HEAD') return;
    const successes = Object.keys(response ?? {})
      .map(Number)
      .filter((status) => status < 400);
    for (const one of [method].flat()) requests.addOperation(one, url, successes);
  });
}
