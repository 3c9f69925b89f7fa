import type { TestKey, TestResponse, TestStore } from './test-store.ts';

const pagesMax = 1_000;

/** The link to the next page; undefined on the last page. */
export function nextPage({ headers: { link } }: { readonly headers: Readonly<Record<string, unknown>> }): string | undefined {
  return typeof link === 'string' ? /<([^>]+)>; rel="next"/.exec(link)?.[1] : undefined;
}

/** Follows the links from a page to the last one, and returns the items of each page. */
export async function walk(store: TestStore, { key }: TestKey, firstPage: string): Promise<unknown[][]> {
  const pages: unknown[][] = [];
  for (let path: string | undefined = firstPage; path; ) {
    if (pages.length === pagesMax) throw new Error(`more than ${pagesMax} pages`);
    const page: TestResponse<unknown[]> = await store.call('GET', path, { key });
    if (page.status !== 200) throw new Error(`${path}: ${page.status} ${page.text}`);
    pages.push(page.json);
    path = nextPage(page);
  }
  return pages;
}
