// HTTP as bytes on a plain TCP connection, to send what no HTTP client would and see exactly what comes back.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Bytes to send, or a pause in milliseconds. */
export type Step = string | Buffer | number;

export interface RawResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
}

export interface Exchange {
  /** Without interim responses (100). */
  readonly responses: RawResponse[];
  /** Whether the server closed the connection. */
  readonly ended: boolean;
  readonly respondedAfterMs: number;
}

/** How long to wait for responses beyond the expected number. */
const surplusMs = 50;

/**
 * Sends the steps and reads until `expected` responses have arrived and, with `untilEnd`, the connection is closed; at
 * most `timeoutMs`.
 */
export async function exchange(
  port: number,
  steps: readonly Step[],
  options: { expected: number; untilEnd: boolean; timeoutMs: number },
): Promise<Exchange> {
  const socket = connect(port, '127.0.0.1');
  const startMs = performance.now();
  let bytes = Buffer.alloc(0);
  let respondedAfterMs = Number.POSITIVE_INFINITY;
  const finished = new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), options.timeoutMs);
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      if (respondedAfterMs < Number.POSITIVE_INFINITY || readResponses(bytes).length < options.expected) return;
      respondedAfterMs = performance.now() - startMs;
      if (!options.untilEnd) setTimeout(() => resolve(false), surplusMs);
    });
    const end = () => {
      clearTimeout(timer);
      resolve(true);
    };
    socket.once('end', end).once('close', end).on('error', end);
  });
  const sending = send(socket, steps);
  const ended = await finished;
  socket.destroy();
  await sending;
  return { responses: readResponses(bytes), ended, respondedAfterMs };
}

async function send(socket: ReturnType<typeof connect>, steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    if (socket.destroyed) return;
    if (typeof step === 'number') await sleep(step);
    else socket.write(step);
  }
}

/** The complete responses at the start of `bytes`. Each has a Content-Length or no body. */
function readResponses(bytes: Buffer): RawResponse[] {
  const responses: RawResponse[] = [];
  for (let rest = bytes; rest.length > 0; ) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd < 0) break;
    const [statusLine = '', ...lines] = rest.subarray(0, headEnd).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    const headers = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const bodyEnd = headEnd + 4 + Number(headers.get('content-length') ?? 0);
    if (rest.length < bodyEnd) break;
    if (!(status < 200)) responses.push({ status, headers, text: rest.subarray(headEnd + 4, bodyEnd).toString('utf8') });
    rest = rest.subarray(bodyEnd);
  }
  return responses;
}
