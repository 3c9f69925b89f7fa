import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../clock.ts';
import type { Config } from '../../config.ts';
import { makeStatic, type StaticContent, sendStatic, staticHeaders } from './static-content.ts';

const docsFolder = new URL('../../../../../docs-site/dist/', import.meta.url);

const docsPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
];

const docsHeaders = {
  ...staticHeaders,
  'content-security-policy': docsPolicy.join('; '),
  'referrer-policy': 'same-origin',
};

const redirects: Readonly<Record<string, string>> = {
  '/docs/': '/docs',
  // Responses of deprecated operations link here.
  '/docs/deprecations': '/docs/stability#getting-one-animal',
};

/** Serves the documentation that the workspace docs-site has built: /docs, /llms.txt, and what browsers and crawlers ask for at the root. */
export function addDocsRoutes(app: FastifyInstance, folder = docsFolder): void {
  const files = readBuiltFiles(folder, app.log);
  const find = (path: string) => (path.endsWith('.html') ? undefined : (files.get(path.slice(1)) ?? files.get(`${path.slice(1)}.html`)));
  const respond = (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    reply.headers(docsHeaders);
    if (Object.hasOwn(redirects, path)) return reply.redirect(redirects[path] ?? '/docs', 308);
    const found = find(path);
    if (found) return sendStatic(request, reply, found);
    const notFound = files.get('404.html');
    if (notFound) return sendStatic(request, reply.status(404), notFound);
    return reply.status(404).type('text/plain; charset=utf-8').send(notBuilt);
  };
  const optional = ['/robots.txt', '/favicon.ico'].filter(find);
  for (const path of ['/docs', '/docs/*', '/llms.txt', ...optional]) app.get(path, { schema: { hide: true } }, respond);
  // Temporary: browsers cache a permanent one, and would still follow it when something else is at this address.
  app.get('/', { schema: { hide: true } }, (_, reply) => reply.redirect('/docs', 302));
}

const notBuilt = "The documentation is not built here. Run 'npm run build' and restart the service.\n";

const sdkFolder = new URL('../../../../../sdk/', import.meta.url);
const sdkPackage = new URL('sdk.tgz', sdkFolder);

/** Serves the SDK of this release: as a package for `npm install`, and as modules for browsers and Deno. */
export function addSdkRoutes(app: FastifyInstance): void {
  const files = new Map(readBuiltFiles(new URL('dist/', sdkFolder), app.log));
  if (existsSync(sdkPackage)) files.set('sdk.tgz', makeStatic('application/gzip', readFileSync(sdkPackage)));
  app.get<{ Params: { '*': string } }>('/sdk/*', { schema: { hide: true } }, (request, reply) => {
    const name = request.params['*'];
    const file = files.get(name);
    if (!file) return reply.status(404).type('text/plain; charset=utf-8').send(describeMissing(name, files));
    return sendStatic(request, reply.header('access-control-allow-origin', '*'), file);
  });
  app.get('/sdk.tgz', { schema: { hide: true } }, (_, reply) => reply.redirect('/sdk/sdk.tgz', 302));
}

const describeMissing = (name: string, files: ReadonlyMap<string, unknown>) =>
  files.size === 0
    ? "The SDK is not built here. Run 'npm run build' and restart the service.\n"
    : `There is no ${name.slice(0, 100)} here. Available: ${[...files.keys()].join(', ')}.\n`;

interface SecurityTxtParts {
  readonly clock: Clock;
  readonly config: Pick<Config, 'securityContact'>;
}

const dayMs = 86_400_000;
/** RFC 9116 recommends less than a year. */
const validDays = 180;

/** Where to report a vulnerability (RFC 9116). */
export function addSecurityTxt(app: FastifyInstance, { clock, config: { securityContact } }: SecurityTxtParts): void {
  app.get('/.well-known/security.txt', { schema: { hide: true } }, (_, reply) => {
    reply.type('text/plain; charset=utf-8');
    if (securityContact === '') {
      return reply.status(404).send('This store has no security contact. Its operator can set HOMEWARD_SECURITY_CONTACT.\n');
    }
    // Counted from midnight, so that the text is the same all day.
    const expires = new Date((Math.floor(clock.now() / dayMs) + validDays) * dayMs).toISOString().replace('.000Z', 'Z');
    return reply
      .header('cache-control', 'public, max-age=3600')
      .send(`Contact: ${securityContact}\nExpires: ${expires}\nPreferred-Languages: en\n`);
  });
}

const mediaTypes: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  ico: 'image/x-icon',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  map: 'application/json',
  md: 'text/markdown; charset=utf-8',
  png: 'image/png',
  svg: 'image/svg+xml',
  tgz: 'application/gzip',
  ts: 'text/plain; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  webmanifest: 'application/manifest+json',
  webp: 'image/webp',
  woff2: 'font/woff2',
};

/**
 * Reads what `npm run build` has written to a folder, by path below it. Called once, at the start. Returns an empty map if nothing
 * was built, and, with a warning in the log, if it can't be read: the API does not depend on it.
 */
function readBuiltFiles(folder: URL, log: FastifyBaseLogger): ReadonlyMap<string, StaticContent> {
  try {
    const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
    const files = names.map((name) => ({ name, url: new URL(name, folder) })).filter(({ url }) => statSync(url).isFile());
    return new Map(files.map(({ name, url }) => [name, makeStatic(mediaTypeOf(name), readFileSync(url))]));
  } catch (error) {
    log.warn({ err: error, folder: fileURLToPath(folder) }, 'built files cannot be read');
    return new Map();
  }
}

const mediaTypeOf = (name: string) => mediaTypes[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
