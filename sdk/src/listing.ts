import { linkOf } from './links.ts';
import type { Answer, Call, Transport } from './transport.ts';

export interface Page<T> {
  readonly items: T[];
  /** Where the next page begins; undefined: this was the last. */
  readonly cursor: string | undefined;
}

/** Nothing is asked for before it is read. */
export interface Listing<T> extends AsyncIterable<T> {
  /** One page, from the query's cursor on. */
  page(): Promise<Page<T>>;
  /** Page by page to the end. */
  pages(): AsyncIterable<Page<T>>;
}

/** Whoever walks to the end wants few requests. */
const walkLimit = 100;

export function createListing<T>(transport: Transport, call: Call): Listing<T> {
  const query = call.query ?? {};

  async function* pages(): AsyncGenerator<Page<T>> {
    let cursor = query['cursor'];
    do {
      const page = await readPage<T>(transport, { ...call, query: { limit: walkLimit, ...query, cursor } });
      yield page;
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  return {
    page: () => readPage<T>(transport, call),
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { items } of pages()) yield* items;
    },
  };
}

export async function readPage<T>(transport: Transport, call: Call): Promise<Page<T>> {
  const answer = await transport.call(call);
  return { items: answer.body as T[], cursor: cursorOf(answer) };
}

function cursorOf({ headers }: Answer): string | undefined {
  const next = linkOf(headers, 'next');
  return next === undefined ? undefined : (new URL(next, 'http://store').searchParams.get('cursor') ?? undefined);
}
