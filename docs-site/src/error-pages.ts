import { STATUS_CODES } from 'node:http';
import { type ErrorCode, errorCodes } from '../../service/src/platform/errors.ts';
import { type HtmlValue, html } from '../../service/src/platform/html.ts';
import { breakable } from './breakable.ts';
import { codeFrame } from './code-frame.ts';
import { codeTabs } from './code-tabs.ts';
import { fixSamples } from './examples/error-fixes.ts';
import type { Page } from './page-layout.ts';
import { type ApiDocument, codesOf, commonCodes, operationsOf, operationUrl } from './reference-document.ts';

/** Codes whose example request is shown without a valid key. */
const withoutValidKey: readonly ErrorCode[] = ['api_key_missing', 'api_key_invalid', 'malformed_request'];

export function errorsPage(): Page {
  const byStatus = Object.groupBy(Object.entries(errorCodes), ([, { status }]) => status);
  const groups = Object.entries(byStatus).map(([status, codes]) => ({ ...headingOf(status), codes }));
  const main = html`<h1>Errors</h1>
<p class="lead">An error has the body <code>{code, message, status}</code>. Act on <code>code</code>: the <code>message</code> is for people and may change. The <code>Link</code> header with <code>rel="help"</code> links to the page of the code.</p>
${groups.map(
  ({ id, text, codes }) => html`<h2 id="${id}"><a class="anchor" href="#${id}">${text}</a></h2>
<ul class="fields">${codes.map(([code, { cause }]) => html`<li><p class="named"><a href="/docs/errors/${code}"><code>${breakable(code)}</code></a></p><p>${cause}</p></li>`)}</ul>`,
)}`;
  const description = 'Every error code of the Homeward API, with its cause and its fix.';
  return { path: '/docs/errors', title: 'Errors', description, main, headings: groups };
}

const headingOf = (status: string) => ({ id: `status-${status}`, text: `${status} ${STATUS_CODES[status]}` });

export function errorPage(code: ErrorCode, document: ApiDocument): Page {
  const { status, cause, fix, code: fixInCode, request, message } = errorCodes[code];
  const main = html`<p class="crumb"><a href="/docs/errors">All codes</a></p>
<h1><code>${code}</code></h1>
<p class="badges"><span class="badge">HTTP status ${status} ${STATUS_CODES[status]}</span></p>
<h2>Cause</h2>
<p>${cause}</p>
<h2>Fix</h2>
<p>${fix}</p>
${codeTabs(fixSamples(fixInCode, document))}
<h2>Example</h2>
${codeFrame(shownRequest(code, request), code === 'malformed_request' ? 'text' : 'http', 'Request')}
${codeFrame(JSON.stringify({ code, message, status }, undefined, 2), 'json', `Response ${status}`)}
<h2>Where it occurs</h2>
${occurrences(code, document)}`;
  return { path: `/docs/errors/${code}`, title: code, description: `${cause} ${fix}`, main };
}

function shownRequest(code: ErrorCode, request: string): string {
  if (withoutValidKey.includes(code)) return request;
  const [line = '', ...others] = request.split('\n');
  return [line, 'Authorization: Bearer hw_live_…', ...others].join('\n');
}

function occurrences(code: ErrorCode, document: ApiDocument): HtmlValue {
  const operations = operationsOf(document);
  if (commonCodes(operations).has(code)) return html`<p>Every operation can return it.</p>`;
  const matching = operations.filter(({ responses }) => Object.values(responses).some((response) => codesOf(response).includes(code)));
  if (matching.length === 0) return html`<p>It is returned before a request reaches an operation.</p>`;
  return html`<ul>${matching.map((one) => html`<li><a href="${operationUrl(one)}">${one.summary}</a></li>`)}</ul>`;
}
