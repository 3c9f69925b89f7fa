import { type Html, html } from '../../service/src/platform/html.ts';
import { codeFrame } from './code-frame.ts';
import { codeTabs } from './code-tabs.ts';
import { findEventExample, findOperationExample } from './examples/operation-examples.ts';
import { guideGroups } from './guides.ts';
import { type IconName, icon } from './icons.ts';
import type { Page } from './page-layout.ts';

export function startPage(): Page {
  const main = html`<div class="hero"><div>
<h1>Build on Homeward</h1>
<p class="lead">An animal adoption store as a service. Find animals, place orders for adopters, and follow every change, over HTTP and JSON.</p>
<p class="actions"><a class="button" href="/docs/quickstart">Quickstart</a> <a class="button quiet" href="/docs/reference">Reference</a></p>
${foundAnimal()}
</div><div class="samples">${search()}</div></div>
<h2 id="first-adoption">Your first adoption</h2>
<div class="steps">${adoption()}</div>
${guideGroups.map(
  ({ title, guides }) => html`<h2 id="${title.toLowerCase().replaceAll(' ', '-')}">${title}</h2>
<ul class="cards">${guides.map((guide) => card(`/docs/${guide.slug}`, guide.icon, guide.title, guide.summary))}</ul>
`,
)}<h2 id="look-up">Look something up</h2>
<ul class="cards">${[
    card('/docs/reference', 'book', 'Reference', 'Every operation with its parameters and responses, and a form to try it.'),
    card('/docs/reference/event-types', 'feed', 'Event types', 'The events in the feed and in webhooks.'),
    card('/docs/errors', 'warning', 'Errors', 'Every error code with its cause, its fix and an example.'),
    card('/docs/changelog', 'clock', 'Changelog', 'What has changed, and when.'),
  ]}</ul>`;
  const description = 'Documentation of Homeward, an animal adoption store as a service: guides, reference and error codes.';
  return { path: '/docs', title: 'Homeward', description, main, wide: true };
}

/** The fields of a listing that are shown here. */
interface FoundListing {
  readonly pet: { readonly id: number; readonly name: string; readonly status: string };
  readonly shelter: { readonly name: string };
  readonly profile: { readonly breeds: { readonly primary: string }; readonly age: string; readonly sex: string; readonly size: string };
  readonly photos: ReadonlyArray<{ readonly alt: string; readonly urls: readonly unknown[] }>;
}

const { requests: searchRequests, body: found } = exampleOf<[FoundListing]>('listListings');
const [{ pet, shelter, profile, photos }] = found;

/** What a site can make of the response beside it. */
function foundAnimal(): Html {
  const facts = [profile.breeds.primary, profile.age, profile.sex].join(', ');
  return html`<figure class="found"><img src="/docs/assets/biscuit.webp" width="480" height="360" alt="${photos[0]?.alt}">
<figcaption><b>${pet.name}</b><span>${facts}</span></figcaption></figure>`;
}

function search(): Html {
  const { breeds, age, sex, size } = profile;
  const shown = [
    {
      pet: { id: pet.id, name: pet.name, status: pet.status },
      profile: { breeds: { primary: breeds.primary }, age, sex, size },
      photos: photos.map(({ alt, urls }) => ({ alt, urls })),
      shelter: { name: shelter.name },
    },
  ];
  return html`${codeTabs(searchRequests)}${jsonFrame(shown, 'Response 200, some of its fields')}`;
}

/** An order and the event that follows. The reference has the same examples. */
function adoption(): Html[] {
  const order = exampleOf('placeOrder');
  const events = exampleOf('listEvents');
  return [
    html`<section><h3>Place an order</h3>
<p>It reserves the animal: of two orders at the same moment, the database takes one. The shelter approves and completes it. <a href="/docs/orders">Orders</a></p>
${codeTabs(order.requests)}${jsonFrame(order.body, 'Response 201')}</section>`,
    html`<section><h3>Follow the change</h3>
<p>Every site learns of it, from a feed that can be resumed, or by webhooks that are signed: nobody shows an animal that is gone. <a href="/docs/events">Events</a></p>
${codeTabs(events.requests)}${jsonFrame(findEventExample('pet.status_changed'), 'The event')}</section>`,
  ];
}

function exampleOf<Body>(operationId: string) {
  const example = findOperationExample(operationId);
  if (!example) throw new Error(`The start page shows the example of ${operationId}, which is not recorded.`);
  return { requests: example.requests, body: example.response.body as Body };
}

const jsonFrame = (value: unknown, label: string): Html => codeFrame(JSON.stringify(value, undefined, 2), 'json', label);

const card = (href: string, name: IconName, title: string, summary: string) =>
  html`<li>${icon(name)}<h3><a href="${href}">${title}</a></h3><p>${summary}</p></li>`;
