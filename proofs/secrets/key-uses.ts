// The ways in which callers send an API key, above all the wrong ones.
import { HttpClient } from '../../testkit/http.ts';
import { exchange } from '../../testkit/raw-socket.ts';
import type { ServeProcess } from '../../testkit/store.ts';

const rawTimeoutMs = 5_000;

/** Sends `key` to the process in every way; returns the number of requests. None of them adds an animal whose name is the key. */
export async function sendEverywhere({ url }: ServeProcess, key: string, proxied: string): Promise<number> {
  using http = new HttpClient(8);
  const from = { 'x-forwarded-for': proxied };
  const origin = url.replace('/v1', '');
  const escaped = [...key].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');
  const urls = [
    `${url}/pets`,
    `${url}/pets?api_key=${key}`,
    `${url}/pets?${key}`,
    `${url}/pets?status=${key}`,
    `${url}/pets?cursor=${key}`,
    `${url}/pets?api_key=${key.replaceAll('_', '%5F')}`,
    `${url}/pets?api_key=${escaped}`,
    `${url}/pets?padding=${'x'.repeat(460)}&api_key=${key}`,
    `${url}/pets/${key}`,
    `${url}/${key}`,
    `${url}/pets/%zz${key}`,
    `${origin}/${key}`,
    `${origin}/livez?api_key=${key}`,
    `${origin}/docs/errors/${key}`,
  ];
  const headers = [
    'user-agent',
    'referer',
    'cookie',
    'x-api-key',
    'x-request-id',
    'idempotency-key',
    'if-none-match',
    'traceparent',
    'origin',
  ];
  const bodies = [
    JSON.stringify({ name: key, categoryId: key }),
    JSON.stringify({ name: 'Rex', categoryId: 1, status: key }),
    JSON.stringify({ [key]: key }),
    `{"name": ${key}`,
    key,
  ];
  const sent = [
    ...urls.flatMap((one) => [http.send(one, { key, headers: from }), http.send(one, { headers: from })]),
    ...urls.map((one) => http.send(one, { method: 'DELETE', key, headers: from })),
    ...urls.map((one) =>
      http.send(one, { method: 'OPTIONS', headers: { ...from, origin: 'https://example.org', 'access-control-request-method': 'GET' } }),
    ),
    ...headers.map((name) => http.send(`${url}/pets`, { key, headers: { ...from, [name]: key } })),
    ...bodies.map((raw) => http.send(`${url}/pets`, { method: 'POST', key, raw, headers: from })),
    ...[`Bearer ${key} `, `Bearer ${key},${key}`, `bearer ${key}x`, `Token ${key}`, key, `Basic ${btoa(`${key}:`)}`].map((authorization) =>
      http.send(`${url}/pets`, { headers: { ...from, authorization } }),
    ),
  ];
  await Promise.all(sent);
  const raw = rawRequests(key);
  for (const text of raw) await exchange(Number(new URL(url).port), [text], { expected: 1, untilEnd: false, timeoutMs: rawTimeoutMs });
  return sent.length + raw.length;
}

/** Requests that the parser of Node.js rejects, or that no client would send. */
const rawRequests = (key: string): string[] => [
  `GET /v1/pets?api_key=${key} HTTP/9.9\r\nHost: a\r\n\r\n`,
  `GET /v1/pets?api_key=${key}\r\n\r\n`,
  `${key} /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n`,
  `GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization Bearer ${key}\r\n\r\n`,
  `GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
  `GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\0\r\n\r\n`,
  `GET /v1/pets HTTP/1.1\r\nHost: a\r\n${`X-Key: ${key}\r\n`.repeat(400)}\r\n`,
  `GET http://${key}/v1/pets?api_key=${key} HTTP/1.1\r\nHost: ${key}\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
  `CONNECT ${key}:443 HTTP/1.1\r\nHost: ${key}\r\n\r\n`,
];
