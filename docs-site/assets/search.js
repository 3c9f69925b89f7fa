// The search of the documentation. What it needs is loaded when it is first opened: the index, and the code that reads it.
// After that it sends nothing, so it also works offline.
const timeoutMs = 30_000;

const opener = document.querySelector('[data-search-open]');
const dialog = document.querySelector('[data-search]');
const input = dialog.querySelector('input');
const list = dialog.querySelector('[role=listbox]');
const message = dialog.querySelector('[role=status]');
const suggestions = [...list.children];

/** A promise of the function that searches. Undefined before the search is opened, and after loading has failed. */
let loading;
/** The number of the chosen option; -1: none. */
let chosen = -1;

if (/Mac|iPhone|iPad/.test(navigator.platform)) opener.querySelector('kbd').textContent = '⌘K';
opener.addEventListener('click', open);
dialog.querySelector('[data-search-close]').addEventListener('click', () => dialog.close());
// The box fills the dialog, so only a click beside it has the dialog as its target.
dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close());
document.addEventListener('keydown', openByKey);
input.addEventListener('input', () => void update());
input.addEventListener('keydown', moveByKey);
list.addEventListener('pointermove', ({ target }) => choose([...list.children].indexOf(target.closest('[role=option]')), false));
// The result may be on this page.
list.addEventListener('click', () => dialog.close());

function openByKey(event) {
  const isCommandK = event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey) && !event.shiftKey && !event.altKey;
  const isSlash = event.key === '/' && !event.metaKey && !event.ctrlKey && !event.altKey && !isTyping(event.target);
  if (!isCommandK && !isSlash) return;
  event.preventDefault();
  open();
}

const isTyping = (element) => element.matches?.('input, textarea, select, [contenteditable]') ?? false;

function open() {
  if (!dialog.open) dialog.showModal();
  input.focus();
  input.select();
  void update();
}

async function update() {
  const query = input.value.trim();
  if (!loading) loading = load();
  if (query === '') return show(suggestions, '');
  let search;
  try {
    const pending = setTimeout(() => say('Loading …'), 300);
    search = await loading.finally(() => clearTimeout(pending));
  } catch {
    loading = undefined;
    return show(suggestions, 'The search could not be loaded. Check your connection and type again, or start here:');
  }
  // Another key may have been pressed meanwhile.
  if (query !== input.value.trim()) return;
  const results = search(query);
  if (results.length === 0) return show(suggestions, `No results for “${query}”. Try fewer or other words, or start here:`);
  show(results.map(optionOf), results.length === 1 ? '1 result' : `${results.length} results`);
  choose(0);
}

async function load() {
  const [{ openIndex }, response] = await Promise.all([
    import(assetUrl('search-engine.js')),
    fetch(assetUrl('search-index.json'), { signal: AbortSignal.timeout(timeoutMs) }),
  ]);
  if (!response.ok) throw new Error(`The index returned ${response.status}.`);
  return openIndex(await response.text());
}

const assetUrl = (name) => new URL(name, import.meta.url).href;

function show(options, text) {
  for (const [i, option] of options.entries()) option.id = `search-option-${i}`;
  list.replaceChildren(...options);
  list.scrollTop = 0;
  choose(-1);
  say(text);
}

/** Repeating the same text would make screen readers say it again. */
function say(text) {
  if (message.textContent !== text) message.textContent = text;
}

function optionOf({ url, page, heading, excerpt }) {
  const option = Object.assign(document.createElement('a'), { href: url, tabIndex: -1, role: 'option' });
  const title = [...marked(page), ...(heading.length > 0 ? [' › ', ...marked(heading)] : [])];
  option.append(element('span', 'search-title', title), element('span', 'search-excerpt', marked(excerpt)));
  return option;
}

const marked = (pieces) => pieces.map(({ text, isMatch }) => (isMatch ? element('mark', '', [text]) : text));

function element(tag, className, children) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...children);
  return made;
}

function choose(next, isByKey = true) {
  const options = [...list.children];
  chosen = next;
  for (const [i, option] of options.entries()) option.setAttribute('aria-selected', String(i === chosen));
  const option = options[chosen];
  if (!option) return input.removeAttribute('aria-activedescendant');
  input.setAttribute('aria-activedescendant', option.id);
  if (isByKey) option.scrollIntoView({ block: 'nearest' });
}

function moveByKey(event) {
  if (event.isComposing) return;
  const count = list.children.length;
  const moves = { ArrowDown: (chosen + 1) % count, ArrowUp: (Math.max(chosen, 0) - 1 + count) % count };
  if (event.key in moves) choose(moves[event.key]);
  else if (event.key === 'Enter') list.children[chosen]?.click();
  else return;
  event.preventDefault();
}
