import { existsSync, readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { readBuiltFiles } from './built-files.ts';
import { makeStatic, sendStatic } from './static-content.ts';

const folder = new URL('../../../../sdk/', import.meta.url);
const packed = new URL('sdk.tgz', folder);

/** Serves the SDK of this release: as a package for `npm install`, and as modules for browsers and Deno. */
export function addSdkRoutes(app: FastifyInstance): void {
  const files = new Map(readBuiltFiles(new URL('dist/', folder), app.log));
  if (existsSync(packed)) files.set('sdk.tgz', makeStatic('application/gzip', readFileSync(packed)));
  app.get<{ Params: { '*': string } }>('/sdk/*', { schema: { hide: true } }, (request, reply) => {
    const name = request.params['*'];
    const file = files.get(name);
    if (!file) return reply.status(404).type('text/plain; charset=utf-8').send(notFound(name, files));
    return sendStatic(request, reply.header('access-control-allow-origin', '*'), file);
  });
  app.get('/sdk.tgz', { schema: { hide: true } }, (_, reply) => reply.redirect('/sdk/sdk.tgz', 302));
}

const notFound = (name: string, files: ReadonlyMap<string, unknown>) =>
  files.size === 0
    ? "The SDK is not built here. Run 'npm run build' and restart the service.\n"
    : `There is no ${name.slice(0, 100)} here. Available: ${[...files.keys()].join(', ')}.\n`;
