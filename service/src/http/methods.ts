import { METHODS } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors.ts';

/** Call it before the routes are added, and `register` afterwards: every other method on their paths is 405, with Allow. */
export function rejectOtherMethods(api: FastifyInstance): { register(): void } {
  const methodsByPath = new Map<string, Set<string>>();
  for (const method of METHODS) if (method !== 'CONNECT' && !api.supportedMethods.includes(method)) api.addHttpMethod(method);
  api.addHook('onRoute', ({ path, method }) => {
    const methods = methodsByPath.get(path) ?? new Set();
    for (const one of [method].flat()) methods.add(one);
    methodsByPath.set(path, methods);
  });
  return {
    register() {
      for (const [path, methods] of [...methodsByPath]) {
        const allow = [...methods].sort().join(', ');
        const others = api.supportedMethods.filter((method) => !methods.has(method));
        const url = path.slice(api.prefix.length);
        api.route({
          method: others,
          url,
          schema: { hide: true },
          // Before the body is read, which may be large or invalid.
          onRequest: async ({ method }) => {
            throw new AppError('method_not_allowed', `${method} isn't supported here. Allowed: ${allow}.`, { headers: { allow } });
          },
          handler: () => {},
        });
      }
    },
  };
}
