import { guides } from './guides.ts';
import { html } from './html.ts';
import type { Page } from './page-layout.ts';

export function startPage(): Page {
  const [first, ...others] = guides;
  const main = html`<div class="hero"><h1>Homeward</h1>
<p class="lead">An animal adoption store as a service. List animals, place orders for adopters, and follow every change, over HTTP and JSON.</p>
<p><a class="button" href="/docs/${first?.slug}">${first?.title}</a> <a class="button quiet" href="/docs/reference">Reference</a></p></div>
<h2 id="guides">Guides</h2>
<ul class="cards">${others.map(({ slug, title, summary }) => card(`/docs/${slug}`, title, summary))}</ul>
<h2 id="look-up">Look something up</h2>
<ul class="cards">${[
    card('/docs/reference', 'Reference', 'Every operation with its parameters and responses, and a live console.'),
    card('/docs/reference/event-types', 'Event types', 'The events in the feed and in webhooks.'),
    card('/docs/errors', 'Errors', 'Every error code with its cause, its fix and an example.'),
    card('/docs/changelog', 'Changelog', 'What has changed, and when.'),
  ]}</ul>`;
  const description = 'Documentation of Homeward, an animal adoption store as a service: guides, reference and error codes.';
  return { path: '/docs', title: 'Homeward', description, main };
}

const card = (href: string, title: string, summary: string) => html`<li><h3><a href="${href}">${title}</a></h3><p>${summary}</p></li>`;
