import { codeFrame, labelOf } from './code-frame.ts';
import { type Html, html } from './html.ts';

export interface CodeBlock {
  readonly code: string;
  readonly language: string;
  readonly label?: string;
}

/** The same thing in several languages. Without JavaScript all of them are shown; with it, the one that the reader chose last. */
export function codeTabs(blocks: readonly CodeBlock[]): Html {
  const [first] = blocks;
  if (!first || blocks.length === 1) return codeFrame(first?.code ?? '', first?.language, first?.label);
  const labelled = blocks.map((block) => ({
    ...block,
    label: block.label ?? (block.language === 'sh' ? 'curl' : labelOf(block.language)),
  }));
  const buttons = labelled.map(({ language, label }) => html`<button type="button" data-choose="${language}">${label}</button>`);
  return html`<div class="tabs" data-languages="${blocks.map(({ language }) => language).join(' ')}"><div class="choices" role="group" aria-label="Language">${buttons}</div>${labelled.map(({ code, language, label }) => codeFrame(code, language, label))}</div>
`;
}
