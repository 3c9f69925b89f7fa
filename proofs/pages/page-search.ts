// A reader searches the documentation in its dialog, by keyboard alone.
import type { Browser, Page } from 'playwright-core';
import { leadsTo, misspeltQuestions, type Question, questions } from '../../testkit/search-questions.ts';
import { findBarriers } from './page-barriers.ts';

export interface SearchFindings {
  /** The questions whose first result leads elsewhere. */
  readonly missed: readonly string[];
  readonly asked: number;
  /** What does not work by keyboard, offline, without JavaScript, on a narrow screen, or for axe. */
  readonly faults: readonly string[];
}

const timeoutMs = 10_000;
const dialog = 'dialog[data-search]';

/** Once the index is loaded, the results are there when the window is next drawn. */
const readResults = `new Promise((resolve) => requestAnimationFrame(() => {
  resolve([...document.querySelectorAll('${dialog} [role=option]')].map((option) => option.getAttribute('href')));
}))`;

export async function trySearch(browser: Browser, docs: string): Promise<SearchFindings> {
  await using context = await browser.newContext({ viewport: { width: 1_280, height: 900 }, reducedMotion: 'reduce' });
  context.setDefaultTimeout(timeoutMs);
  const page = await context.newPage();
  const loaded: string[] = [];
  page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
  await page.goto(`${docs}/quickstart`, { waitUntil: 'networkidle' });
  const faults: string[] = [];
  const expect = (holds: boolean, fault: string) => {
    if (!holds) faults.push(fault);
  };

  expect(!loaded.some((path) => /search-(engine|index)/.test(path)), 'the index is loaded before the search is opened');
  await page.keyboard.press('Control+k');
  expect(await isOpen(page), 'Ctrl K does not open it');
  await ask(page, 'cancel order');
  await page.locator('[role=option] mark').first().waitFor();
  const loadedFirst = loaded.length;
  await context.setOffline(true);
  const missed: string[] = [];
  for (const question of [...questions, ...misspeltQuestions]) {
    const [url = 'nothing'] = await ask(page, question.typed);
    if (!leadsTo(url, question)) missed.push(missedText(question, url));
  }
  expect(loaded.length === loadedFirst, `it sends requests while the reader types: ${loaded.at(-1)}`);
  expect((await ask(page, 'zzzzzz qqqqqq')).length > 0, 'nothing is suggested if there are no results');
  expect((await page.locator('.search-status').innerText()).includes('“zzzzzz qqqqqq”'), 'it does not say that there are no results');
  await context.setOffline(false);

  // A key without effect must not end the proof.
  await tryKeys(page, docs, expect).catch((error: Error) => faults.push(error.message.replace(/\n.*/s, '')));
  faults.push(...(await lookAtDialog(page)));
  faults.push(...(await withoutScript(browser, `${docs}/quickstart`)));
  return { missed, asked: questions.length + misspeltQuestions.length, faults };
}

const missedText = ({ typed, first: wanted }: Question, url: string) => `"${typed}" leads to ${url}, not to ${wanted}`;

/** Types a query into the open dialog, and returns where the results lead. */
async function ask(page: Page, typed: string): Promise<string[]> {
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(typed);
  return page.evaluate<string[]>(readResults);
}

async function tryKeys(page: Page, docs: string, expect: (holds: boolean, fault: string) => void): Promise<void> {
  const focused = () => page.evaluate<string>(`document.activeElement.outerHTML.slice(0, 80)`);
  await page.keyboard.press('Escape');
  expect(!(await isOpen(page)), 'Escape does not close it');
  await page.locator('[data-search-open]').focus();
  await page.keyboard.press('Enter');
  expect(await isOpen(page), 'Enter on the button does not open it');
  await page.keyboard.press('Escape');
  expect((await focused()).includes('data-search-open'), `the focus does not return to the button but to ${await focused()}`);
  await page.keyboard.press('/');
  expect(await isOpen(page), '/ does not open it');
  if (!(await isOpen(page))) await page.keyboard.press('Control+k');
  const [, second = ''] = await ask(page, 'webhook');
  await page.keyboard.press('ArrowDown');
  const chosen = await page.locator('[role=option][aria-selected=true]').getAttribute('href');
  expect(chosen === second, 'the down arrow does not choose the second result');
  await page.keyboard.press('Enter');
  await page.waitForURL(docs.replace(/\/docs$/, second));
  // In a field, / is a character like any other.
  await page.goto(`${docs}/reference/pets`);
  const field = page.locator('.try textarea').first();
  await field.focus();
  await page.keyboard.press('/');
  expect(!(await isOpen(page)), '/ in a field opens it');
}

/** Looks at the results with axe, and for what is too wide, in both themes. */
async function lookAtDialog(page: Page): Promise<string[]> {
  const faults: string[] = [];
  await page.keyboard.press('Control+k');
  await ask(page, 'how do i page through all animals');
  await page.locator('[role=option] mark').first().waitFor();
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const width of [1_280, 320]) {
      await page.setViewportSize({ width, height: 700 });
      const name = `in ${scheme} at ${width} px`;
      faults.push(...(await findBarriers(page, { within: dialog })).map((barrier) => `${barrier} ${name}`));
      const box = await page.locator(dialog).boundingBox();
      if (!box || box.x < 0 || box.x + box.width > width || box.y + box.height > 700) faults.push(`it does not fit ${name}`);
    }
  }
  return faults;
}

async function withoutScript(browser: Browser, url: string): Promise<string[]> {
  await using context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(url);
  const isShown = (await page.locator('[data-search-open]').isVisible()) || (await isOpen(page));
  return isShown ? ['without JavaScript it is shown and does nothing'] : [];
}

const isOpen = (page: Page): Promise<boolean> => page.locator(`${dialog}[open]`).isVisible();
