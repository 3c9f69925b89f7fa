import { type Html, html } from '../../service/src/platform/html.ts';
import { codeFrame, labelOf } from './code-frame.ts';

export interface CodeBlock {
  readonly code: string;
  readonly language: string;
}

/** In tabs, a command in the shell is one of curl. */
export const tabLabelOf = (language: string): string => (language === 'sh' ? 'curl' : labelOf(language));

/** The same thing in several languages. Without JavaScript all of them are shown; with it, the one that the reader chose last. */
export function codeTabs(blocks: readonly CodeBlock[]): Html {
  const [first] = blocks;
  if (first && blocks.length === 1) return codeFrame(first.code, first.language);
  const languages = blocks.map(({ language }) => language);
  const buttons = languages.map((language) => html`<button type="button" data-choose="${language}">${tabLabelOf(language)}</button>`);
  const frames = blocks.map(({ code, language }) => codeFrame(code, language, tabLabelOf(language)));
  return html`<div class="tabs" data-languages="${languages.join(' ')}"><div class="choices" role="group" aria-label="Language">${buttons}</div>${frames}</div>
`;
}
