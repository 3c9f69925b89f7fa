import type { FastifyInstance } from 'fastify';
import { type ErrorCode, errorCodes } from '../errors.ts';

/** The pages that error and deprecation headers link to, made from the table of codes. */
export function addDocsRoutes(app: FastifyInstance): void {
  app.get('/docs/errors', { schema: { hide: true } }, (_, reply) => {
    const rows = Object.entries(errorCodes).map(
      ([code, { status, cause }]) =>
        `<tr><td><a href="/docs/errors/${code}"><code>${code}</code></a></td><td>${status}</td><td>${escapeHtml(cause)}</td></tr>`,
    );
    return sendPage(
      reply,
      'Error codes',
      `<table><thead><tr><th>Code</th><th>Status</th><th>Cause</th></tr></thead><tbody>${rows.join('')}</tbody></table>`,
    );
  });
  app.get<{ Params: { code: string } }>('/docs/errors/:code', { schema: { hide: true } }, ({ params }, reply) => {
    const { code } = params;
    if (!Object.hasOwn(errorCodes, code)) return sendPage(reply.status(404), 'No such code', '<p><a href="/docs/errors">All codes</a></p>');
    const { status, cause, fix } = errorCodes[code as ErrorCode];
    return sendPage(
      reply,
      code,
      `<p>HTTP status ${status}.</p><h2>Cause</h2><p>${escapeHtml(cause)}</p><h2>Fix</h2><p>${escapeHtml(fix)}</p><p><a href="/docs/errors">All codes</a></p>`,
    );
  });
  app.get('/docs/deprecations', { schema: { hide: true } }, (_, reply) =>
    sendPage(
      reply,
      'Deprecations',
      '<h2>GET /v1/pets/{petId}</h2><p>Deprecated since 15 November 2026; removed on 5 December 2030, when it answers 410 <code>operation_removed</code>.</p>' +
        '<p>Use <code>GET /v1/pets?id={petId}</code>. It takes up to 100 ids (<code>?id=1&amp;id=2</code>), answers with an array, and omits ids that do not exist.</p>',
    ),
  );
}

const style =
  'body{font:1rem/1.6 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}code{font-size:.95em}table{border-collapse:collapse}td,th{text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0}@media(prefers-color-scheme:dark){body{background:#111;color:#eee}a{color:#8cf}}';

function sendPage(
  reply: { type(type: string): { header(name: string, value: string): { send(body: string): unknown } } },
  title: string,
  body: string,
): unknown {
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title} · Homeward</title><style>${style}</style></head><body><h1>${title}</h1>${body}</body></html>`;
  return reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
    .send(page);
}

const escapeHtml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
