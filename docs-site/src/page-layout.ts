import { type Html, type HtmlValue, html } from '../../service/src/platform/html.ts';
import { guideGroups } from './guides.ts';
import { icon } from './icons.ts';
import type { Heading } from './markdown.ts';
import type { SectionLink } from './reference-document.ts';
import { searchButton, searchDialog, searchScript } from './search-box.ts';

export interface Page {
  /** The URL path; navigation marks the page by it. */
  readonly path: string;
  readonly title: string;
  readonly description: string;
  readonly main: HtmlValue;
  readonly headings?: readonly Heading[];
  /** Whether the page also uses the width of the aside. */
  readonly wide?: boolean;
  readonly script?: string;
  /** The path of the same page as Markdown. */
  readonly markdown?: string;
}

/** Renders a page with its header, navigation and footer. `sections` are the sections of the reference. */
export function layOut(page: Page, sections: readonly SectionLink[]): string {
  const { path, title, description, main, headings = [], wide = false, script, markdown } = page;
  const fullTitle = title === 'Homeward' ? 'Homeward documentation' : `${title} · Homeward`;
  const aside =
    (headings.length > 1 || markdown) &&
    html`<aside class="toc links">${headings.length > 1 && contents(headings)}${markdown && markdownLink(markdown)}</aside>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${fullTitle}</title>
<meta name="description" content="${description}">
<meta property="og:title" content="${fullTitle}">
<meta property="og:description" content="${description}">
<meta name="color-scheme" content="light dark">
<script src="/docs/assets/early.js"></script>
<link rel="preload" href="/docs/assets/figtree.woff2" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="/docs/assets/style.css">
<link rel="icon" href="/docs/assets/icon.svg" type="image/svg+xml">
<script type="module" src="/docs/assets/page.js"></script>
<script type="module" src="${searchScript}"></script>
${script && html`<script type="module" src="${script}"></script>`}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top"><div class="bar">
<a class="brand" href="/docs"><img src="/docs/assets/icon.svg" alt="" width="28" height="28">Homeward</a>
<nav class="links main-links" aria-label="Main"><ul class="across">${topLinks.map(([href, text]) => html`<li>${link(href, text, isWithin(path, href))}</li>`)}</ul></nav>
<div class="tools">
${searchButton}
<button type="button" class="tool" data-theme-switch aria-label="Theme: system">${icon('system')}${icon('light')}${icon('dark')}</button>
<details class="menu"><summary class="tool" aria-label="Menu">${icon('menu')}</summary><nav class="links" aria-label="All pages">${navigation(path, sections)}</nav></details>
</div>
</div></header>
<div class="${wide ? 'columns wide' : 'columns'}">
<nav class="side links" aria-label="Documentation">${navigation(path, sections)}</nav>
<main id="content" tabindex="-1">
${main}
</main>
${aside}
</div>
<footer><p>More about this store: <a href="/openapi.json">openapi.json</a>, <a href="/llms.txt">llms.txt</a>, <a href="/docs/changelog">changelog</a>.</p></footer>
${searchDialog}
</body>
</html>
`.text;
}

const contents = (headings: readonly Heading[]) =>
  html`<nav aria-label="On this page"><h2>On this page</h2><ul data-sections>${headings.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`)}</ul></nav>`;

const markdownLink = (path: string) => html`<p class="source"><a href="${path}">${icon('file')}This page as Markdown</a></p>`;

const topLinks: ReadonlyArray<readonly [href: string, text: string]> = [
  ['/docs', 'Guides'],
  ['/docs/reference', 'Reference'],
  ['/docs/errors', 'Errors'],
];

/** Every page outside the reference and the errors belongs to the guides. */
const isWithin = (path: string, href: string): boolean =>
  href === '/docs' ? !topLinks.some(([other]) => other !== '/docs' && path.startsWith(other)) : path.startsWith(href);

const link = (href: string, text: string, current: boolean | 'page') =>
  html`<a href="${href}"${current !== false && html` aria-current="${String(current)}"`}>${text}</a>`;

function navigation(path: string, sections: readonly SectionLink[]): Html {
  const item = (href: string, text: string) => html`<li>${link(href, text, path === href && 'page')}</li>`;
  const groups = guideGroups.map(
    ({ title: group, guides }) =>
      html`<p class="part">${group}</p>
<ul>${guides.map(({ slug, title }) => item(`/docs/${slug}`, title))}</ul>
`,
  );
  return html`${groups}<p class="part">Reference</p>
<ul>${item('/docs/reference', 'Overview')}${sections.map(({ href, title, items }) => [
    html`<li>${link(href, title, path === href && 'page')}${
      path === href && html`<ul data-sections>${items.map((one) => html`<li><a href="#${one.id}">${one.text}</a></li>`)}</ul>`
    }</li>`,
  ])}</ul>
<p class="part">More</p>
<ul><li>${link('/docs/errors', 'Errors', path === '/docs/errors' ? 'page' : path.startsWith('/docs/errors/'))}</li>${item('/docs/changelog', 'Changelog')}</ul>`;
}
