import type { FastifyRequest } from 'fastify';

/** Whether a form was sent by a page of the console. A browser says so in one of two headers: what sends neither is no browser. */
export function isFromOwnPage({ headers }: Pick<FastifyRequest, 'headers'>, consoleUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined ? headers.origin === consoleUrl : site === 'same-origin';
}

/** Whether another site has led a browser to a page: it has sent no cookie then. */
export const isFromOtherSite = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers['sec-fetch-site'] === 'cross-site' || headers['sec-fetch-site'] === 'same-site';

/** A path of the console that somebody is led on to. Anything else leads to the start. */
export function ownPath(text: string | undefined, consoleUrl: string): string {
  if (text === undefined || text.length > 1_000 || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text) || text.includes('\\')) return '/';
  const url = URL.parse(text, consoleUrl);
  // Without its dots, /.//elsewhere.example is the address of another site.
  return url?.origin === consoleUrl && !url.pathname.startsWith('//') && !url.pathname.startsWith('/sign-in')
    ? `${url.pathname}${url.search}`
    : '/';
}
