// Sends the requests of the forms in the reference to this store, and shows the responses. The key stays in this page, unless
// the reader asks to remember it until the tab closes.
const storageName = 'homeward-key';
const bodyShownMax = 100_000;
const timeoutMs = 30_000;

for (const form of document.querySelectorAll('.try form')) {
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void tryIt(form);
  });
}
restoreKey();

async function tryIt(form) {
  const button = form.querySelector('.send');
  const outcome = form.querySelector('[data-outcome]');
  const request = readRequest(form);
  button.disabled = true;
  outcome.replaceChildren('Sending…');
  try {
    const startedAtMs = performance.now();
    const { method, headers, body } = request;
    const response = await fetch(request.url, { method, headers, body, cache: 'no-store', signal: AbortSignal.timeout(timeoutMs) });
    const text = await response.text();
    outcome.replaceChildren(...describe(response, text, performance.now() - startedAtMs), frame('The same as curl', curlOf(request)));
  } catch (error) {
    outcome.replaceChildren(`No response: ${error.message}`, frame('The same as curl', curlOf(request)));
  }
  button.disabled = false;
}

/** Empty fields are omitted, except those of the path. */
function readRequest(form) {
  const key = form.querySelector('[data-key]').value.trim();
  const headers = key ? { authorization: `Bearer ${key}` } : {};
  const query = new URLSearchParams();
  let url = form.dataset.path;
  for (const { value, dataset } of form.querySelectorAll('[data-in]')) {
    if (dataset.in === 'path') url = url.replace(`{${dataset.name}}`, encodeURIComponent(value));
    else if (value === '') continue;
    else if (dataset.in === 'header') headers[dataset.name] = value;
    else for (const one of 'list' in dataset ? value.split(',') : [value]) query.append(dataset.name, one.trim());
  }
  const body = form.querySelector('[data-body]')?.value;
  if (body !== undefined) headers['content-type'] = 'application/json';
  return { method: form.dataset.method, url: query.size > 0 ? `${url}?${query}` : url, headers, body };
}

function describe(response, text, tookMs) {
  const line = element('p', `${response.status} ${response.statusText}`, 'status');
  line.dataset.good = String(response.ok);
  line.append(` in ${Math.round(tookMs)} ms`);
  const rate = (name) => response.headers.get(`x-ratelimit-${name}`);
  const resetsAt = new Date(Number(rate('reset')) * 1_000).toLocaleTimeString();
  const limit = rate('limit') ? element('p', `${rate('remaining')} of ${rate('limit')} requests remain until ${resetsAt}.`) : '';
  const help = /<([^>]+)>; rel="help"/.exec(response.headers.get('link') ?? '')?.[1];
  const link = help ? element('a', 'What this code means') : '';
  if (help) link.href = help;
  const shown = text.length > bodyShownMax ? `${text.slice(0, bodyShownMax)}…` : formatJson(text);
  const all = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
  return [line, limit, link, text === '' ? 'No body.' : frame('Body', shown), frame('Headers', all)];
}

/** Indents JSON text without parsing its numbers, since a large integer would be rounded. */
function formatJson(text) {
  let depth = 0;
  return text.replace(/"(?:[^"\\]|\\.)*"|[{[]\s*[}\]]|[{}[\],:]/g, (token) => {
    if (token === ',') return `,\n${'  '.repeat(depth)}`;
    if (token === ':') return ': ';
    if (token === '{' || token === '[') return `${token}\n${'  '.repeat(++depth)}`;
    if (token === '}' || token === ']') return `\n${'  '.repeat(Math.max(--depth, 0))}${token}`;
    return token;
  });
}

/** Omits the key: copied commands are often shared. */
function curlOf({ method, url, headers, body }) {
  const quote = (value) => `'${value.replaceAll("'", "'\\''")}'`;
  const { authorization, ...others } = headers;
  const lines = [`curl -i -X ${method} ${quote(location.origin + url)}`];
  if (authorization) lines.push('-H "Authorization: Bearer $HOMEWARD_KEY"');
  for (const [name, value] of Object.entries(others)) lines.push(`-H ${quote(`${name}: ${value}`)}`);
  if (body !== undefined) lines.push(`-d ${quote(body)}`);
  return lines.join(' \\\n  ');
}

function frame(title, text) {
  const figure = element('figure', '', 'code');
  const caption = element('figcaption', '');
  // The first copy button of the page has the icons; page.js handles the clicks.
  const copy = document.querySelector('[data-copy]').cloneNode(true);
  const pre = element('pre', '');
  pre.append(element('code', text));
  Object.assign(pre, { tabIndex: 0, role: 'group', ariaLabel: title });
  caption.append(element('span', title), copy);
  figure.append(caption, pre);
  return figure;
}

function element(tag, text, className = '') {
  return Object.assign(document.createElement(tag), { textContent: text, className });
}

/** All forms of the page share one key. It is stored for other pages of this tab only if the reader ticks the box. */
function restoreKey() {
  const keys = [...document.querySelectorAll('[data-key]')];
  const boxes = [...document.querySelectorAll('[data-remember]')];
  const stored = sessionStorage.getItem(storageName);
  const share = (value, remember) => {
    for (const key of keys) key.value = value;
    for (const box of boxes) box.checked = remember;
    if (remember) sessionStorage.setItem(storageName, value);
    else sessionStorage.removeItem(storageName);
  };
  if (stored !== null) share(stored, true);
  for (const key of keys) key.addEventListener('input', () => share(key.value, boxes[0].checked));
  for (const box of boxes) box.addEventListener('change', () => share(keys[0].value, box.checked));
}
