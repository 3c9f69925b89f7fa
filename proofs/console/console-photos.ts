// What the page of an animal's photos says of files that are not accepted.
import type { Page } from 'playwright-core';
import type { Claim } from '../proof.ts';
import type { ConsoleCast } from './console-cast.ts';
import type { ChosenFile } from './console-hands.ts';

const addForm = 'form[action="/animals/add"]';
const wrong = '[data-sent] .wrong';
const bytesMax = 20_000_000;
const pressableSecondsMax = 12;
/** As the script has it. */
const stalledMs = 60_000;

const jpegOf = (name: string, bytes: number): ChosenFile => ({ name, mimeType: 'image/jpeg', buffer: Buffer.alloc(bytes, 'x') });

/** The page is that of somebody who is signed in, and who is not afterwards. */
export async function rejectedPhotosClaim(page: Page, cast: ConsoleCast): Promise<Claim> {
  await fillIn(page, cast, 'Merry');
  await page.locator(`${addForm} button`).click();
  await page.locator(`${addForm} ~ p a[href^="/animals/"]`).click();
  await page.locator('a.button[href$="/photos"]').click();
  await page.locator('#photo').waitFor();
  const faults: string[] = [];
  let count = 0;
  const send = async (file: ChosenFile, says: string) => {
    await page.locator('#photo').setInputFiles(file);
    await page.locator(wrong).nth(count).waitFor();
    const words = (await page.locator(wrong).nth(count).textContent()) ?? '';
    count += 1;
    if (!words.includes(says)) faults.push(`${file.name}: ${words}`);
  };
  await send({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Only words') }, 'This is no photo.');
  await send(jpegOf('huge.jpg', bytesMax + 1), 'It has more than 20 MB.');
  await send(jpegOf('broken.jpg', 1_000), 'This is no JPEG, PNG or WebP, or is damaged.');
  await page.route('**/photos/file', (route) => route.fulfill({ status: 413, contentType: 'text/html', body: '<h1>413</h1>' }), {
    times: 1,
  });
  await send(jpegOf('proxy.jpg', 1_000), 'It has more than 20 MB.');
  // It leads nowhere: the script gives up after a minute.
  await page.clock.install();
  await page.route('**/photos/file', () => {}, { times: 1 });
  await page.locator('#photo').setInputFiles(jpegOf('dead.jpg', 1_000));
  await page.locator('[data-sent] progress:not([hidden])').waitFor();
  await page.clock.fastForward(stalledMs + 1_000);
  await send(jpegOf('after.jpg', 1_000), 'The connection was lost.');
  count += 1;
  const mayTry = await page.locator('[data-sent] li', { hasText: 'dead.jpg' }).getByRole('button', { name: 'Try again' }).isVisible();
  if (!mayTry) faults.push('dead.jpg: it can not be tried again');
  await page.context().clearCookies();
  await send(jpegOf('late.jpg', 1_000), 'You are signed out.');
  return {
    claim:
      'Files that are no photo, too large, damaged, too large for a proxy, sent on a dead line, or after signing out, without the reason in words',
    bar: '0',
    figure: faults.length === 0 ? '0' : faults.join('; '),
    holds: faults.length === 0,
  };
}

/** Somebody presses a button, and stops the browser since the line is slow: after 10 s the button can be pressed again. */
export async function stoppedFormClaim(page: Page, cast: ConsoleCast): Promise<Claim> {
  await fillIn(page, cast, 'Pippin');
  const button = page.locator(`${addForm} button`);
  await page.route('**/animals/add', (route) => route.abort('aborted'), { times: 1 });
  await button.click();
  await page.locator(`${addForm} button:disabled`).waitFor();
  const pressedAtMs = performance.now();
  await page.locator(`${addForm} button:enabled`).waitFor();
  const seconds = (performance.now() - pressedAtMs) / 1_000;
  await button.click();
  await page.locator(`${addForm} ~ p a[href^="/animals/"]`).waitFor();
  return {
    claim: 'After a form was stopped on its way, the seconds until its button can be pressed again; then it is carried out',
    bar: `≤ ${pressableSecondsMax}`,
    figure: seconds.toFixed(0),
    holds: seconds <= pressableSecondsMax,
  };
}

/** The form of a new animal, which is folded on a phone. */
async function fillIn(page: Page, { url }: ConsoleCast, name: string): Promise<void> {
  await page.goto(`${url}/animals`);
  await page.locator('.quick summary').click();
  await page.locator(`${addForm} [name=name]`).fill(name);
  await page.locator(`${addForm} [name=categoryId]`).selectOption({ label: 'Dogs' });
}
