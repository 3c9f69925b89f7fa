// Sends the requests of the forms in the reference to this store, and shows the responses. All forms send one key, which stays in
// this tab: for other pages it is in sessionStorage, until the reader forgets it or closes the tab.
const storageName = 'homeward-key';
const bodyShownMax = 100_000;
const timeoutMs = 30_000;
const keyForm = document.querySelector('[data-key-form]');
const keyField = document.querySelector('[data-key]');

keepKey();
for (const form of document.querySelectorAll('.try')) {
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void tryIt(form);
  });
}

async function tryIt(form) {
  const button = form.querySelector('.send');
  const outcome = form.querySelector('[data-outcome]');
  if (readKey() === '') {
    outcome.replaceChildren('Enter your API key first, at the top of this page.');
    keyField.focus();
    return;
  }
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

/** Empty fields are omitted, except those of the path and the idempotency key: a request that is sent again is a new one. */
function readRequest(form) {
  const headers = { authorization: `Bearer ${readKey()}` };
  const query = new URLSearchParams();
  let url = form.dataset.path;
  for (const { value, dataset } of form.querySelectorAll('[data-in]')) {
    if (dataset.in === 'path') url = url.replace(`{${dataset.name}}`, encodeURIComponent(value));
    else if (dataset.name === 'idempotency-key') headers[dataset.name] = value || randomHex();
    else if (value === '') continue;
    else if (dataset.in === 'header') headers[dataset.name] = value;
    else for (const one of 'list' in dataset ? value.split(',') : [value]) query.append(dataset.name, one.trim());
  }
  const file = form.querySelector('[data-file]')?.files[0];
  const body = file ?? form.querySelector('[data-body]')?.value;
  if (body !== undefined) headers['content-type'] = file ? file.type : 'application/json';
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
  if (body instanceof File) lines.push(`--data-binary ${quote(`@${body.name}`)}`);
  else if (body !== undefined) lines.push(`-d ${quote(body)}`);
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

const randomHex = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** People also paste the whole header. */
const readKey = () => keyField.value.trim().replace(/^(Authorization: *)?Bearer +/i, '');

function keepKey() {
  const storage = findStorage();
  keyField.value = storage?.getItem(storageName) ?? '';
  keyField.addEventListener('input', () => storage?.setItem(storageName, readKey()));
  keyForm.addEventListener('submit', (event) => event.preventDefault());
  keyForm.querySelector('[data-forget]').addEventListener('click', () => {
    storage?.removeItem(storageName);
    keyField.value = '';
    keyField.focus();
  });
  keyForm.hidden = false;
}

/** Undefined if the browser blocks storage: the key is then only in this page. */
function findStorage() {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}
