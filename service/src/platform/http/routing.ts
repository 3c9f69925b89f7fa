import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Deprecation } from '../../domain/deprecations.ts';
import { AppError } from '../errors.ts';
import { addLink } from './paging.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The methods of the path, for the Allow header. */
    allow?: string;
    deprecation?: Deprecation;
  }
}

/** The methods of the path that an OPTIONS asks for; undefined: no operation is there. */
export const allowedMethods = (request: FastifyRequest): string | undefined => routeOf(request)?.config.allow;

/** The route of a request; undefined: no operation is at its path. */
export const routeOf = (request: FastifyRequest): FastifyRequest['routeOptions'] | undefined =>
  hasEmptyId(request) ? undefined : request.routeOptions;

/** The router matches `/pets/` to `/pets/:petId`, with an empty id. There is no operation at such a path. */
export const hasEmptyId = ({ params }: FastifyRequest): boolean =>
  Object.entries(params ?? {}).some(([name, value]) => name !== '*' && value === '');

/** Lets routes have every method that Node.js knows. */
export function routeAllMethods(api: FastifyInstance): void {
  for (const method of METHODS) if (method !== 'CONNECT' && !api.supportedMethods.includes(method)) api.addHttpMethod(method);
}

/**
 * Call it before the routes are added, and `register` afterwards: every other method on their paths is 405, with Allow. An OPTIONS
 * doesn't get here: browsers.ts responds to it.
 */
export function rejectOtherMethods(api: FastifyInstance): { register(): void } {
  const methodsByPath = new Map<string, Set<string>>();
  routeAllMethods(api);
  api.addHook('onRoute', ({ path, method }) => {
    const methods = methodsByPath.get(path) ?? new Set();
    for (const one of [method].flat()) methods.add(one);
    methodsByPath.set(path, methods);
  });
  return {
    register() {
      for (const [path, methods] of [...methodsByPath]) {
        const named = [...methods].sort().join(', ');
        const allow = [...methods, 'OPTIONS'].sort().join(', ');
        const others = api.supportedMethods.filter((method) => !methods.has(method));
        const url = path.slice(api.prefix.length);
        api.route({
          method: others,
          url,
          config: { allow },
          schema: { hide: true },
          // Before the body is read, which may be large or invalid.
          onRequest: async ({ method }) => {
            const instead = api.knownOperations.insteadOf(method, path);
            const message = `${method} isn't supported here. Allowed: ${named}.${instead ? ` ${instead}` : ''}`;
            throw new AppError('method_not_allowed', message, { headers: { allow } });
          },
          handler: () => {},
        });
      }
    },
  };
}

/** The responses of a deprecated operation announce that in their headers. */
export function announceDeprecations(api: FastifyInstance): void {
  api.addHook('onSend', (request, reply, payload, done) => {
    const deprecation = routeOf(request)?.config.deprecation;
    if (deprecation) {
      reply.header('deprecation', `@${Math.floor(deprecation.since.getTime() / 1_000)}`);
      reply.header('sunset', deprecation.sunset.toUTCString());
      addLink(reply, `<${deprecation.notice}>; rel="deprecation"; type="text/html"`);
      addLink(reply, `<${successorOf(deprecation, request.params as Record<string, string>)}>; rel="successor-version"`);
    }
    done(null, payload);
  });
}

const successorOf = ({ successor }: Deprecation, params: Record<string, string>) =>
  successor.replace(/\{(\w+)\}/, (_, name: string) => encodeURIComponent(params[name] ?? ''));
