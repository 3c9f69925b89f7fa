import type { FastifyRequest } from 'fastify';

/**
 * Whether a browser says that another site sent a request. A program says nothing. From a page with `no-referrer` a browser sends the
 * origin `null`, which then says nothing either; today's browsers send Sec-Fetch-Site, too.
 */
export function isFromElsewhere({ headers }: Pick<FastifyRequest, 'headers'>, publicUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const { origin, host } = headers;
  if (origin === undefined || origin === 'null') return false;
  return URL.parse(origin)?.host !== host && origin !== URL.parse(publicUrl)?.origin;
}
