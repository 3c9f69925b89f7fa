// What pages show without JavaScript.
import type { Page } from 'playwright-core';

/** Words, and the pages on one of which each must stand. */
export interface Expectation {
  readonly urls: readonly string[];
  readonly words: readonly string[];
}

/** What can be seen; a visitor can open what is folded up without a script. */
const readText = `(() => {
  for (const folded of document.querySelectorAll('details')) folded.open = true;
  return document.body.innerText;
})()`;

/** The words that are not there. */
export async function findMissingWords(page: Page, expectations: readonly Expectation[]): Promise<string[]> {
  const missing: string[] = [];
  for (const { urls, words } of expectations) {
    let text = '';
    for (const url of urls) {
      await page.goto(url);
      text += (await page.evaluate<string>(readText)).toLowerCase();
    }
    missing.push(...words.filter((word) => !text.includes(word.toLowerCase())).map((word) => `"${word}" on ${urls[0]}`));
  }
  return missing;
}

/** The words of a text in Markdown, without diagrams, the addresses of its links, and what its code is written in. */
export function wordsOf(markdown: string): string[] {
  const prose = markdown
    .replaceAll(/^```mermaid$.*?^```$/gms, ' ')
    .replaceAll(/^```.*$/gm, ' ')
    .replaceAll(/\]\([^)]*\)/g, ' ')
    .replaceAll(/<[^>\s]*>/g, ' ');
  return [...new Set(prose.match(/[\p{L}\p{N}]{3,}/gu))];
}
