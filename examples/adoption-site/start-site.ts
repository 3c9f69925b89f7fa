import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createStore } from '@homeward/sdk';
import { findAsset } from './assets.ts';
import { Catalogue } from './catalogue.ts';
import { BadForm, FormTooLarge } from './form-request.ts';
import { Live } from './live.ts';
import { messagePage } from './message-page.ts';
import { replyTo } from './routes.ts';
import type { Reply, Site } from './site-replies.ts';
import { retryAfterSecondsOf } from './store-failure.ts';

export interface SiteOptions {
  /** The store's URL. */
  readonly url: string;
  readonly key: string;
  /** 0 picks any free port. */
  readonly port: number;
  readonly host?: string;
  /** The address under which visitors reach the site; by default that of the server. */
  readonly publicUrl?: string | undefined;
}

export interface RunningSite {
  readonly url: string;
  close(): Promise<void>;
}

/** Visitors don't wait long: after this, a page asks them to come back later. */
const timeouts = { totalTimeoutMs: 6_000, timeoutMs: 4_000 };
const connectionsMax = 2_000;
const closingMs = 3_000;

const policy = (photosFrom: readonly string[]): string =>
  `default-src 'none'; style-src 'self'; script-src 'self'; img-src ${["'self'", 'data:', ...photosFrom].join(' ')}; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;

const securityHeaders = {
  'content-security-policy': policy([]),
  'x-content-type-options': 'nosniff',
  // Not no-referrer: browsers would then hide the origin of the adoption form, which the site has to check.
  'referrer-policy': 'same-origin',
};

export async function startSite({ url, key, port, host = '127.0.0.1', publicUrl }: SiteOptions): Promise<RunningSite> {
  const store = createStore({ url, key, ...timeouts });
  const live = new Live(store);
  const catalogue = new Catalogue(store, url, live.position);
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 10_000 });
  server.maxConnections = connectionsMax;
  server.listen(port, host);
  await once(server, 'listening').catch(async (error) => {
    await live.close();
    throw error;
  });
  const ownUrl = `http://${host}:${(server.address() as AddressInfo).port}`;
  const site: Site = { store, key, catalogue, publicUrl: publicUrl ?? ownUrl, startedAt: new Date() };
  server.on('request', (request, response) => void respond(request, response, site, live));
  return {
    url: ownUrl,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      const timeout = setTimeout(() => server.closeAllConnections(), closingMs);
      await live.close();
      server.closeIdleConnections();
      await closed;
      clearTimeout(timeout);
    },
  };
}

async function respond(request: IncomingMessage, response: ServerResponse, site: Site, live: Live): Promise<void> {
  for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
  try {
    const url = URL.parse(request.url ?? '', 'http://site');
    if (!url) return send(request, response, { status: 400, page: messagePage('Not understood', 'This is not an address of this site.') });
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const asset = isRead ? findAsset(url.pathname) : undefined;
    if (asset) {
      response.writeHead(200, { 'content-type': asset.type, 'cache-control': 'public, max-age=31536000, immutable' });
      response.end(request.method === 'HEAD' ? undefined : asset.bytes);
    } else if (url.pathname === '/live' && request.method === 'GET') {
      live.listen(request, response, url.searchParams.get('after') ?? '');
    } else {
      send(request, response, await replyTo(request, url, site));
    }
  } catch (error) {
    send(request, response, replyToFailure(error));
  }
}

function send(request: IncomingMessage, response: ServerResponse, { status, page, photosFrom = [], headers }: Reply): void {
  response.setHeader('content-security-policy', policy(photosFrom));
  // Browsers may cache a page only for the back button: it must show the current state otherwise.
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'private, no-cache', ...headers });
  response.end(request.method === 'HEAD' ? undefined : page?.text);
}

function replyToFailure(error: unknown): Reply {
  if (error instanceof BadForm) {
    const text =
      error instanceof FormTooLarge
        ? 'The form is too long to be sent. Please go back and write less: your browser should still have your text.'
        : 'The form could not be read. Please go back and send it again.';
    return { status: 400, page: messagePage('Not understood', text), headers: { connection: 'close' } };
  }
  const seconds = retryAfterSecondsOf(error);
  // One line for a temporary error, since every visitor gets it while it lasts. No message of the SDK contains the key.
  console.error(seconds === undefined ? error : String(error));
  if (seconds === undefined)
    return { status: 500, page: messagePage('Something went wrong', 'That is our fault. Please try again later.') };
  const wait = seconds <= 90 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
  const text = `The shelter's list is unavailable right now. Please load this page again in ${wait}; nothing is lost.`;
  return { status: 503, page: messagePage('One moment, please', text), headers: { 'retry-after': String(seconds) } };
}
