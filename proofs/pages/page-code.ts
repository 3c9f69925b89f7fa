// Checks the code blocks of a page: each has a button that copies exactly its text, and is highlighted.
import type { Page } from 'playwright-core';

export interface CodeFindings {
  readonly blocks: number;
  /** A text for each block whose button is missing or copies something else. */
  readonly notCopied: readonly string[];
  readonly notHighlighted: readonly string[];
}

const copyTimeoutMs = 2_000;

/** Presses every button, one after another. Blocks of plain text have nothing to highlight. */
const tryBlocks = `(async () => {
  const found = { blocks: 0, notCopied: [], notHighlighted: [] };
  for (const block of document.querySelectorAll('pre')) {
    const code = block.textContent;
    const figure = block.closest('figure.code');
    const language = figure?.dataset.language ?? '?';
    const name = language + ' "' + code.slice(0, 30) + '"';
    found.blocks += 1;
    if (!['', 'text'].includes(language) && !block.querySelector('code [class^="t-"]')) found.notHighlighted.push(name);
    const button = figure?.querySelector('button[data-copy]');
    if (!button) {
      found.notCopied.push(name + ' without a button');
      continue;
    }
    await navigator.clipboard.writeText('nothing');
    button.click();
    let copied = 'nothing';
    for (const until = performance.now() + ${copyTimeoutMs}; copied === 'nothing' && performance.now() < until; ) copied = await navigator.clipboard.readText();
    if (copied !== code) found.notCopied.push(name + ' as "' + copied.slice(0, 30) + '"');
  }
  return found;
})()`;

/** All pages of a browser share one clipboard, so one page at a time uses it. */
let clipboard: Promise<unknown> = Promise.resolve();

export function checkCode(page: Page): Promise<CodeFindings> {
  const checked = clipboard.then(async () => {
    await page.bringToFront();
    return page.evaluate<CodeFindings>(tryBlocks);
  });
  clipboard = checked.catch(() => undefined);
  return checked;
}
