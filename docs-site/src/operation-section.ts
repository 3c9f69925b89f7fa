import { errorCodes } from '../../service/src/platform/errors.ts';
import { type Html, type HtmlValue, html } from '../../service/src/platform/html.ts';
import { breakable } from './breakable.ts';
import { codeFrame } from './code-frame.ts';
import { codeTabs } from './code-tabs.ts';
import { findOperationExample } from './examples/operation-examples.ts';
import { fieldList } from './field-list.ts';
import { type ApiDocument, codesOf, isSuccess, type Operation, type Parameter, type Response } from './reference-document.ts';
import { describe, fieldsOf } from './schema-fields.ts';
import { badgesOf } from './stability-badges.ts';
import { tryItForm } from './try-it-form.ts';

interface Common {
  readonly codes: ReadonlySet<string>;
  readonly headers: ReadonlyMap<string, string>;
}

/** One operation: its parameters and responses, with an example and a form to try it. */
export function operationSection(document: ApiDocument, operation: Operation, common: Common): Html {
  const { operationId: id, method, path, summary, description, parameters = [], requestBody } = operation;
  const body = requestBody?.content['application/json']?.schema;
  const scope = operation['x-scope'];
  return html`<section class="operation" aria-labelledby="${id}">
<div class="purpose">
<h2 id="${id}"><a class="anchor" href="#${id}">${summary}</a></h2>
<p class="line"><span class="method ${method.toLowerCase()}">${method}</span> <code class="path">${breakable(path)}</code></p>
<p class="badges">${badgesOf(operation)}${scope && html`<span class="badge scope">Scope ${scope}</span>`}</p>
${description && html`<p>${withCode(description)}</p>`}
</div>
<div class="samples">
${tryItForm(operation)}
${operationSamples(operation)}
${responseFields(document, operation)}
</div>
<div class="facts">
${(['path', 'query', 'header'] as const).map((place) => parameterList(document, parameters, place))}
${body && html`<h3>Body</h3>${fieldList(fieldsOf(document, body))}`}
<h3>Responses</h3>
${responseList(operation, common)}
</div>
</section>`;
}

const placeNames = { path: 'Path', query: 'Query', header: 'Headers' } as const;

function parameterList(document: ApiDocument, parameters: readonly Parameter[], place: Parameter['in']): HtmlValue {
  const here = parameters.filter((parameter) => parameter.in === place);
  const fields = here.map(({ name, schema, required = false, description = '' }) => ({
    ...describe(document, name, schema, required),
    description,
  }));
  return fields.length > 0 && html`<h3>${placeNames[place]}</h3>${fieldList(fields)}`;
}

function responseList({ responses }: Operation, common: Common): Html {
  const items = Object.entries(responses).map(([status, response]) => {
    if (isSuccess(status))
      return html`<li><span class="status-code ok">${status}</span><div><p>${withCode(response.description)}</p>${ownHeaders(response, common)}</div></li>`;
    const own = codesOf(response).filter((code) => !common.codes.has(code));
    return own.length > 0 && html`<li><span class="status-code failed">${status}</span><div>${own.map(codeLine)}</div></li>`;
  });
  return html`<ul class="responses">${items}</ul>
<details class="more"><summary>Errors that every operation can return</summary><ul class="shared">${[...common.codes].map((code) => html`<li><a href="/docs/errors/${code}"><code>${code}</code></a></li>`)}</ul></details>`;
}

const codeLine = (code: string) =>
  html`<p><a href="/docs/errors/${code}"><code>${code}</code></a> ${errorCodes[code as keyof typeof errorCodes].cause}</p>`;

function ownHeaders({ headers = {} }: Response, common: Common): Html[] {
  const own = Object.entries(headers).filter(([name]) => !common.headers.has(name));
  return own.map(([name, { description }]) => html`<p class="limits"><code>${name}</code>: ${description}</p>`);
}

/** An example request, and the response to it. */
export function operationSamples({ operationId }: Operation): HtmlValue {
  const example = findOperationExample(operationId);
  if (!example) return undefined;
  const { status, body } = example.response;
  const response =
    body === undefined
      ? html`<p class="nothing">Returns ${status} without a body.</p>`
      : codeFrame(JSON.stringify(body, undefined, 2), 'json', `Response ${status}`);
  return html`${codeTabs(example.requests)}
${response}`;
}

function responseFields(document: ApiDocument, { responses }: Operation): HtmlValue {
  const [, success] = Object.entries(responses).find(([status]) => isSuccess(status)) ?? [];
  const schema = success?.content?.['application/json']?.schema;
  return (
    schema &&
    html`<details class="more"><summary>Fields of the response</summary>${fieldList(fieldsOf(document, schema), 'Response')}</details>`
  );
}

/** Descriptions mark code with backticks and use no other Markdown. */
const withCode = (text: string): HtmlValue[] => text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part));
