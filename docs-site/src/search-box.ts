import { html } from '../../service/src/platform/html.ts';
import { guides } from './guides.ts';
import { icon } from './icons.ts';

/** The script that opens the search. It loads the other two when the reader opens it. */
export const searchScript = '/docs/assets/search.js';
export const searchEngineScript = '/docs/assets/search-engine.js';
export const searchIndex = '/docs/assets/search-index.json';

const suggested = ['quickstart', 'paging', 'orders', 'webhooks'];

/** In the header. Without JavaScript it is not shown. */
export const searchButton = html`<button type="button" class="search-button" data-search-open aria-label="Search" aria-haspopup="dialog" aria-keyshortcuts="Control+K Meta+K /">${icon('search')}<span>Search</span><kbd>Ctrl K</kbd></button>`;

/** Closed until the reader opens it. Its list has the suggestions for an empty field. */
export const searchDialog = html`<dialog class="search" data-search aria-label="Search the documentation"><div class="search-box">
<div class="search-field">${icon('search')}<input type="text" inputmode="search" role="combobox" aria-label="Search the documentation" aria-controls="search-results" aria-expanded="true" aria-autocomplete="list" placeholder="Animals, webhooks, 429 …" autocomplete="off" autocapitalize="off" spellcheck="false" enterkeyhint="go" maxlength="200"><button type="button" data-search-close aria-label="Close"><kbd>Esc</kbd></button></div>
<p class="search-status" role="status"></p>
<div class="search-results" id="search-results" role="listbox" aria-label="Results">${[
  ...guides.filter(({ slug }) => suggested.includes(slug)).map(({ slug, title, summary }) => suggestion(`/docs/${slug}`, title, summary)),
  suggestion('/docs/reference', 'Reference', 'Every operation with its parameters and responses.'),
  suggestion('/docs/errors', 'Errors', 'Every error code with its cause and its fix.'),
]}</div>
<p class="search-keys" aria-hidden="true"><kbd>↑</kbd> <kbd>↓</kbd> to choose <kbd>Enter</kbd> to open <kbd>Esc</kbd> to close</p>
</div></dialog>`;

function suggestion(href: string, title: string, summary: string) {
  return html`<a role="option" aria-selected="false" tabindex="-1" href="${href}"><span class="search-title">${title}</span><span class="search-excerpt">${summary}</span></a>`;
}
