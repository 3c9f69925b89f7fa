import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorCodes } from '../../src/errors.ts';
import { createTestStore, type TestStore } from '../test-store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await createTestStore();
});
afterAll(() => store[Symbol.asyncDispose]());

describe('GET /docs/errors', () => {
  test('lists every code with its status, and links to its page', async () => {
    const { status, text } = await store.call('GET', '/docs/errors');
    expect(status).toBe(200);
    for (const [code, { status: codeStatus }] of Object.entries(errorCodes)) {
      expect(text).toContain(`<a href="/docs/errors/${code}"><code>${code}</code></a></td><td>${codeStatus}</td>`);
    }
  });
});

describe('GET /docs/errors/{code}', () => {
  test.each(Object.entries(errorCodes))('of %s says its status, its cause and what to do', async (code, { status, cause, fix }) => {
    const page = await store.call('GET', `/docs/errors/${code}`);
    const text = page.text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
    expect(page.status).toBe(200);
    for (const words of [`<h1>${code}</h1>`, `HTTP status ${status}.`, cause, fix]) expect(text).toContain(words);
  });

  test.each(['no_such_code', 'toString', '__proto__', '%3Cscript%3E'])(
    'of %s, which is none, is 404 and does not show it',
    async (code) => {
      const { status, text } = await store.call('GET', `/docs/errors/${code}`);
      expect(status).toBe(404);
      expect(text).not.toContain(decodeURIComponent(code));
    },
  );
});

describe('GET /docs/deprecations', () => {
  test('names the operation, its date and its successor', async () => {
    const { status, text } = await store.call('GET', '/docs/deprecations');
    expect(status).toBe(200);
    for (const words of ['GET /v1/pets/{petId}', '5 December 2030', 'GET /v1/pets?id={petId}']) expect(text).toContain(words);
  });
});

describe('A page of the documentation', () => {
  test.each(['/docs/errors', '/docs/errors/invalid_body', '/docs/deprecations'])(
    '%s needs no key, has no limit, and may load nothing',
    async (path) => {
      const { status, headers } = await store.call('GET', path);
      expect({ status, headers }).toMatchObject({
        status: 200,
        headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'" },
      });
      expect(headers['x-ratelimit-limit']).toBeUndefined();
    },
  );
});
