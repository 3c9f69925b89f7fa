import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyBaseLogger } from 'fastify';
import { addressSubject } from '../../caller-addresses.ts';
import { AppError, type ErrorCode } from '../../errors.ts';
import { helpLink } from '../error-handler.ts';
import { newRequestId } from '../finished-requests.ts';
import { securityHeaders } from './browsers.ts';
import { isLiftedTimeout, lingerMs } from './connections.ts';

type CountAddress = (address: string, code: ErrorCode) => Promise<Record<string, string>>;
type SendError = (socket: Duplex, rejection: AppError, reason: string) => void;

/** What is said of an error, with the headers that it is read by. */
export interface BareResponse {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Sends an error on the bare connection, for requests that Node's parser rejects: unless given otherwise, the same Error body and
 * headers as everywhere. Counted against the address, like every request without a valid key.
 */
export function createSocketErrorSender(
  count: CountAddress,
  log: FastifyBaseLogger,
  observe: ((code: ErrorCode) => void) | undefined,
  describe: (error: AppError) => BareResponse = asJson,
): SendError {
  // The parser may report the same malformed request several times.
  const rejected = new WeakSet<Duplex>();
  return (socket, rejection, reason) => {
    if (rejected.has(socket)) return;
    rejected.add(socket);
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const id = newRequestId();
    log.info({ reqId: id, status: rejection.status, reason }, 'unreadable request');
    observe?.(rejection.code);
    const { remoteAddress } = socket as { remoteAddress?: string };
    Promise.all([count(addressSubject(remoteAddress), rejection.code), earlierResponses(socket)])
      .then(([headers]) => socket.end(writeResponse(rejection, describe(rejection), { ...headers, 'x-request-id': id })))
      .catch(() => socket.destroy())
      .finally(() => setTimeout(() => socket.destroy(), lingerMs).unref());
  };
}

export const handleClientErrors =
  (reject: SendError) =>
  (error: NodeJS.ErrnoException, socket: Duplex): void => {
    if (isLiftedTimeout(error, socket)) return;
    if (error.code === 'ECONNRESET') socket.destroy();
    else reject(socket, asAppError(error), error.code ?? 'unknown');
  };

/** Without this listener, Node closes the connection of a CONNECT request without a response. */
export function rejectTunnels(server: Server, reject: SendError): void {
  server.on('connect', (_, socket) => {
    socket.on('error', () => socket.destroy());
    reject(socket, new AppError('method_not_allowed', "CONNECT isn't supported here.", { headers: { allow: '' } }), 'CONNECT');
  });
}

/** Ignores an unknown Expect header. Without this listener, Node responds with 417. */
export function ignoreExpectations(server: Server): void {
  server.on('checkExpectation', (request: IncomingMessage, response) => server.emit('request', request, response));
}

/** Waits for the responses to earlier complete requests on the connection, since responses must be sent in order. */
async function earlierResponses(socket: Duplex): Promise<void> {
  // Node's internal reference to the response in progress; its own client error handling uses it too.
  const current = () => (socket as Duplex & { _httpMessage?: ServerResponse | null })._httpMessage;
  for (let response = current(); response?.req.complete && !response.closed; response = current()) await once(response, 'close');
  if (current()?.headersSent) socket.destroy();
}

function asAppError({ code }: NodeJS.ErrnoException): AppError {
  if (code === 'HPE_HEADER_OVERFLOW') return new AppError('headers_too_large', 'The request line and headers are larger than 16 KiB.');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new AppError('request_timeout', 'The request did not arrive completely in time.');
  return new AppError('malformed_request', `This is not a valid HTTP/1.1 request (${code ?? 'unknown'}).`);
}

const asJson = ({ code, message, status }: AppError): BareResponse => ({
  body: JSON.stringify({ code, message, status }),
  headers: {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'access-control-allow-origin': '*',
    link: helpLink(code),
  },
});

function writeResponse(error: AppError, { body, headers: ofBody }: BareResponse, headers: Record<string, string>): string {
  const fields = {
    ...headers,
    ...error.headers,
    ...securityHeaders,
    ...ofBody,
    'content-length': String(Buffer.byteLength(body)),
    date: new Date().toUTCString(),
    connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`;
}
