import { connect } from 'node:net';

export interface RawResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly json: unknown;
}

const timeoutMs = 10_000;

/** Sends raw bytes on a new connection and reads one response, for requests that no HTTP client would send. */
export async function sendRaw(url: string, bytes: string, waitMs = timeoutMs): Promise<RawResponse> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    const end = (finish: () => void) => {
      socket.destroy();
      finish();
    };
    socket.setEncoding('utf8');
    socket.setTimeout(waitMs, () => end(() => reject(new Error(`no complete response within ${waitMs} ms: ${received}`))));
    socket.on('error', (error) => end(() => reject(error)));
    socket.on('close', () => reject(new Error(`closed before a complete response: ${received}`)));
    socket.on('data', (text) => {
      received += text;
      const response = readResponse(received);
      if (response) end(() => resolve(response));
    });
  });
}

/** Undefined: not yet complete. */
function readResponse(text: string): RawResponse | undefined {
  const [head = '', body] = text.split('\r\n\r\n', 2);
  if (body === undefined) return undefined;
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  if (Buffer.byteLength(body) < Number(headers['content-length'] ?? 0)) return undefined;
  return { status: Number(statusLine.split(' ')[1]), headers, json: body ? JSON.parse(body) : undefined };
}
