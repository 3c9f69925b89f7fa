import fc from 'fast-check';
import Fastify from 'fastify';
import { afterAll, describe, expect, test } from 'vitest';
import { asAppError } from '../../../src/platform/http/error-handler.ts';
import { type Filters, readPage, sendPage } from '../../../src/platform/http/paging.ts';
import { nextPage } from '../../page-walk.ts';

type Item = { readonly id: bigint };

let items: readonly Item[] = [];
let filters: Filters = {};
const app = Fastify();
app.setErrorHandler((error, _, reply) => reply.status(asAppError(error).status).send(asAppError(error).code));
app.get<{ Querystring: { limit?: string; cursor?: string } }>('/items', async ({ query: { limit, cursor } }, reply) => {
  const page = { ...(limit && { limit: Number(limit) }), ...(cursor !== undefined && { cursor }) };
  const { rows, link } = await readPage('/items', page, filters, async (wanted) =>
    items.filter(({ id }) => wanted.afterId === undefined || id > wanted.afterId).slice(0, wanted.limit),
  );
  return sendPage(reply, { rows: rows.map(({ id }) => String(id)), link });
});
afterAll(() => app.close());

async function walk(limit: number): Promise<string[][]> {
  const pages: string[][] = [];
  for (let url: string | undefined = `/items?limit=${limit}`; url; ) {
    const response = await app.inject({ url });
    pages.push(response.json());
    url = nextPage(response);
  }
  return pages;
}

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

describe('readPage', () => {
  test('returns each item once over all pages, and all pages but the last are full', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(int64, { maxLength: 12 }), fc.integer({ min: 1, max: 5 }), async (ids, limit) => {
        items = ids.sort((a, b) => (a < b ? -1 : 1)).map((id) => ({ id }));
        filters = {};
        const pages = await walk(limit);
        expect(pages.flat()).toEqual(items.map(({ id }) => String(id)));
        expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  test('returns 20 items without a limit', async () => {
    items = Array.from({ length: 30 }, (_, i) => ({ id: BigInt(i) }));
    expect((await app.inject('/items')).json()).toHaveLength(20);
  });

  test('links to the next page with the limit, the filters and a cursor', async () => {
    items = [{ id: 1n }, { id: 2n }];
    filters = { status: 'a b&c', id: ['1', '2'], absent: undefined };
    expect(nextPage(await app.inject('/items?limit=1'))).toMatch(/^\/items\?limit=1&status=a%20b%26c&id=1&id=2&cursor=[\w-]+$/);
  });

  test('accepts a cursor only with the filters that it was created for', async () => {
    items = [{ id: 1n }, { id: 2n }];
    filters = { status: 'sold' };
    const url = nextPage(await app.inject('/items?limit=1')) ?? '';
    expect((await app.inject(url)).json()).toEqual(['2']);
    filters = { status: 'available' };
    expect((await app.inject(url)).body).toBe('invalid_cursor');
  });

  test('rejects a cursor that it did not create', async () => {
    items = [{ id: 1n }, { id: 2n }];
    filters = {};
    const made = new URLSearchParams(nextPage(await app.inject('/items?limit=1'))?.split('?')[1]).get('cursor') ?? '';
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.base64String()), async (cursor) => {
        fc.pre(cursor !== made);
        expect((await app.inject(`/items?cursor=${encodeURIComponent(cursor)}`)).body).toBe('invalid_cursor');
      }),
      { numRuns: 100 },
    );
  });
});
