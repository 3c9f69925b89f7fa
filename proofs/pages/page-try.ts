// A reader tries operations in the reference: enters a key once, sends requests on two pages, and has the key forgotten.
import type { Browser, Page } from 'playwright-core';

export interface Reader {
  /** The address of the store. */
  readonly url: string;
  readonly key: string;
}

const timeoutMs = 10_000;

/** Returns the faults. */
export async function tryOperations(browser: Browser, { url, key }: Reader): Promise<string[]> {
  await using context = await browser.newContext({ viewport: { width: 1_280, height: 900 } });
  context.setDefaultTimeout(timeoutMs);
  const page = await context.newPage();
  const faults: string[] = [];
  const expect = (holds: boolean, fault: string) => {
    if (!holds) faults.push(fault);
  };
  const sentTo = new Set<string>();
  page.on('request', (request) => {
    if (request.headers()['authorization']?.includes(key)) sentTo.add(new URL(request.url()).origin);
  });
  const open = (section: string) => page.goto(`${url}/docs/reference/${section}`, { waitUntil: 'load' });

  await open('listings');
  expect((await send(page, '/v1/listings')).startsWith('Enter your API key first'), 'without a key a request is sent');
  expect((await page.evaluate<string>('document.activeElement?.id')) === 'your-key', 'the field of the key has no focus');
  await page.locator('[data-key]').fill(`Bearer ${key}`);
  expect((await send(page, '/v1/listings')).startsWith('200'), 'the form of a search, as it is, is not 200');
  await open('pets');
  expect((await send(page, '/v1/pets')).startsWith('200'), 'on the next page, the key has to be entered again');
  await page.locator('[data-forget]').click();
  const left = await page.evaluate<string>('JSON.stringify([sessionStorage, localStorage, document.cookie])');
  expect(!left.includes(key), 'the key is still stored after it was forgotten');
  await page.reload();
  expect((await page.locator('[data-key]').inputValue()) === '', 'the key is back after it was forgotten');
  expect([...sentTo].join() === new URL(url).origin, `the key is sent to ${[...sentTo].join(', ') || 'nobody'}`);
  return faults;
}

/** Sends the form of the operation that reads this path, and returns what it says of the response. */
async function send(page: Page, path: string): Promise<string> {
  const form = page.locator(`form.try[data-method=GET][data-path="${path}"]`);
  await form.locator('.send').click();
  const outcome = form.locator('[data-outcome]');
  await outcome.filter({ hasText: /key first|requests remain|No response/ }).waitFor();
  return outcome.innerText();
}
