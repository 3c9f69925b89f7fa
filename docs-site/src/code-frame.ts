import { type Html, html } from './html.ts';

const languageNames: Readonly<Record<string, string>> = {
  sh: 'Shell',
  js: 'JavaScript',
  ts: 'TypeScript',
  json: 'JSON',
  http: 'HTTP',
  text: 'Output',
};

/** Answers are read, not pasted: their long lines are broken. */
const broken = ['json', 'http'];

/** Code in a frame of its own, which scrolls inside itself and so must be reachable by keyboard. */
export function codeFrame(code: string, language = '', label = languageNames[language] ?? language): Html {
  const caption = label !== '' && html`<figcaption>${label}</figcaption>`;
  return html`<figure class="${broken.includes(language) ? 'code wraps' : 'code'}">${caption}<pre tabindex="0" role="group" aria-label="${label || 'Code'}"><code>${code.trimEnd()}</code></pre></figure>
`;
}
