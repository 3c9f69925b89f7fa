import { type Html, html } from '../../service/src/platform/html.ts';
import { breakable } from './breakable.ts';
import { codeFrame } from './code-frame.ts';
import { codeTabs } from './code-tabs.ts';
import { findEventExample, setupExample } from './examples/operation-examples.ts';
import { fieldList } from './field-list.ts';
import { operationSection } from './operation-section.ts';
import type { Page } from './page-layout.ts';
import {
  type ApiDocument,
  commonCodes,
  commonHeaders,
  eventTypesPath,
  type Operation,
  operationsOf,
  operationUrl,
  resolve,
  sectionPath,
} from './reference-document.ts';
import { fieldsOf } from './schema-fields.ts';
import { badgesOf } from './stability-badges.ts';
import { keyForm } from './try-it-form.ts';

const tryItScript = '/docs/assets/try-it.js';

/** The list of operations, and what all of them have in common. */
export function referenceOverview(document: ApiDocument): Page {
  const operations = operationsOf(document);
  const main = html`<h1>Reference</h1>
<p class="lead">Every operation, generated from the <a href="/openapi.json">OpenAPI document</a> of this store, with a form to try it.</p>
<h2 id="operations"><a class="anchor" href="#operations">Operations</a></h2>
${document.tags.map(({ name, description }) => operationList(name, description, operations))}
<h3><a href="${eventTypesPath}">Event types</a></h3>
<p>The events in the feed and in webhooks.</p>
<h2 id="every-request"><a class="anchor" href="#every-request">Every request</a></h2>
<p>Send your key as <code>Authorization: Bearer &lt;API_KEY&gt;</code>. Bodies are JSON. Unknown query parameters are rejected; unknown fields of a body are ignored. Ids are 64-bit integers: parse them without rounding.</p>
<h2 id="every-response"><a class="anchor" href="#every-response">Every response</a></h2>
<p>Every response, including errors, has these headers:</p>
<table class="pairs"><thead><tr><th scope="col">Header</th><th scope="col">Meaning</th></tr></thead><tbody>${[
    ...commonHeaders(operations),
  ].map(([name, meaning]) => html`<tr><th scope="row"><code>${name}</code></th><td>${meaning}</td></tr>`)}</tbody></table>
<p>An error has the body <code>{code, message, status}</code>. Act on <code>code</code>. Every operation can return these codes: ${joined(
    [...commonCodes(operations)].map((code) => html`<a href="/docs/errors/${code}"><code>${code}</code></a>`),
  )}.</p>`;
  return { path: '/docs/reference', title: 'Reference', description: 'Every operation of the Homeward API.', main };
}

export function referenceSection(document: ApiDocument, tag: ApiDocument['tags'][number]): Page {
  const all = operationsOf(document);
  const common = { codes: commonCodes(all), headers: commonHeaders(all) };
  const main = html`<h1>${tag.name}</h1>
<p class="lead">${tag.description}</p>
${keyForm}
<details class="more"><summary>What the examples need</summary>${codeTabs(setupExample())}</details>
${all.filter(({ tags }) => tags?.[0] === tag.name).map((operation) => operationSection(document, operation, common))}`;
  const description = `Reference of the operations on ${tag.name.toLowerCase()}: parameters, responses, examples.`;
  return { path: sectionPath(tag.name), title: `${tag.name} reference`, description, main, wide: true, script: tryItScript };
}

/** Groups the event types by schema, since types of one schema differ only in their meaning. */
export function eventTypesPage(document: ApiDocument): Page {
  const bySchema = Object.groupBy(Object.entries(document.webhooks), ([, { post }]) => schemaOf(post).allOf?.[0]?.$ref ?? '');
  const main = html`<h1>Event types</h1>
<p class="lead">The events in the <a href="/docs/events">feed</a> and in <a href="/docs/webhooks">webhooks</a>. Each is one JSON object.</p>
${Object.entries(bySchema).map(([$ref, types = []]) => {
  const { description } = resolve(document, { $ref });
  const firstType = types[0]?.[0] ?? '';
  const what = firstType.startsWith('pet.') ? 'animals' : `${firstType.split('.', 1)[0]}s`;
  return html`<h2 id="events-of-${what}"><a class="anchor" href="#events-of-${what}">Events about ${what}</a></h2>
<p>${description}</p>
<table class="pairs"><thead><tr><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>${types.map(
    ([type, { post }]) => html`<tr id="${type}"><th scope="row"><code>${type}</code></th><td>${post.summary}</td></tr>`,
  )}</tbody></table>
<h3>Fields</h3>
${fieldList(fieldsOf(document, { $ref }), 'Response')}
<h3>Examples</h3>
${types.map(([type], i) => eventSample(type, i === 0))}`;
})}`;
  return { path: eventTypesPath, title: 'Event types', description: 'The events that Homeward publishes, and their fields.', main };
}

/** The first one is open. */
const eventSample = (type: string, isOpen: boolean): Html =>
  html`<details class="more"${isOpen && html` open`}><summary><code>${type}</code></summary>${codeFrame(JSON.stringify(findEventExample(type), undefined, 2) ?? '', 'json')}</details>`;

const schemaOf = ({ requestBody }: { requestBody?: Operation['requestBody'] }) => requestBody?.content['application/json']?.schema ?? {};

function operationList(tag: string, description: string | undefined, operations: readonly Operation[]): Html {
  const rows = operations
    .filter(({ tags }) => tags?.[0] === tag)
    .map(
      (operation) =>
        html`<li><a href="${operationUrl(operation)}"><span class="method ${operation.method.toLowerCase()}">${operation.method}</span> <code>${breakable(operation.path)}</code></a> <span class="what">${operation.summary} ${badgesOf(operation)}</span></li>`,
    );
  return html`<h3><a href="${sectionPath(tag)}">${tag}</a></h3><p>${description}</p><ul class="operations">${rows}</ul>`;
}

const joined = (items: readonly Html[]): Html[] => items.map((item, i) => html`${i > 0 && ', '}${item}`);
