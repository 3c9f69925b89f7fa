import { gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { etagOf } from '../http/etags.ts';
import type { ApiDocument } from './reference-document.ts';
import { type Content, notFoundPath, redirects, siteContents } from './site.ts';
import { readSiteFiles } from './site-files.ts';

const headers = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cache-control': 'public, max-age=300',
  vary: 'accept-encoding',
};

interface Kept extends Content {
  readonly etag: string;
  readonly gzipped: Buffer;
}

/** The documentation at /docs, and /llms.txt. What it is made from is read now; each page is made once and kept. */
export function docsRoutes(app: FastifyInstance): void {
  const files = readSiteFiles();
  let contents: ReturnType<typeof siteContents> | undefined;
  const kept = new Map<string, Kept>();
  const find = (path: string): Kept | undefined => {
    // The document is complete only once the app is ready.
    contents ??= siteContents(files, app.swagger() as unknown as ApiDocument);
    const make = contents.get(path);
    // As many entries as the site has paths: others are never kept.
    if (make && !kept.has(path)) kept.set(path, keep(make()));
    return kept.get(path);
  };
  const answer = (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    reply.headers(headers);
    if (Object.hasOwn(redirects, path)) return reply.redirect(redirects[path] ?? '/docs', 308);
    const found = find(path);
    return found ? send(request, reply, found) : send(request, reply.status(404), find(notFoundPath));
  };
  for (const path of ['/docs', '/docs/*', '/llms.txt']) app.get(path, { schema: { hide: true } }, answer);
}

const keep = (content: Content): Kept => ({ ...content, etag: `W/${etagOf(content.text)}`, gzipped: gzipSync(content.text, { level: 9 }) });

function send({ headers: sent }: FastifyRequest, reply: FastifyReply, content: Kept | undefined): FastifyReply {
  if (!content) throw new Error('the site has no page for what is not found');
  const held = sent['if-none-match']?.split(',').map((tag) => tag.trim());
  if (reply.statusCode === 200) {
    reply.header('etag', content.etag);
    if (held?.includes(content.etag)) return reply.status(304).send();
  }
  reply.type(content.type);
  return /\bgzip\b/.test(sent['accept-encoding'] ?? '')
    ? reply.header('content-encoding', 'gzip').send(content.gzipped)
    : reply.send(content.text);
}
