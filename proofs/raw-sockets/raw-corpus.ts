// Requests as bytes, from valid to hostile, and the statuses that each must get.
import type { Step } from '../../testkit/raw-socket.ts';

export interface RawCase {
  readonly name: string;
  readonly steps: readonly Step[];
  /** The status of each response, in order. */
  readonly statuses: readonly number[];
  /** The server must also close the connection: nothing that follows such bytes can be trusted. */
  readonly ends?: boolean;
  /** Not under /v1, so the response has no rate-limit headers. */
  readonly outside?: boolean;
  readonly withinMs?: number;
}

export function rawCorpus(key: string): RawCase[] {
  return [...framing(key), ...headers(key), ...requestLines(key), ...bodies(key), ...legitimate(key), ...slow(key)];
}

const host = 'Host: homeward.example\r\n';
const json = 'Content-Type: application/json\r\n';
const animal = '{"name":"Biscuit","categoryId":1}';
const smuggled = 'GET /v1/pets HTTP/1.1\r\nHost: smuggled\r\n\r\n';
const auth = (key: string) => `Authorization: Bearer ${key}\r\n`;
const get = (key: string, path: string, more = '') => `GET ${path} HTTP/1.1\r\n${host}${auth(key)}${more}\r\n`;
const post = (key: string, more: string) => `POST /v1/pets HTTP/1.1\r\n${host}${auth(key)}${json}${more}`;
const sized = (key: string, body: string, more = '') => `${post(key, `Content-Length: ${Buffer.byteLength(body)}\r\n${more}`)}\r\n${body}`;
const chunked = (key: string, body: string) => `${post(key, 'Transfer-Encoding: chunked\r\n')}\r\n${body}`;
const rejected = (name: string, ...steps: Step[]): RawCase => ({ name, steps, statuses: [400], ends: true });
const responded = (name: string, status: number, ...steps: Step[]): RawCase => ({ name, steps, statuses: [status] });

/** Framing that two parsers could read differently: it is rejected, and what follows is never parsed as a request. */
const framing = (key: string): RawCase[] => [
  rejected(
    'Content-Length and Transfer-Encoding',
    post(key, `Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`),
  ),
  rejected(
    'Transfer-Encoding and Content-Length',
    post(key, `Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${smuggled}`),
  ),
  rejected('two different Content-Length headers', post(key, `Content-Length: 5\r\nContent-Length: 50\r\n\r\n${animal}${smuggled}`)),
  rejected('two equal Content-Length headers', post(key, `Content-Length: 33\r\nContent-Length: 33\r\n\r\n${animal}${smuggled}`)),
  rejected('a list as Content-Length', post(key, `Content-Length: 33, 33\r\n\r\n${animal}${smuggled}`)),
  rejected('a negative Content-Length', post(key, `Content-Length: -1\r\n\r\n${smuggled}`)),
  rejected('a signed Content-Length', post(key, `Content-Length: +33\r\n\r\n${animal}${smuggled}`)),
  rejected('a Content-Length beyond 64 bits', post(key, `Content-Length: 99999999999999999999999\r\n\r\n${animal}`)),
  rejected('a hexadecimal Content-Length', post(key, `Content-Length: 0x21\r\n\r\n${animal}${smuggled}`)),
  rejected('an unknown Transfer-Encoding', post(key, `Transfer-Encoding: gzip\r\n\r\n${animal}${smuggled}`)),
  rejected('chunked twice', post(key, `Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n${smuggled}`)),
  rejected('chunked, then identity', post(key, `Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${smuggled}`)),
  rejected('a vertical tab before chunked', post(key, `Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n${smuggled}`)),
  rejected('a chunk size beyond 64 bits', chunked(key, `fffffffffffffffff\r\n${animal}`)),
  rejected('a chunk size that is not a number', chunked(key, `zz\r\n${animal}`)),
  rejected('a negative chunk size', chunked(key, `-1\r\n${animal}`)),
  rejected('a chunk longer than its size', chunked(key, `5\r\n${animal}\r\n0\r\n\r\n`)),
  rejected('a chunk broken after the first', chunked(key, '1\r\n{\r\n'), 100, 'zz\r\n'),
  rejected('bare LF for line ends', `GET /v1/pets HTTP/1.1\nHost: a\n${auth(key).trim()}\n\n`),
  rejected('bare CR for line ends', `GET /v1/pets HTTP/1.1\rHost: a\r${auth(key).trim()}\r\r`),
  rejected('bare LF between chunks', chunked(key, `21\n${animal}\n0\n\n${smuggled}`)),
  { ...rejected('garbage after a request', `${get(key, '/v1/pets')}GARBAGE\r\n\r\n`), statuses: [200, 400] },
  { ...rejected('garbage after three requests', `${get(key, '/v1/pets').repeat(3)}GARBAGE\r\n\r\n`), statuses: [200, 200, 200, 400] },
];

