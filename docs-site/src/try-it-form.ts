import { findOperationExample } from './examples/operation-examples.ts';
import { type Html, html } from './html.ts';
import type { Operation, Parameter } from './reference-document.ts';

/** A form that assets/try-it.js submits. It is hidden unless that script runs. */
export function tryItForm(operation: Operation): Html {
  const { operationId: id, method, path, parameters = [] } = operation;
  const example = findOperationExample(id);
  const body = example?.body === undefined ? undefined : JSON.stringify(example.body, undefined, 2);
  return html`<details class="try"><summary>Try it</summary>
<noscript><p>Trying it here needs JavaScript. Use the curl command above.</p></noscript>
<form hidden data-method="${method}" data-path="${path}" aria-label="Try: ${operation.summary}">
<p class="limits">Sends a real request to this store${method !== 'GET' && ', which changes its data'}.</p>
<label for="${id}-key">API key</label>
<input id="${id}-key" data-key type="password" autocomplete="off" spellcheck="false" placeholder="hw_live_…">
<label class="check"><input type="checkbox" data-remember> Remember until this tab closes</label>
${parameters.map((parameter) => parameterInput(id, parameter, example?.parameters[parameter.name]))}
${
  body &&
  html`<label for="${id}-body">Body</label>
<textarea id="${id}-body" data-body rows="${Math.min(body.split('\n').length + 1, 12)}" spellcheck="false">${body}</textarea>`
}
<p><button class="send" type="submit">Send</button></p>
<div class="outcome" data-outcome role="status"></div>
</form>
</details>`;
}

function parameterInput(id: string, { name, in: place, required = false, schema }: Parameter, preset: number | undefined): Html {
  const hint = required ? 'required' : schema.type === 'array' ? 'optional; separate values by commas' : 'optional';
  const label = html`<label for="${id}-${name}">${name} <span class="optional">${hint}</span></label>`;
  if (schema.enum) {
    return html`${label}<select id="${id}-${name}" data-in="${place}" data-name="${name}"><option value="">any</option>${schema.enum.map((value) => html`<option>${String(value)}</option>`)}</select>`;
  }
  return html`${label}<input id="${id}-${name}" data-in="${place}" data-name="${name}"${schema.type === 'array' && html` data-list`}${required && html` required`} value="${preset}" autocomplete="off" spellcheck="false"${schema.default !== undefined && html` placeholder="${String(schema.default)}"`}>`;
}
