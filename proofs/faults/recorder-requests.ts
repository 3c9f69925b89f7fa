// Sends requests to the processes of a store, and says of each what is known of its effect.
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { type Attempt, monotonicMs, type Outcome } from './history.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Reply {
  readonly attempt: Attempt;
  /** Undefined if there was no response, or its body is not JSON. */
  readonly json: unknown;
  readonly headers: IncomingHttpHeaders;
}

const socketsMax = 256;
const timeoutMs = 5_000;

export class Requests implements Disposable {
  readonly #urls: readonly string[];
  readonly #agents: readonly Agent[];
  #turn = 0;

  constructor(urls: readonly string[]) {
    this.#urls = urls;
    this.#agents = urls.map(() => new Agent({ keepAlive: true, maxSockets: socketsMax }));
  }

  get processes(): number {
    return this.#urls.length;
  }

  urlOf(process: number): string {
    return this.#urls[process % this.#urls.length] ?? '';
  }

  /** The processes take turns, unless one is given. */
  async send(asked: Asked, process = this.#nextProcess()): Promise<Reply> {
    const beginMs = rounded(monotonicMs());
    const { status, code, headers, text, wasSent } = await this.#exchange(asked, process);
    const json = parsed(text);
    const errorCode = code ?? (status >= 400 ? (json as { code?: string } | undefined)?.code : undefined);
    const isReplayed = headers['idempotent-replayed'] !== undefined;
    const attempt: Attempt = {
      process,
      beginMs,
      endMs: rounded(monotonicMs()),
      status,
      ...(errorCode !== undefined && { code: errorCode }),
      outcome: outcomeOf(asked.method, status, errorCode, wasSent),
      ...(isReplayed && { isReplayed }),
    };
    return { attempt, json, headers };
  }

  [Symbol.dispose](): void {
    for (const agent of this.#agents) agent.destroy();
  }

  #nextProcess(): number {
    this.#turn += 1;
    return this.#turn % this.#urls.length;
  }

  #exchange({ method, path, key, body, headers }: Asked, process: number): Promise<Exchange> {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const { promise, resolve } = Promise.withResolvers<Exchange>();
    let wasSent = false;
    const fail = (error: Error & { code?: string }) =>
      resolve({ status: 0, code: error.code ?? error.message, headers: {}, text: '', wasSent });
    const outgoing = request(
      this.urlOf(process) + path,
      {
        method,
        agent: this.#agents[process % this.#agents.length],
        headers: {
          authorization: `Bearer ${key}`,
          ...(payload !== undefined && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) }),
          ...headers,
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, code: undefined, headers: response.headers, text, wasSent }));
        response.on('error', fail);
        response.on('close', () => fail(new Error('closed')));
      },
    );
    const timer = setTimeout(() => outgoing.destroy(new Error('timeout')), timeoutMs);
    outgoing.on('socket', (socket) => {
      if (!socket.connecting) wasSent = true;
      else socket.once('connect', () => (wasSent = true));
    });
    outgoing.on('error', fail);
    outgoing.end(payload);
    return promise.finally(() => clearTimeout(timer));
  }
}

interface Exchange {
  readonly status: number;
  readonly code: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** A connection was there, so the process may have got the request. */
  readonly wasSent: boolean;
}

/** An error of the client's is certainly not applied. Another one may be: that of a 503 is documented to be unknown. */
function outcomeOf(method: string, status: number, code: string | undefined, wasSent: boolean): Outcome {
  if (status >= 200 && status < 300) return 'ok';
  if (method === 'GET') return 'failed';
  if (!wasSent) return 'failed';
  if (code === 'idempotency_in_progress') return 'unknown';
  return status >= 400 && status < 500 ? 'failed' : 'unknown';
}

const rounded = (ms: number) => Math.round(ms * 1_000) / 1_000;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