const headers = (key: string): RawCase[] => [
  rejected('a folded header', get(key, '/v1/pets', 'X-Folded: a\r\n b\r\n')),
  rejected('a space before the colon', get(key, '/v1/pets', 'X-Blank : a\r\n')),
  rejected('a header without a name', get(key, '/v1/pets', ': a\r\n')),
  rejected('a header without a colon', get(key, '/v1/pets', 'nothing\r\n')),
  rejected('NUL in a header', get(key, '/v1/pets', 'X-Nul: a\0b\r\n')),
  rejected('CR in a header', get(key, '/v1/pets', 'X-Cr: a\rb\r\n')),
  responded('two Host headers', 400, get(key, '/v1/pets', host)),
  responded('no Host header', 400, `GET /v1/pets HTTP/1.1\r\n${auth(key)}\r\n`),
  responded('two Authorization headers', 401, get(key, '/v1/pets', auth(key))),
  responded('an Authorization header without a key', 401, `GET /v1/pets HTTP/1.1\r\n${host}Authorization: Bearer\r\n\r\n`),
  responded('no Authorization header', 401, `GET /v1/pets HTTP/1.1\r\n${host}\r\n`),
  responded('800 headers', 200, get(key, '/v1/pets', Array.from({ length: 800 }, (_, i) => `A${i}: b\r\n`).join(''))),
  { ...rejected('5,000 headers', get(key, '/v1/pets', 'A: b\r\n'.repeat(5_000))), statuses: [431] },
  { ...rejected('a header of 100 kB', get(key, '/v1/pets', `X-Long: ${'a'.repeat(100_000)}\r\n`)), statuses: [431] },
  { ...rejected('a header of 10 MB', get(key, '/v1/pets', `X-Long: ${'a'.repeat(10_000_000)}\r\n`)), statuses: [431] },
  responded('a header with non-ASCII bytes', 200, Buffer.from(get(key, '/v1/pets', 'X-Name: \xff\xfe\r\n'), 'latin1')),
  responded('headers named __proto__ and constructor', 200, get(key, '/v1/pets', '__proto__: a\r\nconstructor: b\r\n')),
  responded('an unknown Expect header', 201, sized(key, animal, 'Expect: tea\r\n')),
  responded(
    'Upgrade to a WebSocket',
    200,
    get(key, '/v1/pets', 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: YQ==\r\n'),
  ),
  responded(
    'Upgrade to HTTP/2',
    200,
    get(key, '/v1/pets', 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n'),
  ),
];

const requestLines = (key: string): RawCase[] => [
  rejected('bytes that are not HTTP', 'hello\r\n\r\n'),
  rejected('the start of TLS', Buffer.from('16030100a5010000a10303', 'hex')),
  rejected('the start of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  rejected('NUL bytes', Buffer.alloc(64)),
  rejected('an unknown method', `FETCH /v1/pets HTTP/1.1\r\n${host}${auth(key)}\r\n`),
  rejected('a lower-case method', `get /v1/pets HTTP/1.1\r\n${host}${auth(key)}\r\n`),
  rejected('an unknown version', `GET /v1/pets HTTP/9.9\r\n${host}${auth(key)}\r\n`),
  rejected('a path with NUL', `GET /v1/pe\0ts HTTP/1.1\r\n${host}${auth(key)}\r\n`),
  rejected('a path without a slash', `GET v1/pets HTTP/1.1\r\n${host}${auth(key)}\r\n`),
  { ...rejected('CONNECT', `CONNECT homeward.example:443 HTTP/1.1\r\n${host}${auth(key)}\r\n`), statuses: [405] },
  responded('TRACE', 405, `TRACE /v1/pets HTTP/1.1\r\n${host}${auth(key)}\r\n`),
  responded('a WebDAV method', 405, `PROPFIND /v1/pets HTTP/1.1\r\n${host}${auth(key)}\r\n`),
  responded('a path with %zz', 404, get(key, '/v1/pets/%zz')),
  responded('a path with a truncated UTF-8 sequence', 404, get(key, '/v1/pets/%ff')),
  responded('a path with %00', 404, get(key, '/v1/pets/%00')),
  responded('a path with %2e%2e%2f', 404, get(key, '/v1/pets/%2e%2e%2f%2e%2e%2fetc%2fpasswd')),
  responded('an id of 10,000 digits', 404, get(key, `/v1/pets/${'1'.repeat(10_000)}`)),
  { ...rejected('a path of 30,000 bytes', get(key, `/v1/pets/${'1'.repeat(30_000)}`)), statuses: [431] },
  responded('a query with %zz', 400, get(key, '/v1/pets?status=%zz')),
  responded('a query with __proto__', 400, get(key, '/v1/pets?__proto__=1')),
  responded('an unknown path', 404, get(key, '/v1/nothing')),
  { ...responded('two slashes before v1', 404, get(key, '//v1/pets')), outside: true },
  { ...responded('a path with ..', 404, get(key, '/nowhere/../v1/pets')), outside: true },
  { ...responded('OPTIONS *', 404, `OPTIONS * HTTP/1.1\r\n${host}${auth(key)}\r\n`), outside: true },
];

const bodies = (key: string): RawCase[] => [
  responded('a body of 2 MiB', 413, post(key, 'Content-Length: 2097152\r\n\r\n')),
  responded('chunks of 2 MiB', 413, chunked(key, `200000\r\n${'a'.repeat(2_097_152)}\r\n0\r\n\r\n`)),
  responded(
    'another media type',
    415,
    `POST /v1/pets HTTP/1.1\r\n${host}${auth(key)}Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}`,
  ),
  responded('no media type', 415, `POST /v1/pets HTTP/1.1\r\n${host}${auth(key)}Content-Length: 2\r\n\r\n{}`),
  responded(
    'a media type of semicolons',
    415,
    `POST /v1/pets HTTP/1.1\r\n${host}${auth(key)}Content-Type: ;;;\r\nContent-Length: 2\r\n\r\n{}`,
  ),
  responded(
    'another media type on a wrong method',
    405,
    `PUT /v1/pets HTTP/1.1\r\n${host}${auth(key)}Content-Type: a/b\r\nContent-Length: 2\r\n\r\n{}`,
  ),
  responded('no body', 400, sized(key, '')),
  responded('a body of NUL bytes', 400, sized(key, '\0\0\0')),
  responded('a body that is not UTF-8', 400, post(key, 'Content-Length: 3\r\n\r\n'), Buffer.from([0x22, 0xff, 0x22])),
  responded('10,000 brackets', 400, sized(key, '['.repeat(10_000))),
  responded('a body that sets __proto__', 400, sized(key, '{"name":"a","categoryId":1,"__proto__":{"status":"sold"}}')),
];

/** Unusual but valid requests. */
const legitimate = (key: string): RawCase[] => [
  responded('an absolute URL', 200, get(key, 'http://elsewhere.example/v1/pets')),
  responded('HTTP/1.0', 200, `GET /v1/pets HTTP/1.0\r\n${auth(key)}\r\n`),
  responded('Expect: 100-continue', 201, post(key, `Content-Length: 33\r\nExpect: 100-continue\r\n\r\n`), 100, animal),
  responded('chunks with an extension and a trailer', 201, chunked(key, `21;a=b\r\n${animal}\r\n0\r\nX-Trailer: c\r\n\r\n`)),
  responded('a body one byte at a time', 201, post(key, 'Content-Length: 33\r\n\r\n'), ...[...animal].flatMap((byte) => [byte, 2])),
  responded('empty lines before a request', 200, `\r\n\r\n${get(key, '/v1/pets')}`),
  {
    name: 'five requests at once',
    steps: [get(key, '/v1/pets') + get(key, '/v1/nothing') + sized(key, animal) + get(key, '/v1/pets/0') + get(key, '/v1/pets')],
    statuses: [200, 404, 201, 404, 200],
  },
];

/** Timeouts: 5 s for the headers, 10 s for a whole request, checked twice a second. */
const slow = (key: string): RawCase[] => [
  { ...rejected('silence'), statuses: [408], withinMs: 6_000 },
  {
    ...rejected('a slow header', 'GET /v1/pets HTTP/1.1\r\nX: ', ...Array.from({ length: 30 }, () => ['a', 300]).flat()),
    statuses: [408],
    withinMs: 6_000,
  },
  {
    ...rejected('a slow body', post(key, 'Content-Length: 1000\r\n\r\n'), ...Array.from({ length: 60 }, () => ['a', 250]).flat()),
    statuses: [408],
    withinMs: 11_500,
  },
  {
    ...rejected('slow chunks', chunked(key, ''), ...Array.from({ length: 60 }, () => ['1\r\na\r\n', 250]).flat()),
    statuses: [408],
    withinMs: 11_500,
  },
];
