import { METHODS } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors.ts';

/** Registered before the routes: notes them, and refuses every other method on their paths with 405 and Allow. */
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
        const verb = methods.size === 1 ? 'is' : 'are';
        const others = api.supportedMethods.filter((method) => !methods.has(method));
        const url = path.slice(api.prefix.length);
        api.route({
          method: others,
          url,
          schema: { hide: true },
          // Before the body is read: whatever it holds, the method is wrong.
          onRequest: async ({ method }) => {
            throw new AppError('method_not_allowed', `${method} is not possible here; ${allow} ${verb}.`, {
              headers: { allow },
            });
          },
          handler: () => {},
        });
      }
    },
  };
}
