import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readBuiltFiles } from './built-files.ts';
import { sendStatic, staticHeaders } from './static-content.ts';

const built = new URL('../../../../docs-site/dist/', import.meta.url);

const headers = {
  ...staticHeaders,
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; font-src 'self'; img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
};

const redirects: Readonly<Record<string, string>> = {
  '/docs/': '/docs',
  // Responses of deprecated operations link here.
  '/docs/deprecations': '/docs/stability#getting-one-animal',
};

/** Serves the documentation that the workspace docs-site has built: /docs, /llms.txt, and what browsers and crawlers ask for at the root. */
export function addDocsRoutes(app: FastifyInstance, folder = built): void {
  const files = readBuiltFiles(folder, app.log);
  const find = (path: string) => (path.endsWith('.html') ? undefined : (files.get(path.slice(1)) ?? files.get(`${path.slice(1)}.html`)));
  const respond = (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    reply.headers(headers);
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
