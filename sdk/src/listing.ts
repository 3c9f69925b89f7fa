import type { ListListingsData } from './api-types.gen.ts';
import { parseJson } from './json.ts';
import { linkOf } from './links.ts';
import { printedAs } from './printing.ts';
import type { ApiResponse, Call, Transport } from './transport.ts';

/** What a search was understood as, as a query: pass it to a search, without what is not meant. */
export type Understood = NonNullable<ListListingsData['query']>;

export interface Page<T> {
  readonly items: T[];
  /** Where the next page starts; undefined on the last page. */
  readonly cursor: string | undefined;
  /** Of a search with `q`: its phrases as filters, and the other words of `q` in quotes. */
  readonly understoodAs?: Understood;
  /** What `q` says that is no word to search for, such as "looking for a". */
  readonly leftOut?: readonly string[];
  /** The words of `q` that no animal has, each with what was searched for. */
  readonly corrections?: readonly Correction[];
}

export interface Correction {
  readonly typed: string;
  readonly searched: string;
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
  const location = response.headers.get('content-location');
  return {
    items: response.body as T[],
    cursor: cursorOf(response),
    ...(location !== null && { understoodAs: queryOf(location), ...notesOf(response) }),
  };
}

function notesOf({ headers }: ApiResponse): Pick<Page<unknown>, 'leftOut' | 'corrections'> {
  const notes = new URLSearchParams(headers.get('search-notes') ?? '');
  const searched = notes.getAll('searched');
  const corrections = notes.getAll('misspelt').map((typed, n) => ({ typed, searched: searched[n] ?? typed }));
  return { leftOut: notes.getAll('leftOut'), corrections };
}

/** The filters that may be repeated. */
const lists: readonly string[] = ['id', 'goodWith', 'color', 'not'];
const integers: readonly string[] = ['id', 'categoryId', 'shelterId', 'withinKm', 'ageMonthsMin', 'ageMonthsMax'];
/** Of the page, and not of what is searched for. */
const ofThePage: readonly string[] = ['limit', 'cursor'];

function queryOf(location: string): Understood {
  const { searchParams } = new URL(location, 'http://store');
  const names = [...new Set(searchParams.keys())].filter((name) => !ofThePage.includes(name));
  const valuesOf = (name: string) => searchParams.getAll(name).map((text) => (integers.includes(name) ? parseJson(text) : text));
  return Object.fromEntries(names.map((name) => [name, lists.includes(name) ? valuesOf(name) : valuesOf(name)[0]]));
}

function cursorOf({ headers }: ApiResponse): string | undefined {
  const next = linkOf(headers, 'next');
  return next === undefined ? undefined : (new URL(next, 'http://store').searchParams.get('cursor') ?? undefined);
}
