import type { ApiUrl } from './api-types.gen.ts';
import { backoffMs, sleep } from './backoff.ts';
import { explainFailure } from './connection-failure.ts';
import { ConnectionError, errorOf, HomewardError, isRetryable } from './errors.ts';
import { exactText, parseJson, writeJson } from './json.ts';
import { linkOf } from './links.ts';
import { createPace } from './pace.ts';
import type { RateLimit } from './rate-limit.ts';
import { type StoreOptions, targetOf } from './store-options.ts';

export interface CallOptions {
  /** Aborts the call, also while it waits. */
  readonly signal?: AbortSignal;
}

type Query = Readonly<Record<string, string | number | bigint | ReadonlyArray<string | number | bigint> | undefined>>;

interface Request {
  readonly href: string;
  readonly init: RequestInit;
}

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** A path template of the API, with parameters in braces. */
  readonly url: ApiUrl;
  readonly path?: Readonly<Record<string, number | bigint>>;
  readonly query?: Query | undefined;
  /** Sent as JSON, or as it is if it is a Blob. */
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly options?: CallOptions | undefined;
  /** Time for one attempt and at least in total, for a call that takes longer than others. */
  readonly timeoutMs?: number;
}

export interface ApiResponse {
  readonly body: unknown;
  readonly headers: Headers;
}

export interface Transport {
  /** The base address of the store, which ends in /v1. */
  readonly base: string;
  readonly rateLimit: RateLimit | undefined;
  call(call: Call): Promise<ApiResponse>;
  /** The caller reads the body. */
  open(call: Call): Promise<Response>;
}

export function createTransport(options: StoreOptions): Transport {
  const { fetch: send = fetch, totalTimeoutMs = 90_000, timeoutMs = 30_000 } = options;
  const { base, key } = targetOf(options);
  const pace = createPace();
  const warned = new Set<string>();
  let hasConnected = false;

  /** Sends one request, and retries it while a retry may succeed before the total timeout. */
  async function sendWithRetries<T>(call: Call, read: (response: Response) => Promise<T>): Promise<{ response: Response; read: T }> {
    const deadlineMs = Date.now() + Math.max(totalTimeoutMs, call.timeoutMs ?? 0);
    const signal = call.options?.signal;
    // Built once: every retry has the same idempotency key, so the store applies it once.
    const request = requestOf(call);
    for (let failures = 0; ; failures += 1) {
      await pace.enter({ deadlineMs, signal, isRetry: failures > 0 });
      const failure = await attempt(call, request, read).catch((error: unknown) => {
        if (!isRetryable(error)) throw error;
        return error;
      });
      if (!(failure instanceof Error)) return failure;
      const waitMs = Math.max(backoffMs(failures), 1_000 * ((failure instanceof HomewardError && failure.retryAfterSeconds) || 0));
      if (Date.now() + waitMs > deadlineMs) throw failure;
      warnIfNeverConnected(failure);
      // After a 429, `pace.enter` makes every call wait.
      if (!(failure instanceof HomewardError && failure.status === 429)) await sleep(waitMs, signal);
    }
  }

  async function attempt<T>(call: Call, request: Request, read: (response: Response) => Promise<T>) {
    const given = call.options?.signal;
    const abandon = new AbortController();
    const attemptMs = Math.max(timeoutMs, call.timeoutMs ?? 0);
    const timer = setTimeout(() => abandon.abort(new Error(`no response within ${attemptMs} ms`)), attemptMs);
    let response: Response | undefined;
    try {
      const signal = given ? AbortSignal.any([given, abandon.signal]) : abandon.signal;
      response = await send(request.href, { ...request.init, signal });
      hasConnected = true;
      warnIfDeprecated(call, response.headers);
      if (response.ok) return { response, read: await read(response) };
      const error = errorOf(response, await response.text(), request.href);
      // Before `pace.leave` admits the next call.
      if (error.status === 429) pace.close(error);
      throw error;
    } catch (error) {
      given?.throwIfAborted();
      if (error instanceof HomewardError) throw error;
      const cause = abandon.signal.reason ?? error;
      throw new ConnectionError(`${request.init.method} ${request.href} got no response. ${explainFailure(request.href, cause)}`, {
        cause,
      });
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
    const all = new Headers({ accept: 'application/json', ...options.headers, authorization: `Bearer ${key}` });
    if (body) all.set('content-type', body instanceof Blob ? body.type || unknownImage : 'application/json');
    if (method === 'POST') all.set('idempotency-key', newIdempotencyKey());
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) all.set(name, value);
    return { href: target.href, init: { method, headers: all, ...(body && { body: body instanceof Blob ? body : writeJson(body) }) } };
  }

  /** A wrong URL is found at once, and not only after the total timeout. */
  function warnIfNeverConnected(failure: Error): void {
    if (hasConnected || warned.has('connection') || !(failure instanceof ConnectionError)) return;
    warned.add('connection');
    console.warn(`Homeward: ${failure.message} Retrying for up to ${totalTimeoutMs / 1_000} s.`);
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
    base,
    get rateLimit() {
      return pace.rateLimit;
    },
    async call(call) {
      const { response, read } = await sendWithRetries(call, (one) => one.text());
      return { body: read === '' ? undefined : parseJson(read), headers: response.headers };
    },
    async open(call) {
      return (await sendWithRetries(call, async () => undefined)).response;
    },
  };
}

/** For a Blob without a type. The store recognises the image by its bytes. */
const unknownImage = 'image/jpeg';

/** Browsers don't offer crypto.randomUUID on pages without TLS. */
function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
