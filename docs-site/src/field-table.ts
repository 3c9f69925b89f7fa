import { breakable } from './breakable.ts';
import { type Html, type HtmlValue, html } from './html.ts';
import type { Field } from './schema-fields.ts';

type Source = 'Parameter' | 'Field' | 'Response';

/** A table of two columns, so that it fits a phone. */
export function fieldTable(fields: readonly Field[], source: Source = 'Field'): Html {
  const rows = fields.map(
    (field) =>
      html`<tr><th scope="row"><code>${breakable(field.name)}</code><span class="type">${field.type}</span>${presence(field, source)}</th><td>${meaning(field)}</td></tr>`,
  );
  const what = source === 'Parameter' ? source : 'Field';
  return html`<table class="fields"><thead><tr><th scope="col">${what}</th><th scope="col">Meaning</th></tr></thead><tbody>${rows}</tbody></table>`;
}

/** For input: whether the field is required. For a response: whether it may be absent. */
function presence({ required }: Field, source: Source): HtmlValue {
  if (source === 'Response') return !required && html`<span class="optional">may be absent</span>`;
  return required ? html`<span class="required">required</span>` : html`<span class="optional">optional</span>`;
}

function meaning({ description, constraints, default: preset }: Field): HtmlValue {
  return [
    description !== '' && html`<p>${description}</p>`,
    constraints.length > 0 && html`<p class="limits">${capitalised(constraints.join('; '))}.</p>`,
    preset !== undefined && html`<p class="limits">Default: <code>${preset}</code></p>`,
  ];
}

const capitalised = (text: string) => `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
