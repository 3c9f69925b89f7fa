import type { FastifyInstance } from 'fastify';
import type { Deprecation } from '../../domain/deprecations.ts';
import { routeOf } from './methods.ts';
import { addLink } from './paging.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    deprecation?: Deprecation;
  }
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
