import { guides } from './guides.ts';
import { type Html, type HtmlValue, html } from './html.ts';
import type { Heading } from './markdown.ts';
import type { SectionLink } from './reference-document.ts';

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
}

/** Renders a page with its header, navigation and footer. `sections` are the sections of the reference. */
export function layOut(page: Page, sections: readonly SectionLink[]): string {
  const { path, title, description, main, headings = [], wide = false, script } = page;
  const aside =
    headings.length > 1 &&
    html`<nav class="toc links" aria-label="On this page"><h2>On this page</h2><ul>${headings.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`)}</ul></nav>`;
  const links = navigation(path, sections);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title === 'Homeward' ? 'Homeward documentation' : `${title} · Homeward`}</title>
<meta name="description" content="${description}">
<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="/docs/assets/style.css">
<link rel="icon" href="/docs/assets/icon.svg" type="image/svg+xml">
${script && html`<script type="module" src="${script}"></script>`}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<a class="brand" href="/docs"><img src="/docs/assets/icon.svg" alt="" width="28" height="28">Homeward</a>
<nav class="links" aria-label="Main"><ul class="across">${topLinks.map(([href, text]) => html`<li>${link(href, text, isWithin(path, href))}</li>`)}</ul></nav>
</header>
<details class="menu"><summary>Menu</summary><nav class="links" aria-label="All pages">${links}</nav></details>
<div class="${wide ? 'columns wide' : 'columns'}">
<nav class="side links" aria-label="Documentation">${links}</nav>
<main id="content" tabindex="-1">
${main}
</main>
${aside}
</div>
<footer><p>More about this store: <a href="/openapi.json">openapi.json</a>, <a href="/llms.txt">llms.txt</a>, <a href="/docs/changelog">changelog</a>.</p></footer>
</body>
</html>
`.text;
}

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
  return html`<p class="part">Guides</p>
<ul>${guides.map(({ slug, title }) => item(`/docs/${slug}`, title))}</ul>
<p class="part">Reference</p>
<ul>${item('/docs/reference', 'Overview')}${sections.map(({ href, title, items }) => [
    html`<li>${link(href, title, path === href && 'page')}${
      path === href && html`<ul>${items.map((one) => html`<li><a href="#${one.id}">${one.text}</a></li>`)}</ul>`
    }</li>`,
  ])}</ul>
<p class="part">More</p>
<ul><li>${link('/docs/errors', 'Errors', path === '/docs/errors' ? 'page' : path.startsWith('/docs/errors/'))}</li>${item('/docs/changelog', 'Changelog')}</ul>`;
}
