import { type Html, html } from './html.ts';

const languageNames: Readonly<Record<string, string>> = {
  sh: 'Shell',
  js: 'JavaScript',
  ts: 'TypeScript',
  json: 'JSON',
  http: 'HTTP',
  text: 'Output',
};

/** Languages whose long lines wrap: responses are read, not copied. */
const wrapped = ['json', 'http'];

/** A code block with a caption. It scrolls, so it must be reachable by keyboard. */
export function codeFrame(code: string, language = '', label = languageNames[language] ?? language): Html {
  const caption = label !== '' && html`<figcaption>${label}</figcaption>`;
  return html`<figure class="${wrapped.includes(language) ? 'code wraps' : 'code'}">${caption}<pre tabindex="0" role="group" aria-label="${label || 'Code'}"><code>${code.trimEnd()}</code></pre></figure>
`;
}
