import { guides } from './guides.ts';
import { type Html, html } from './html.ts';
import { type IconName, icon } from './icons.ts';
import { operationSamples } from './operation-section.ts';
import type { Page } from './page-layout.ts';
import { type ApiDocument, operationsOf } from './reference-document.ts';

export function startPage(document: ApiDocument): Page {
  const main = html`<div class="hero"><div>
<h1>Build on Homeward</h1>
<p class="lead">An animal adoption store as a service. List animals, place orders for adopters, and follow every change, over HTTP and JSON.</p>
<p class="actions"><a class="button" href="/docs/quickstart">Quickstart</a> <a class="button quiet" href="/docs/reference">Reference</a></p>
</div><div class="samples">${sampleOf(document)}</div></div>
<h2 id="guides">Guides</h2>
<ul class="cards">${guides.map((guide) => card(`/docs/${guide.slug}`, guide.icon, guide.title, guide.summary))}</ul>
<h2 id="look-up">Look something up</h2>
<ul class="cards">${[
    card('/docs/reference', 'book', 'Reference', 'Every operation with its parameters and responses, and a live console.'),
    card('/docs/reference/event-types', 'feed', 'Event types', 'The events in the feed and in webhooks.'),
    card('/docs/errors', 'warning', 'Errors', 'Every error code with its cause, its fix and an example.'),
    card('/docs/changelog', 'clock', 'Changelog', 'What has changed, and when.'),
  ]}</ul>`;
  const description = 'Documentation of Homeward, an animal adoption store as a service: guides, reference and error codes.';
  return { path: '/docs', title: 'Homeward', description, main, wide: true };
}

function sampleOf(document: ApiDocument): Html {
  const [first] = operationsOf(document);
  return html`${first && operationSamples(first)}`;
}

const card = (href: string, name: IconName, title: string, summary: string) =>
  html`<li>${icon(name)}<h3><a href="${href}">${title}</a></h3><p>${summary}</p></li>`;
