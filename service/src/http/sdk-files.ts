import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { makeStatic, type StaticContent, sendStatic } from './static-content.ts';

const folder = new URL('../../../sdk/', import.meta.url);
const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  ts: 'text/plain; charset=utf-8',
  map: 'application/json',
  tgz: 'application/gzip',
};

/**
 * The SDK that fits this store, from the store: as a package for `npm install` and as modules for browsers and Deno. What was
 * built is read once, at the start; where nothing was, that is said.
 */
export function addSdkRoutes(app: FastifyInstance): void {
  const files = readBuilt();
  app.get<{ Params: { '*': string } }>('/sdk/*', { schema: { hide: true } }, (request, reply) => {
    const name = request.params['*'];
    const file = files.get(name);
    if (!file) return reply.status(404).type('text/plain; charset=utf-8').send(absent(name, files));
    return sendStatic(request, reply.header('access-control-allow-origin', '*'), file);
  });
  app.get('/sdk.tgz', { schema: { hide: true } }, (_, reply) => reply.redirect('/sdk/sdk.tgz', 302));
}

function readBuilt(): ReadonlyMap<string, StaticContent> {
  const dist = new URL('dist/', folder);
  const names = existsSync(dist) ? readdirSync(dist) : [];
  const urls = [...names.map((name) => [name, new URL(name, dist)] as const), ['sdk.tgz', new URL('sdk.tgz', folder)] as const];
  return new Map(urls.filter(([, url]) => existsSync(url)).map(([name, url]) => [name, makeStatic(typeOf(name), readFileSync(url))]));
}

const typeOf = (name: string) => types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream';

const absent = (name: string, files: ReadonlyMap<string, unknown>) =>
  files.size === 0
    ? "The SDK is not built here. Run 'npm run build' and start the service again.\n"
    : `There is no ${name.slice(0, 100)} here. There are ${[...files.keys()].join(', ')}.\n`;
