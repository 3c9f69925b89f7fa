import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { etagOf, matchesEtag } from './etags.ts';

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
  app.get<{ Params: { '*': string } }>('/sdk/*', { schema: { hide: true } }, ({ params, headers }, reply) => {
    const name = params['*'];
    const file = files.get(name);
    if (!file) return reply.status(404).type('text/plain; charset=utf-8').send(absent(name, files));
    reply.headers({
      'access-control-allow-origin': '*',
      'cache-control': 'public, max-age=300',
      etag: file.etag,
      'x-content-type-options': 'nosniff',
    });
    if (matchesEtag(headers['if-none-match'] ?? '', file.etag)) return reply.status(304).send();
    return reply.type(types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream').send(file.bytes);
  });
  app.get('/sdk.tgz', { schema: { hide: true } }, (_, reply) => reply.redirect('/sdk/sdk.tgz', 302));
}

interface File {
  readonly bytes: Buffer;
  readonly etag: string;
}

function readBuilt(): ReadonlyMap<string, File> {
  const dist = new URL('dist/', folder);
  const names = existsSync(dist) ? readdirSync(dist) : [];
  const urls = [...names.map((name) => [name, new URL(name, dist)] as const), ['sdk.tgz', new URL('sdk.tgz', folder)] as const];
  return new Map(urls.filter(([, url]) => existsSync(url)).map(([name, url]) => [name, fileOf(readFileSync(url))]));
}

const fileOf = (bytes: Buffer): File => ({ bytes, etag: etagOf(bytes.toString('base64')) });

const absent = (name: string, files: ReadonlyMap<string, File>) =>
  files.size === 0
    ? "The SDK is not built here. Run 'npm run build' and start the service again.\n"
    : `There is no ${name.slice(0, 100)} here. There are ${[...files.keys()].join(', ')}.\n`;
