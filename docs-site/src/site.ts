import { type ErrorCode, errorCodes } from '../../service/src/errors.ts';
import { errorPage, errorsPage } from './error-pages.ts';
import { changelogPage, guidePage } from './guide-page.ts';
import { guides } from './guides.ts';
import { html } from './html.ts';
import { llmsText } from './llms-text.ts';
import { orderDiagram, orderDiagramPath, themes } from './order-diagram.ts';
import { layOut, type Page } from './page-layout.ts';
import { type ApiDocument, eventTypesPath, sectionPath, sectionsOf } from './reference-document.ts';
import { eventTypesPage, referenceOverview, referenceSection, tryItScript } from './reference-pages.ts';
import type { SiteFiles } from './site-files.ts';
import { startPage } from './start-page.ts';

interface Content {
  readonly type: string;
  readonly text: string;
}

/** Everything that the site serves, by path. */
export function siteContents(files: SiteFiles, document: ApiDocument): Map<string, () => Content> {
  const sections = sectionsOf(document);
  const page = (make: () => Page) => () => ({ type: 'text/html; charset=utf-8', text: layOut(make(), sections) });
  const markdown = (text: string) => () => ({ type: 'text/markdown; charset=utf-8', text });
  const asset = (type: string, make: () => string) => () => ({ type, text: make() });
  return new Map<string, () => Content>([
    ['/docs', page(startPage)],
    ...guides.flatMap((guide) => {
      const text = files.guides.get(guide.slug) ?? '';
      return [[`/docs/${guide.slug}`, page(() => guidePage(guide, text))] as const, [`/docs/${guide.slug}.md`, markdown(text)] as const];
    }),
    ['/docs/changelog', page(() => changelogPage(files.changelog))],
    ['/docs/changelog.md', markdown(files.changelog)],
    ['/docs/errors', page(errorsPage)],
    ...(Object.keys(errorCodes) as ErrorCode[]).map((code) => [`/docs/errors/${code}`, page(() => errorPage(code, document))] as const),
    ['/docs/reference', page(() => referenceOverview(document))],
    ...document.tags.map((tag) => [sectionPath(tag.name), page(() => referenceSection(document, tag))] as const),
    [eventTypesPath, page(() => eventTypesPage(document))],
    ['/docs/assets/style.css', asset('text/css; charset=utf-8', () => files.style)],
    ['/docs/assets/icon.svg', asset('image/svg+xml', () => files.icon)],
    [tryItScript, asset('text/javascript; charset=utf-8', () => files.tryIt)],
    ...themes.map((theme) => [orderDiagramPath(theme), asset('image/svg+xml', () => orderDiagram(theme))] as const),
    ['/llms.txt', asset('text/plain; charset=utf-8', llmsText)],
    [notFoundPath, page(notFoundPage)],
  ]);
}

const notFoundPath = '/404';

const notFoundPage = (): Page => ({
  path: notFoundPath,
  title: 'Not found',
  description: 'There is no such page.',
  main: html`<h1>There is no such page</h1><p>Try the <a href="/docs">start page</a>, the <a href="/docs/reference">reference</a> or the <a href="/docs/errors">error codes</a>.</p>`,
});
