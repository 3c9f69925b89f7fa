// Checks the text that pages show without JavaScript.
import type { Page } from 'playwright-core';

/** Each of the words must be on at least one of the pages. */
export interface Expectation {
  readonly urls: readonly string[];
  readonly words: readonly string[];
}

/** The visible text, including collapsed `details` elements, which a visitor can open without JavaScript. */
const readText = `(() => {
  for (const folded of document.querySelectorAll('details')) folded.open = true;
  return document.body.innerText;
})()`;

/** Returns the expected words that are missing. */
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

/** The words of a Markdown text, without diagrams, what pictures show, link URLs, and the language names of code blocks. */
export function wordsOf(markdown: string): string[] {
  const prose = markdown
    .replaceAll(/^```mermaid$.*?^```$/gms, ' ')
    .replaceAll(/^```.*$/gm, ' ')
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, ' ')
    .replaceAll(/\]\([^)]*\)/g, ' ')
    .replaceAll(/<[^>\s]*>/g, ' ');
  return [...new Set(prose.match(/[\p{L}\p{N}]{3,}/gu))];
}
