import { errorCodes } from '../../service/src/errors.ts';
import { breakable } from './breakable.ts';
import { codeFrame } from './code-frame.ts';
import { curlOf } from './curl-line.ts';
import { fieldTable } from './field-table.ts';
import { type Html, type HtmlValue, html } from './html.ts';
import { type ApiDocument, codesOf, isSuccess, type Operation, type Parameter, type Response } from './reference-document.ts';
import { exampleOf } from './schema-example.ts';
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
<div class="facts">
<h2 id="${id}"><a class="anchor" href="#${id}">${summary}</a></h2>
<p class="line"><span class="method ${method.toLowerCase()}">${method}</span> <code class="path">${breakable(path)}</code></p>
<p class="badges">${badgesOf(operation)}${scope && html`<span class="badge scope">Scope ${scope}</span>`}</p>
${description && html`<p>${withCode(description)}</p>`}
${(['path', 'query', 'header'] as const).map((place) => parameterTable(document, parameters, place))}
${body && html`<h3>Body</h3>${fieldTable(fieldsOf(document, body))}`}
<h3>Responses</h3>
${responseTable(operation, common)}
</div>
<div class="samples">
${codeFrame(curlOf(document, operation), 'sh', 'curl')}
${sample(document, operation)}
${tryItForm(document, operation)}
</div>
</section>`;
}

const placeNames = { path: 'Path', query: 'Query', header: 'Headers' } as const;

function parameterTable(document: ApiDocument, parameters: readonly Parameter[], place: Parameter['in']): HtmlValue {
  const here = parameters.filter((parameter) => parameter.in === place);
  const fields = here.map(({ name, schema, required = false, description = '' }) => ({
    ...describe(document, name, schema, required),
    description,
  }));
  return fields.length > 0 && html`<h3>${placeNames[place]}</h3>${fieldTable(fields, 'Parameter')}`;
}

function responseTable({ responses }: Operation, common: Common): Html {
  const rows = Object.entries(responses).map(([status, response]) => {
    if (isSuccess(status))
      return html`<tr><th scope="row">${status}</th><td><p>${response.description}</p>${ownHeaders(response, common)}</td></tr>`;
    const codes = codesOf(response);
    // Codes that every operation can return are explained once, in the overview.
    const shared = codes.filter((code) => common.codes.has(code));
    const links = shared.map((code, i) => html`${i > 0 && ', '}<a href="/docs/errors/${code}"><code>${code}</code></a>`);
    return html`<tr><th scope="row">${status}</th><td>${codes.filter((code) => !common.codes.has(code)).map(codeLine)}${links.length > 0 && html`<p>${links}</p>`}</td></tr>`;
  });
  return html`<table class="responses"><thead><tr><th scope="col">Status</th><th scope="col">Meaning</th></tr></thead><tbody>${rows}</tbody></table>`;
}

const codeLine = (code: string) =>
  html`<p><a href="/docs/errors/${code}"><code>${code}</code></a> ${errorCodes[code as keyof typeof errorCodes].cause}</p>`;

function ownHeaders({ headers = {} }: Response, common: Common): Html[] {
  const own = Object.entries(headers).filter(([name]) => !common.headers.has(name));
  return own.map(([name, { description }]) => html`<p class="limits"><code>${name}</code>: ${description}</p>`);
}

function sample(document: ApiDocument, { responses }: Operation): HtmlValue {
  const [status, success] = Object.entries(responses).find(([code]) => isSuccess(code)) ?? [];
  const schema = success?.content?.['application/json']?.schema;
  if (!schema) return html`<p class="nothing">Returns ${status} without a body.</p>`;
  const fields = fieldsOf(document, schema);
  return html`${codeFrame(JSON.stringify(exampleOf(document, schema), undefined, 2), 'json', `Response ${status}`)}
<details class="more"><summary>Fields of the response</summary>${fieldTable(fields, 'Response')}</details>`;
}

/** Descriptions mark code with backticks and use no other Markdown. */
const withCode = (text: string): HtmlValue[] => text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part));
