import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Agent, buildConnector } from 'undici';
import type { Tracing } from '../../platform/tracing/tracing.ts';
import { faultOfUrl, hostOf, isLoopbackHost, isPublicAddress } from '../webhooks/target-urls.ts';

export interface WebhookMessage {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The outcome of a request: the endpoint's response, or the error. */
export interface Exchange {
  readonly status: number | undefined;
  /** The first kilobyte of the response body. */
  readonly responseStart: string | undefined;
  readonly error: string | undefined;
  readonly durationMs: number;
}

export interface SenderOptions {
  /** Allows sending to this machine, without TLS. For development. */
  readonly toLoopback: boolean;
  readonly resolve?: (host: string) => Promise<string[]>;
  /** Connects to an address that has passed the check. */
  readonly dial?: buildConnector.connector;
}

const exchangeTimeoutMs = 10_000;
const connectTimeoutMs = 5_000;
const responseBytesMax = 65_536;
const keptBytesMax = 1_024;

/**
 * Sends requests to URLs that partners choose, but only to public addresses. The host is resolved once, every address is
 * checked, and the connection goes to a checked address. It is not resolved again after the check, so DNS rebinding has no
 * effect. Redirects are not followed: they are responses like any other.
 */
export class SafeSender {
  readonly #toLoopback: boolean;
  readonly #agent: Agent;

  constructor({ toLoopback, resolve = resolveByDns, dial = buildConnector({ timeout: connectTimeoutMs, allowH2: false }) }: SenderOptions) {
    this.#toLoopback = toLoopback;
    this.#agent = new Agent({
      // Checked here and not in undici's `lookup` option, which is not called for a literal address.
      connect: (options, callback) => {
        chooseAddress(options.hostname, toLoopback, resolve).then(
          (hostname) => dial({ ...options, hostname }, callback),
          (error: Error) => callback(error, null),
        );
      },
      // No limit per host: the deliverer bounds the requests in flight to each endpoint, so a slow endpoint doesn't delay others on
      // its host.
      connections: null,
      pipelining: 1,
      keepAliveTimeout: 4_000,
      keepAliveMaxTimeout: 30_000,
      headersTimeout: exchangeTimeoutMs,
      bodyTimeout: exchangeTimeoutMs,
    });
  }

  /** Never rejects: a failure is returned as `error`. */
  async send(message: WebhookMessage, ending?: AbortSignal): Promise<Exchange> {
    const startMs = performance.now();
    const exchange = await this.#exchange(message, ending).catch((error: unknown) => ({ error: describe(error) }));
    return {
      status: undefined,
      responseStart: undefined,
      error: undefined,
      ...exchange,
      durationMs: Math.round(performance.now() - startMs),
    };
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #exchange({ url, headers, body }: WebhookMessage, ending: AbortSignal | undefined): Promise<Partial<Exchange>> {
    const fault = faultOfUrl(url, this.#toLoopback);
    if (fault) throw new Rejected(`the address ${fault}`);
    const { origin, pathname, search } = new URL(url);
    const timeout = AbortSignal.timeout(exchangeTimeoutMs);
    const response = await this.#agent.request({
      origin,
      path: pathname + search,
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'Homeward-Webhooks/1.0' },
      body,
      signal: ending ? AbortSignal.any([timeout, ending]) : timeout,
    });
    return { status: response.statusCode, responseStart: await readStart(response.body) };
  }
}

class Rejected extends Error {}

/** Returns the address to connect to. Throws if any of the host's addresses is not public. */
async function chooseAddress(hostname: string, toLoopback: boolean, resolve: (host: string) => Promise<string[]>): Promise<string> {
  const host = hostOf({ hostname } as URL);
  if (toLoopback && isLoopbackHost(host)) return isIP(host) ? host : '127.0.0.1';
  const addresses = isIP(host) ? [host] : await resolve(host);
  const [first] = addresses;
  if (first === undefined) throw new Rejected('the host has no address');
  if (!addresses.every(isPublicAddress)) throw new Rejected('the host has an address that is not public');
  return first;
}

/** Does not use dns.lookup: it reads /etc/hosts, and runs in libuv's thread pool, which a few slow name servers would block. */
async function resolveByDns(host: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  return [four, six].flatMap((found) => (found.status === 'fulfilled' ? found.value : []));
}

/** Reads the start of the body. An error is ignored: the status has arrived, and it decides the outcome. */
async function readStart(body: AsyncIterable<Buffer>): Promise<string> {
  const kept: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      if (bytes < keptBytesMax) kept.push(chunk.subarray(0, keptBytesMax - bytes));
      bytes += chunk.length;
      if (bytes >= responseBytesMax) break;
    }
  } catch {
    // The connection broke: return what has arrived.
  }
  return storable(Buffer.concat(kept).toString('utf8'));
}

/** PostgreSQL can't store NUL in a text. A result that can't be stored would stop the worker. */
const storable = (text: string) => text.replaceAll('\0', '\ufffd');

function describe(error: unknown): string {
  const { name, code, message } = error as NodeJS.ErrnoException;
  if (error instanceof Rejected) return message;
  if (name === 'TimeoutError' || code === 'UND_ERR_HEADERS_TIMEOUT') return `no response within ${exchangeTimeoutMs / 1_000} s`;
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return `no connection within ${connectTimeoutMs / 1_000} s`;
  return storable((code ? `${code}: ${message}` : message).slice(0, 200));
}

export interface Sender {
  send(message: WebhookMessage, ending?: AbortSignal): Promise<Exchange>;
}

/** A sender with a span for each request that is sampled. The receiver gets its `traceparent`. The path may be a secret: only the host is told. */
export const tracedSender = (sender: Sender, tracing: Tracing): Sender => ({
  send: (message, ending) => {
    const { hostname: host = '' } = URL.parse(message.url) ?? {};
    const attributes = { 'http.request.method': 'POST', 'server.address': host, 'homeward.event_id': message.headers['webhook-id'] ?? '' };
    return tracing.sending('POST webhook', attributes, (headers) =>
      sender.send({ ...message, headers: { ...message.headers, ...headers } }, ending),
    );
  },
});
