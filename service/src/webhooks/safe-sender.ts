import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { isPublicAddress } from './public-addresses.ts';
import { faultOfUrl, hostOf, isLoopbackHost } from './target-urls.ts';

export interface Message {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How sending went: an answer, or what prevented one. */
export interface Exchange {
  readonly status: number | undefined;
  /** Its first kilobyte. */
  readonly answer: string | undefined;
  readonly error: string | undefined;
  readonly durationMs: number;
}

export interface SenderOptions {
  /** Also to this machine, and there without TLS: for development. */
  readonly toLoopback: boolean;
  readonly resolve?: (host: string) => Promise<string[]>;
  /** Connects to an address that has been found allowed. */
  readonly dial?: buildConnector.connector;
}

const exchangeTimeoutMs = 10_000;
const connectTimeoutMs = 5_000;
const answerBytesMax = 65_536;
const keptBytesMax = 1_024;

/**
 * Sends to addresses that strangers choose. The address is looked up once, found public, and that very one is connected to:
 * between the check and the connection nothing is resolved again. Redirects are answers like any other.
 */
export class SafeSender {
  readonly #toLoopback: boolean;
  readonly #agent: Agent;

  constructor({ toLoopback, resolve = resolveByDns, dial = buildConnector({ timeout: connectTimeoutMs, allowH2: false }) }: SenderOptions) {
    this.#toLoopback = toLoopback;
    this.#agent = new Agent({
      // Undici asks its own lookup only for names, not for literal addresses: the check stands in front of every connection.
      connect: (options, callback) => {
        chooseAddress(options.hostname, toLoopback, resolve).then(
          (hostname) => dial({ ...options, hostname }, callback),
          (error: Error) => callback(error, null),
        );
      },
      // What bounds the connections to a host is how much is under way for each endpoint there: a slow one takes nothing from others.
      connections: null,
      pipelining: 1,
      keepAliveTimeout: 4_000,
      keepAliveMaxTimeout: 30_000,
      headersTimeout: exchangeTimeoutMs,
      bodyTimeout: exchangeTimeoutMs,
    });
  }

  /** Never rejects. */
  async send(message: Message, ending?: AbortSignal): Promise<Exchange> {
    const startMs = performance.now();
    const exchange = await this.#exchange(message, ending).catch((error: unknown) => ({ error: describe(error) }));
    return { status: undefined, answer: undefined, error: undefined, ...exchange, durationMs: Math.round(performance.now() - startMs) };
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #exchange({ url, headers, body }: Message, ending: AbortSignal | undefined): Promise<Partial<Exchange>> {
    const fault = faultOfUrl(url, this.#toLoopback);
    if (fault) throw new Refused(`the address ${fault}`);
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
    return { status: response.statusCode, answer: await readStart(response.body) };
  }
}

class Refused extends Error {}

/** The one address that is connected to. One that is not public among several is enough to refuse all. */
async function chooseAddress(hostname: string, toLoopback: boolean, resolve: (host: string) => Promise<string[]>): Promise<string> {
  const host = hostOf({ hostname } as URL);
  if (toLoopback && isLoopbackHost(host)) return isIP(host) ? host : '127.0.0.1';
  const addresses = isIP(host) ? [host] : await resolve(host);
  const [first] = addresses;
  if (first === undefined) throw new Refused('the host has no address');
  if (!addresses.every(isPublicAddress)) throw new Refused('the host has an address that is not public');
  return first;
}

/** Not by the system's own lookup: that would let a few slow name servers hold up all others, and read /etc/hosts. */
async function resolveByDns(host: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  return [four, six].flatMap((found) => (found.status === 'fulfilled' ? found.value : []));
}

/** The status has come by then: whatever becomes of the body, the receiver has said what it had to say. */
async function readStart(body: AsyncIterable<Buffer>): Promise<string> {
  const kept: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      if (bytes < keptBytesMax) kept.push(chunk.subarray(0, keptBytesMax - bytes));
      bytes += chunk.length;
      if (bytes >= answerBytesMax) break;
    }
  } catch {
    // Cut off.
  }
  // PostgreSQL keeps no NUL in a text.
  return Buffer.concat(kept).toString('utf8').replaceAll('\0', '\ufffd');
}

function describe(error: unknown): string {
  const { name, code, message } = error as NodeJS.ErrnoException;
  if (error instanceof Refused) return message;
  if (name === 'TimeoutError' || code === 'UND_ERR_HEADERS_TIMEOUT') return `no answer within ${exchangeTimeoutMs / 1_000} s`;
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return `no connection within ${connectTimeoutMs / 1_000} s`;
  return (code ? `${code}: ${message}` : message).slice(0, 200);
}
