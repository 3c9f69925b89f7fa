import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, describe, expect, test } from 'vitest';
import { addDocsRoutes } from '../../../src/platform/http/static/public-files.ts';

const content = 'The content of a file. '.repeat(100);
const files = [
  'docs.html',
  'llms.txt',
  'robots.txt',
  'favicon.ico',
  'docs/assets/text.woff2',
  'docs/assets/search.json',
  'docs/assets/a.webp',
];

const folder = mkdtempSync(path.join(tmpdir(), 'homeward-docs-'));
mkdirSync(path.join(folder, 'full/docs/assets'), { recursive: true });
for (const name of files) writeFileSync(path.join(folder, 'full', name), content);
const [built, empty] = [serve('full/'), serve('none/')];
afterAll(async () => {
  await Promise.all([built.close(), empty.close()]);
  rmSync(folder, { recursive: true });
});

function serve(name: string): FastifyInstance {
  const app = Fastify();
  addDocsRoutes(app, new URL(name, `${pathToFileURL(folder)}/`));
  return app;
}

const get = (app: FastifyInstance, url: string) => app.inject({ url, headers: { 'accept-encoding': 'br' } });

describe('A built site', () => {
  test.each([
    ['/robots.txt', 'text/plain; charset=utf-8', 'br'],
    ['/favicon.ico', 'image/x-icon', undefined],
    ['/llms.txt', 'text/plain; charset=utf-8', 'br'],
    ['/docs', 'text/html; charset=utf-8', 'br'],
    ['/docs/assets/text.woff2', 'font/woff2', undefined],
    ['/docs/assets/a.webp', 'image/webp', undefined],
    ['/docs/assets/search.json', 'application/json', 'br'],
  ])('has %s as %s, compressed only if that makes it smaller', async (url, type, coding) => {
    const { statusCode, headers } = await get(built, url);
    expect([statusCode, headers['content-type'], headers['content-encoding']]).toEqual([200, type, coding]);
    expect(headers['cache-control']).toBe('public, max-age=300');
  });

  test('may load its own fonts, and nothing from elsewhere', async () => {
    expect((await get(built, '/docs')).headers['content-security-policy']).toMatch(/^default-src 'none'; .*font-src 'self';/);
  });

  test('is where / leads, for now', async () => {
    const { statusCode, headers } = await get(built, '/');
    expect([statusCode, headers.location]).toEqual([302, '/docs']);
  });
});

describe('Without a built site', () => {
  test.each(['/robots.txt', '/favicon.ico', '/docs', '/llms.txt'])('%s is 404', async (url) => {
    expect((await get(empty, url)).statusCode).toBe(404);
  });
});
