// The requests to every contender: the same pages, with the same keys, in the same order.
import { writeFileSync } from 'node:fs';
import { HttpClient } from '../testkit/http.ts';
import { SeededRandom } from '../testkit/seeded-random.ts';
import type { Load } from './scenarios.ts';
import type { BenchKey } from './seed.ts';

export interface Page {
  /** Path and query. */
  readonly path: string;
  readonly body: string;
  readonly etag: string;
}

export const newAnimal = { name: 'Biscuit', categoryId: 1, status: 'available' } as const;

/** For each of these, `pagesPerQuery` pages are read from the first on. */
const queries = [
  'limit=20',
  'limit=50',
  'limit=100',
  'limit=20&status=available',
  'limit=50&status=available',
  'limit=20&status=pending',
  'limit=100&status=sold',
  'limit=20&categoryId=1',
  'limit=50&categoryId=2',
  'limit=20&status=available&categoryId=3',
];
const pagesPerQuery = 5;
const requestCount = 10_000;
const seed = 20_260_101;

export async function collectPages(origin: string, key: string): Promise<Page[]> {
  using http = new HttpClient();
  const pages: Page[] = [];
  for (const query of queries) {
    let next: string | undefined = `/v1/pets?${query}`;
    for (let i = 0; i < pagesPerQuery; i += 1) {
      if (next === undefined) throw new Error(`the store is too small for ${pagesPerQuery} pages of ${query}`);
      const path: string = next;
      const { status, headers, text } = await http.send(origin + path, { key });
      if (status !== 200) throw new Error(`${path} got ${status}: ${text}`);
      pages.push({ path, body: text, etag: String(headers.etag) });
      next = /<([^>]+)>; rel="next"/.exec(String(headers.link))?.[1];
    }
  }
  return pages;
}

/** One request per line: method, path, headers and body, separated by tabs; no field contains a tab. Read by replay.lua. */
export function writeRequests(
  file: string,
  { keys, pages, load }: { keys: readonly BenchKey[]; pages: readonly Page[]; load: Load },
): void {
  const random = new SeededRandom(seed);
  const lines = Array.from({ length: requestCount }, () => {
    const authorization = `Bearer ${random.pick(keys).key}`;
    const { path, etag } = random.pick(pages);
    if (load === 'create') return ['POST', '/v1/pets', authorization, '', JSON.stringify(newAnimal)];
    return ['GET', path, authorization, load === 'not-modified' ? etag : '', ''];
  });
  writeFileSync(file, `${lines.map((line) => line.join('\t')).join('\n')}\n`);
}
