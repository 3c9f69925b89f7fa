import { type Html, html } from '../../service/src/platform/html.ts';
import { findOperationExample, type OperationExample } from './examples/operation-examples.ts';
import type { Operation, Parameter } from './reference-document.ts';

/** The key that all forms of the reference send. assets/try-it.js shows it, and keeps the key in this tab. */
export const keyForm = html`<form class="key" data-key-form hidden aria-label="Your API key">
<label for="your-key">Your API key</label>
<div><input id="your-key" data-key type="password" autocomplete="off" spellcheck="false" placeholder="hw_live_…"><button type="button" class="button quiet" data-forget>Forget</button></div>
<p class="limits">For every form of the reference. It is sent only to this store, and stays in this tab until you close it or press Forget.</p>
</form>
<noscript><p class="limits">Trying an operation here needs JavaScript. Use the curl commands.</p></noscript>`;

/** A form that assets/try-it.js submits. It is hidden unless that script runs. */
export function tryItForm({ operationId: id, method, path, summary, parameters = [], requestBody }: Operation): Html {
  const example = findOperationExample(id);
  const fields = parameters.map((parameter) => ({ parameter, preset: presetOf(parameter, example) }));
  const isFirst = ({ parameter, preset }: (typeof fields)[number]) => parameter.required === true || preset !== undefined;
  const [first, more] = [fields.filter(isFirst), fields.filter((field) => !isFirst(field))];
  const inputs = (some: typeof fields) => some.map(({ parameter, preset }) => parameterInput(id, parameter, preset));
  return html`<form class="try" hidden data-method="${method}" data-path="${path}" aria-label="Try: ${summary}">
<h3>Try it</h3>
${inputs(first)}
${more.length > 0 && html`<details><summary>${first.length > 0 ? `${more.length} more` : 'Parameters'}</summary>${inputs(more)}</details>`}
${bodyInput(id, Object.keys(requestBody?.content ?? {}), example)}
<p class="sending"><button class="send" type="submit">Send</button> <span class="limits">A real request to this store${method !== 'GET' && ', which changes its data'}.</span></p>
<div class="outcome" data-outcome role="status"></div>
</form>`;
}

/** What the example sends, so that a form can be sent as it is. The key of the example is not the reader's. */
function presetOf({ name, in: place }: Parameter, example: OperationExample | undefined): string | undefined {
  if (name === 'keyId') return undefined;
  const value = { path: example?.parameters, query: example?.query, header: undefined }[place]?.[name];
  return value === undefined ? undefined : [value].flat().join(', ');
}

function parameterInput(id: string, parameter: Parameter, preset: string | undefined): Html {
  const { name, in: place, required = false, schema } = parameter;
  const hint = required ? 'required' : schema.type === 'array' ? 'optional; separate values by commas' : 'optional';
  const label = html`<label for="${id}-${name}">${name} <span class="optional">${hint}</span></label>`;
  if (schema.enum) {
    const option = (value: string) => html`<option${value === preset && html` selected`}>${value}</option>`;
    return html`${label}<select id="${id}-${name}" data-in="${place}" data-name="${name}"><option value="">any</option>${schema.enum.map(String).map(option)}</select>`;
  }
  return html`${label}<input id="${id}-${name}" data-in="${place}" data-name="${name}"${schema.type === 'array' && html` data-list`}${required && html` required`} value="${preset}" autocomplete="off" spellcheck="false" placeholder="${hintOf(parameter)}">`;
}

/** What is sent if the field is empty, or what it may look like. */
function hintOf({ name, schema, example }: Parameter): string | undefined {
  if (name === 'idempotency-key') return 'a new one for each request';
  if (schema.default !== undefined) return String(schema.default);
  return example === undefined ? undefined : `such as ${example}`;
}

function bodyInput(id: string, types: readonly string[], example: OperationExample | undefined): Html | false {
  if (types.length === 0) return false;
  if (!types.includes('application/json'))
    return html`<label for="${id}-file">File</label><input id="${id}-file" data-file type="file" accept="${types.join(',')}" required>`;
  const body = JSON.stringify(example?.body ?? {}, undefined, 2);
  return html`<label for="${id}-body">Body</label>
<textarea id="${id}-body" data-body rows="${Math.min(body.split('\n').length, 12)}" spellcheck="false">${body}</textarea>`;
}
