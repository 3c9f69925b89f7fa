import { linkOf } from './links.ts';
import { printedAs } from './printing.ts';
import type { ApiResponse, Call, Transport } from './transport.ts';

export interface Page<T> {
  readonly items: T[];
  /** Where the next page starts; undefined on the last page. */
  readonly cursor: string | undefined;
}

/** Lazy: no request is sent before you read from it. */
export interface Listing<T> extends AsyncIterable<T> {
  /** One page, starting at the query's cursor. */
  page(): Promise<Page<T>>;
  /** All pages, one after another. */
  pages(): AsyncIterable<Page<T>>;
}

/** The largest page size: iterating over a whole list then takes the fewest requests. */
const pageSizeMax = 100;

export function createListing<T>(transport: Transport, call: Call): Listing<T> {
  const query = call.query ?? {};

  async function* pages(): AsyncGenerator<Page<T>> {
    let cursor = query['cursor'];
    do {
      const page = await readPage<T>(transport, { ...call, query: { limit: pageSizeMax, ...query, cursor } });
      yield page;
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  const listing: Listing<T> = {
    page: () => readPage<T>(transport, call),
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { items } of pages()) yield* items;
    },
  };
  // Forgetting to read it is a common mistake.
  return printedAs(listing, 'Listing', () => ({ url: call.url, query, hint: "Not read yet: use 'for await', or call page()." }));
}

export async function readPage<T>(transport: Transport, call: Call): Promise<Page<T>> {
  const response = await transport.call(call);
  return { items: response.body as T[], cursor: cursorOf(response) };
}

function cursorOf({ headers }: ApiResponse): string | undefined {
  const next = linkOf(headers, 'next');
  return next === undefined ? undefined : (new URL(next, 'http://store').searchParams.get('cursor') ?? undefined);
}
