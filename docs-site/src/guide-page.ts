import { type Html, html } from '../../service/src/platform/html.ts';
import { applicationDiagramFigure } from './application-diagram.ts';
import { type Guide, guides } from './guides.ts';
import { renderMarkdown } from './markdown.ts';
import { orderDiagramFigure } from './order-diagram.ts';
import type { Page } from './page-layout.ts';

const diagrams: Readonly<Record<string, () => Html>> = { orders: orderDiagramFigure, applications: applicationDiagramFigure };

export function guidePage({ slug, title, summary }: Guide, markdown: string): Page {
  const draw = diagrams[slug];
  const { body, headings } = renderMarkdown(markdown, draw ? { diagram: draw() } : {});
  const at = guides.findIndex((guide) => guide.slug === slug);
  const main = html`<article>${body}</article>${turn(guides[at - 1], guides[at + 1])}`;
  return { path: `/docs/${slug}`, title, description: summary, main, headings, markdown: `/docs/${slug}.md` };
}

export function changelogPage(markdown: string): Page {
  const { body, headings } = renderMarkdown(markdown);
  const main = html`<article>${body}</article>`;
  return {
    path: '/docs/changelog',
    title: 'Changelog',
    description: 'All notable changes of Homeward.',
    main,
    headings,
    markdown: '/docs/changelog.md',
  };
}

function turn(previous: Guide | undefined, next: Guide | undefined) {
  return html`<nav class="turn" aria-label="Previous and next guide">${
    previous && html`<a rel="prev" href="/docs/${previous.slug}"><span>Previous</span> ${previous.title}</a>`
  }${next && html`<a rel="next" class="next" href="/docs/${next.slug}"><span>Next</span> ${next.title}</a>`}</nav>`;
}
