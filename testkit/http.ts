// A plain HTTP client with keep-alive and without retries, which would hide what a proof measures.
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

export interface Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const timeoutMs = 30_000;

export class HttpClient implements Disposable {
  readonly #agent: Agent;

  constructor(socketsMax = 64) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: socketsMax });
  }

  async send(
    url: string,
    options: { method?: string; key?: string; body?: unknown; raw?: string | Buffer; headers?: Record<string, string> } = {},
  ): Promise<Response> {
    const payload = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const headers = {
      ...(options.key && { authorization: `Bearer ${options.key}` }),
      ...(payload !== undefined && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) }),
      ...options.headers,
    };
    return new Promise((resolve, reject) => {
      const outgoing = request(url, { agent: this.#agent, method: options.method ?? 'GET', headers, timeout: timeoutMs }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = decompress(Buffer.concat(chunks), response.headers['content-encoding']);
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
        response.on('error', reject);
      });
      outgoing.on('timeout', () => outgoing.destroy(new Error(`no response in ${timeoutMs} ms`)));
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

/** A response to HEAD has a coding but no bytes. */
function decompress(bytes: Buffer, coding: string | undefined): string {
  if (coding === undefined || bytes.length === 0) return bytes.toString();
  return (coding === 'br' ? brotliDecompressSync(bytes) : gunzipSync(bytes)).toString();
}
