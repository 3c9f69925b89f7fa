import { randomBytes } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { afterAll, describe, expect, test } from 'vitest';
import { makeStatic, sendStatic } from '../../../src/platform/http/static/static-content.ts';

const text = 'A long text that compresses well. '.repeat(100);
const noise = randomBytes(2_000);

const long = makeStatic('text/plain; charset=utf-8', text);

const app = Fastify();
const incompressible = makeStatic('application/gzip', noise);
app.get('/long', (request, reply) => sendStatic(request, reply, long));
app.get('/incompressible', (request, reply) => sendStatic(request, reply, incompressible));
app.get('/missing', (request, reply) => sendStatic(request, reply.status(404), long));
afterAll(() => app.close());

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });

describe('sendStatic', () => {
  test('sends the bytes with their type, an ETag, and a lifetime for caches', async () => {
    const { statusCode, body, headers } = await get('/long');
    expect({ statusCode, body }).toEqual({ statusCode: 200, body: text });
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-length': String(text.length),
      'cache-control': 'public, max-age=300',
      vary: 'accept-encoding',
      etag: expect.stringMatching(/^"[\w-]{22}"$/),
    });
    expect(headers['content-encoding']).toBeUndefined();
  });

  test.each([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, br', 'br'],
    ['deflate, gzip;q=0.5', 'gzip'],
  ])('compresses for a caller that accepts %s', async (accepted, coding) => {
    const plain = String((await get('/long')).headers.etag);
    const { rawPayload, headers } = await get('/long', { 'accept-encoding': accepted });
    expect(headers).toMatchObject({
      'content-encoding': coding,
      'content-length': String(rawPayload.length),
      vary: 'accept-encoding',
      etag: plain.replace(/"$/, `-${coding}"`),
    });
    expect((coding === 'br' ? brotliDecompressSync : gunzipSync)(rawPayload).toString()).toBe(text);
  });

  test('compresses once for each coding, also for concurrent requests', async () => {
    const before = [...long.compressed];
    await Promise.all(Array.from({ length: 5 }, () => get('/long', { 'accept-encoding': 'br' })));
    await get('/long', { 'accept-encoding': 'gzip' });
    expect(before.map(([coding]) => coding).sort()).toEqual(['br', 'gzip']);
    for (const [coding, compressed] of before) expect(long.compressed.get(coding)).toBe(compressed);
  });

  test.each(['deflate', 'identity', 'gzip;q=0', 'gzip; q=0.0', 'gzipped'])(
    'does not compress for a caller that accepts %s',
    async (accepted) => {
      const { body, headers } = await get('/long', { 'accept-encoding': accepted });
      expect({ body, encoding: headers['content-encoding'] }).toEqual({ body: text, encoding: undefined });
    },
  );

  test('does not compress what is already compressed', async () => {
    const { rawPayload, headers } = await get('/incompressible', { 'accept-encoding': 'gzip, br' });
    expect(headers['content-encoding']).toBeUndefined();
    expect(rawPayload).toEqual(noise);
  });

  test('is 304 without a body for a caller that has it, compressed or not', async () => {
    const etag = String((await get('/long')).headers.etag);
    const packed = etag.replace(/"$/, '-gzip"');
    for (const sent of [etag, `"other", ${etag}`, `W/${etag}`, packed, `W/${packed}`, '*']) {
      const { statusCode, body, headers } = await get('/long', { 'if-none-match': sent, 'accept-encoding': 'gzip' });
      expect({ sent, statusCode, body, etag: headers.etag }).toEqual({ sent, statusCode: 304, body: '', etag: packed });
      expect(headers).toMatchObject({ 'cache-control': 'public, max-age=300', vary: 'accept-encoding' });
    }
    expect((await get('/long', { 'if-none-match': '"other"' })).statusCode).toBe(200);
  });

  test('sends a 404 page without an ETag, and never as 304', async () => {
    const { statusCode, headers } = await get('/missing', { 'if-none-match': '*' });
    expect({ statusCode, etag: headers.etag }).toEqual({ statusCode: 404, etag: undefined });
  });

  test('responds to HEAD with only the headers', async () => {
    const { statusCode, body, headers } = await app.inject({ method: 'HEAD', url: '/long' });
    expect({ statusCode, body, length: headers['content-length'] }).toEqual({ statusCode: 200, body: '', length: String(text.length) });
  });
});
