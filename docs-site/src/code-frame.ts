import { type Html, html } from '../../service/src/platform/html.ts';
import { highlight } from './highlight.ts';
import { icon } from './icons.ts';

const languageNames: Readonly<Record<string, string>> = {
  sh: 'Shell',
  js: 'JavaScript',
  ts: 'TypeScript',
  py: 'Python',
  json: 'JSON',
  http: 'HTTP',
  text: 'Output',
};

export const labelOf = (language: string) => languageNames[language] ?? language;

/** Output is laid out in columns, so its lines scroll. The lines of every other language wrap. */
const scrolls = (language: string) => language === '' || language === 'text';

/** A code block with a caption. It may scroll, so it must be reachable by keyboard. */
export function codeFrame(code: string, language = '', label = labelOf(language)): Html {
  return html`<figure class="${scrolls(language) ? 'code scrolls' : 'code'}" data-language="${language}"><figcaption><span>${label}</span>${copyButton}</figcaption>${codeBlock(code, language, label)}</figure>
`;
}

const copyButton = html`<button type="button" class="copy" data-copy aria-label="Copy">${icon('copy')}${icon('check')}</button>`;

const codeBlock = (code: string, language: string, label: string) =>
  html`<pre tabindex="0" role="group" aria-label="${label || 'Code'}"><code>${highlight(code.trimEnd(), language)}</code></pre>`;
