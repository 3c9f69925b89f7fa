/** For every page. Nothing stores one: it may show adopters, and a browser's cache outlives a session. */
export function pageHeaders(consoleUrl: string, photosUrl: string): Readonly<Record<string, string>> {
  const photos = photosUrl.startsWith('/') ? '' : ` ${new URL(photosUrl).origin}`;
  return {
    'content-security-policy': `default-src 'none'; style-src 'self'; script-src 'self'; font-src 'self'; connect-src 'self'; img-src 'self'${photos} blob:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    'cache-control': 'no-store',
    // Not no-referrer: the Origin of a form would be null.
    'referrer-policy': 'same-origin',
    'x-robots-tag': 'noindex, nofollow',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), publickey-credentials-get=(self), publickey-credentials-create=(self)',
    ...(consoleUrl.startsWith('https:') && { 'strict-transport-security': 'max-age=31536000' }),
  };
}
