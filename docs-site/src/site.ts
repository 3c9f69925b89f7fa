import { type ErrorCode, errorCodes } from '../../service/src/platform/errors.ts';
import { html } from '../../service/src/platform/html.ts';
import { errorPage, errorsPage } from './error-pages.ts';
import { changelogPage, guidePage } from './guide-page.ts';
import { guides } from './guides.ts';
import { llmsText } from './llms-text.ts';
import { layOut, type Page } from './page-layout.ts';
import { type ApiDocument, eventTypesPath, sectionPath, sectionsOf } from './reference-document.ts';
import { eventTypesPage, referenceOverview, referenceSection } from './reference-pages.ts';
import { searchIndex } from './search-box.ts';
import { makeIndex } from './search-engine.ts';
import { searchEntries } from './search-index.ts';
import type { SiteFiles } from './site-files.ts';
import { startPage } from './start-page.ts';

/** Everything that the site serves, by path. A path without an extension is a page. */
export function siteContents(files: SiteFiles, document: ApiDocument): Map<string, () => string | Buffer> {
  const sections = sectionsOf(document);
  const page = (make: () => Page) => () => layOut(make(), sections);
  return new Map<string, () => string | Buffer>([
    ['/docs', page(() => startPage())],
    ...guides.flatMap((guide) => {
      const text = files.guides.get(guide.slug) ?? '';
      return [[`/docs/${guide.slug}`, page(() => guidePage(guide, text))] as const, [`/docs/${guide.slug}.md`, () => text] as const];
    }),
    ['/docs/changelog', page(() => changelogPage(files.changelog))],
    ['/docs/changelog.md', () => files.changelog],
    ['/docs/errors', page(errorsPage)],
    ...(Object.keys(errorCodes) as ErrorCode[]).map((code) => [`/docs/errors/${code}`, page(() => errorPage(code, document))] as const),
    ['/docs/reference', page(() => referenceOverview(document))],
    ...document.tags.map((tag) => [sectionPath(tag.name), page(() => referenceSection(document, tag))] as const),
    [eventTypesPath, page(() => eventTypesPage(document))],
    ...[...files.assets].map(([name, bytes]) => [`/docs/assets/${name}`, () => bytes] as const),
    [searchIndex, () => makeIndex(searchEntries(files, document))],
    ['/llms.txt', llmsText],
    ['/robots.txt', () => robots],
    ['/favicon.ico', () => files.favicon],
    [notFoundPath, page(notFoundPage)],
  ]);
}

/** Search engines may list the documentation; the API has nothing for them. */
const robots = 'User-agent: *\nAllow: /docs\nDisallow: /v1\n';

const notFoundPath = '/404';

const notFoundPage = (): Page => ({
  path: notFoundPath,
  title: 'Not found',
  description: 'There is no such page.',
  main: html`<h1>There is no such page</h1><p>Try the <a href="/docs">start page</a>, the <a href="/docs/reference">reference</a> or the <a href="/docs/errors">error codes</a>.</p>`,
});
