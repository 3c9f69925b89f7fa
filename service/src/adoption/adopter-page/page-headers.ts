import { pageStyleHash } from './page-style.ts';

/** The token is in the URL: nothing stores the page, and nothing is told where a reader came from. */
export function pageHeaders(photosUrl: string): Readonly<Record<string, string>> {
  const photos = photosUrl.startsWith('/') ? "'self'" : `'self' ${new URL(photosUrl).origin}`;
  return {
    'content-security-policy': `default-src 'none'; style-src '${pageStyleHash}'; img-src ${photos}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex, nofollow',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  };
}
