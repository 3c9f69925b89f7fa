import { type Html, type HtmlValue, html } from '../../service/src/platform/html.ts';
import { breakable } from './breakable.ts';
import type { Field } from './schema-fields.ts';

type Source = 'Field' | 'Response';

/** One entry for each field: its name, type and presence, and below them its meaning. It fits a phone. */
export function fieldList(fields: readonly Field[], source: Source = 'Field'): Html {
  const items = fields.map(
    (field) =>
      html`<li><p class="named"><code>${breakable(field.name)}</code><span class="type">${field.type}</span>${presence(field, source)}</p>${meaning(field)}</li>`,
  );
  return html`<ul class="fields">${items}</ul>`;
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
