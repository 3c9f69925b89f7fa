import { type IncomingHttpHeaders, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

export interface ByteResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** As they were sent. */
  readonly bytes: Buffer;
  /** The decompressed body. */
  readonly text: string;
}

/** Sends a request and returns the bytes of the response, which other clients decompress on their own. */
export async function requestBytes(url: string, method: string, headers: Record<string, string>): Promise<ByteResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes, text: expand(bytes, response.headers) });
      });
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

function expand(bytes: Buffer, headers: IncomingHttpHeaders): string {
  if (bytes.length === 0 || headers['content-encoding'] === undefined) return bytes.toString();
  return (headers['content-encoding'] === 'br' ? brotliDecompressSync(bytes) : gunzipSync(bytes)).toString();
}
