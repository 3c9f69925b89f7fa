import type { ApiUrl } from './api-types.gen.ts';
import { ConnectionError, HomewardError, isPassing, refusalOf } from './errors.ts';
import { exactText, parseJson, writeJson } from './json.ts';
import { linkOf } from './links.ts';
import { createPace } from './pace.ts';
import type { RateLimit } from './rate-limit.ts';
import { backoffMs, sleep } from './waiting.ts';

export interface StoreOptions {
  /** The store's address, such as https://homeward.example. */
  readonly url: string | URL;
  /** An API key. It has no place in a page that strangers open. */
  readonly key: string;
  /** In place of the runtime's own. */
  readonly fetch?: typeof fetch;
  /** How long a call may go on waiting and repeating in all before it gives up; 90 s, so that a full minute can be waited out. */
  readonly patienceMs?: number;
  /** How long one try may take; 30 s. */
  readonly timeoutMs?: number;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface CallOptions {
  /** Ends the call, also while it waits. */
  readonly signal?: AbortSignal;
}

type Query = Readonly<Record<string, string | number | bigint | ReadonlyArray<number | bigint> | undefined>>;

interface Request {
  readonly href: string;
  readonly init: RequestInit;
}

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With names in braces. */
  readonly url: ApiUrl;
  readonly path?: Readonly<Record<string, number | bigint>>;
  readonly query?: Query | undefined;
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly options?: CallOptions | undefined;
}

export interface Answer {
  readonly body: unknown;
  readonly headers: Headers;
}

export interface Transport {
  readonly rateLimit: RateLimit | undefined;
  call(call: Call): Promise<Answer>;
  /** The body is the caller's to read. */
  open(call: Call): Promise<Response>;
}

export function createTransport(options: StoreOptions): Transport {
  const { fetch: send = fetch, patienceMs = 90_000, timeoutMs = 30_000 } = options;
  const base = `${String(options.url).replace(/\/+$/, '').replace(/\/v1$/, '')}/v1`;
  const pace = createPace();
  const warned = new Set<string>();

  /** One request, which is repeated while that is of use and the patience lasts. */
  async function repeat<T>(call: Call, read: (response: Response) => Promise<T>): Promise<{ response: Response; read: T }> {
    const deadlineMs = Date.now() + patienceMs;
    const signal = call.options?.signal;
    // The same for every repeat: that is what makes them one.
    const request = requestOf(call);
    for (let failures = 0; ; failures += 1) {
      await pace.enter({ deadlineMs, signal, isRepeat: failures > 0 });
      const failure = await attempt(call, request, read).catch((error: unknown) => {
        if (!isPassing(error)) throw error;
        return error;
      });
      if (!(failure instanceof Error)) return failure;
      const waitMs = Math.max(backoffMs(failures), 1_000 * ((failure instanceof HomewardError && failure.retryAfterSeconds) || 0));
      if (Date.now() + waitMs > deadlineMs) throw failure;
      // A limit is waited for at the entry, by all.
      if (!(failure instanceof HomewardError && failure.status === 429)) await sleep(waitMs, signal);
    }
  }

  async function attempt<T>(call: Call, request: Request, read: (response: Response) => Promise<T>) {
    const given = call.options?.signal;
    const abandon = new AbortController();
    const timer = setTimeout(() => abandon.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    let response: Response | undefined;
    try {
      const signal = given ? AbortSignal.any([given, abandon.signal]) : abandon.signal;
      response = await send(request.href, { ...request.init, signal });
      warnIfDeprecated(call, response.headers);
      if (response.ok) return { response, read: await read(response) };
      const refusal = refusalOf(response, await response.text(), request.href);
      // Before this one leaves, and another is let through.
      if (refusal.status === 429) pace.close(refusal);
      throw refusal;
    } catch (error) {
      given?.throwIfAborted();
      if (error instanceof HomewardError) throw error;
      throw new ConnectionError(`${request.init.method} ${request.href}: no answer.`, { cause: abandon.signal.reason ?? error });
    } finally {
      clearTimeout(timer);
      pace.leave(response?.headers);
    }
  }

  function requestOf({ method = 'GET', url, path = {}, query = {}, body, headers = {} }: Call): Request {
    const target = new URL(base + url.replace(/\{(\w+)\}/g, (_, name) => exactText(path[name] ?? Number.NaN)));
    for (const [name, value] of Object.entries(query)) {
      for (const one of [value ?? []].flat()) target.searchParams.append(name, typeof one === 'string' ? one : exactText(one));
    }
    const all = new Headers({ accept: 'application/json', ...options.headers, authorization: `Bearer ${options.key}` });
    if (body) all.set('content-type', 'application/json');
    if (method === 'POST') all.set('idempotency-key', newIdempotencyKey());
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) all.set(name, value);
    return { href: target.href, init: { method, headers: all, ...(body && { body: writeJson(body) }) } };
  }

  function warnIfDeprecated({ method = 'GET', url }: Call, headers: Headers): void {
    const operation = `${method} ${url}`;
    if (!headers.has('deprecation') || warned.has(operation)) return;
    warned.add(operation);
    const sunset = headers.get('sunset');
    const notice = linkOf(headers, 'deprecation');
    const removal = sunset ? `, and will be removed on ${new Date(sunset).toISOString().slice(0, 10)}` : '';
    console.warn(`Homeward: ${operation} is deprecated${removal}.${notice ? ` See ${new URL(notice, base)}` : ''}`);
  }

  return {
    get rateLimit() {
      return pace.rateLimit;
    },
    async call(call) {
      const { response, read } = await repeat(call, (one) => one.text());
      return { body: read === '' ? undefined : parseJson(read), headers: response.headers };
    },
    async open(call) {
      return (await repeat(call, async () => undefined)).response;
    },
  };
}

/** crypto.randomUUID is missing from pages without TLS. */
function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
