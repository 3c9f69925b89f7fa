import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { openApiDocument } from '../http/openapi.ts';
import { makeStatic, type StaticContent, sendStatic, staticHeaders } from '../http/static-content.ts';
import type { ApiDocument } from './reference-document.ts';
import { notFoundPath, redirects, siteContents } from './site.ts';
import { readSiteFiles } from './site-files.ts';

const headers = {
  ...staticHeaders,
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
};

/** The documentation at /docs, and /llms.txt. What it is made from is read now; each page is made once and cached. */
export function docsRoutes(app: FastifyInstance): void {
  const files = readSiteFiles();
  let contents: ReturnType<typeof siteContents> | undefined;
  const made = new Map<string, StaticContent>();
  const find = (path: string): StaticContent | undefined => {
    // The document is complete only once the app is ready.
    contents ??= siteContents(files, openApiDocument(app) as ApiDocument);
    const content = made.has(path) ? undefined : contents.get(path)?.();
    // As many entries as the site has paths: others are never cached.
    if (content) made.set(path, makeStatic(content.type, content.text));
    return made.get(path);
  };
  const response = (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    reply.headers(headers);
    if (Object.hasOwn(redirects, path)) return reply.redirect(redirects[path] ?? '/docs', 308);
    const found = find(path);
    if (found) return sendStatic(request, reply, found);
    const notFound = find(notFoundPath);
    if (!notFound) throw new Error('the site has no page for what is not found');
    return sendStatic(request, reply.status(404), notFound);
  };
  for (const path of ['/docs', '/docs/*', '/llms.txt']) app.get(path, { schema: { hide: true } }, response);
}
