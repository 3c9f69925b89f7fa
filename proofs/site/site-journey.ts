// A visitor with a phone looks for an animal on the example site, asks for it, asks for more than the store allows, cancels, and comes back
// to favourites.
import type { Page } from 'playwright-core';
import type { Hand } from './site-hands.ts';

export interface Inputs {
  readonly site: string;
  /** Available, with several photos. It is available again after the journey. */
  readonly wanted: { readonly id: number; readonly name: string };
  /** Available animals: two to ask for, and one that is asked for in vain and then successfully. */
  readonly others: readonly [number, number, number];
  /** One that the store removes. */
  readonly removed: number;
  readonly email: string;
  readonly hasScripts: boolean;
  remove(petId: number): Promise<void>;
}

export interface Journey {
  /** Of each page that was loaded by a form. */
  readonly statuses: readonly number[];
  readonly faults: readonly string[];
  /** Where the first card began on each page of results, and where the count ended, in pixels. */
  readonly results: ReadonlyArray<{ readonly address: string; readonly card: number; readonly count: number }>;
  /** Pages to be looked at. */
  readonly seen: readonly string[];
}

/** Search, filter, four requests, the fourth again, and what is in between. */
export const expectedStatuses = [200, 200, 200, 200, 200, 409, 200, 200];

export async function useSite(page: Page, hand: Hand, inputs: Inputs, faults: string[]): Promise<Journey> {
  const { site, wanted, others, removed, email, hasScripts } = inputs;
  const statuses: number[] = [];
  const results: Array<Journey['results'][number]> = [];
  const seen: string[] = [];
  const expect = (holds: boolean, fault: string) => {
    if (!holds) faults.push(fault);
  };
  const text = async () => (await page.locator('main').innerText()).replaceAll(/\s+/g, ' ');
  const note = async (status: number) => {
    statuses.push(status);
    results.push({ address: page.url(), ...(await placeOfResults(page)) });
  };

  await page.goto(site);
  await hand.type('#q', wanted.name);
  await note(await hand.follow('form[role=search] button[type=submit]'));
  await hand.press('.filters summary');
  await hand.choose('#sort', 'Newest first');
  await note(await hand.follow('form[role=search] button[type=submit]'));
  seen.push(page.url());
  const { length: found } = await page.locator('#animals .card').all();
  expect(
    found > 0 && (await page.locator('h1.found').innerText()) === (found === 1 ? '1 animal' : `${found} animals`),
    'the count is wrong',
  );

  await hand.follow(`.card a[href="/animals/${wanted.id}"]`);
  seen.push(page.url());
  await lookAtPhotos(page, hand, hasScripts, expect);
  if (hasScripts) await likeAndShare(page, hand, expect);
  else
    expect(
      (await page.locator('.heart, [data-share]:visible, #to-favourites:visible').count()) === 0,
      'without JavaScript there are hearts that do nothing',
    );

  const ask = async (id: number) => {
    if (!page.url().endsWith(`/animals/${id}`)) await page.goto(`${site}/animals/${id}`);
    await hand.type('#name', 'Ada Lovelace');
    await hand.type('#email', email);
    return hand.follow('form.adoption button[type=submit]');
  };
  statuses.push(await ask(wanted.id));
  seen.push(page.url());
  const request = await text();
  expect(/until [A-Z][a-z]+day \d+ \w+ at \d\d:\d\d \([A-Z]\w+ time\)/.test(request), 'the deadline is not in the time of the shelter');
  expect((await page.locator('address a[href^="tel:"]').count()) > 0, 'the request does not say how to reach the shelter');
  await hand.follow(`main a[href="/animals/${wanted.id}"]`);
  const own = await text();
  expect(own.includes('reserved for you') && !/promised/i.test(own), "the visitor's own animal reads as promised");

  for (const id of others) statuses.push(await ask(id));
  expect((await text()).includes('Too many requests are open'), 'the fourth request is not explained');
  seen.push(page.url());
  await hand.follow('.outcome a');
  for (let back = 0; back < 3 && !(await page.locator('h1').innerText()).includes(wanted.name); back += 1) {
    await page.goBack();
    await hand.follow(`.outcome li:nth-child(${back + 2}) a`);
  }
  await hand.follow('main a[href$="/cancel"]');
  seen.push(page.url());
  statuses.push(await hand.follow('main form button[type=submit]'));
  expect((await text()).includes('You cancelled this request.'), 'the request is not cancelled');
  await page.goto(`${site}/animals/${wanted.id}`);
  expect(/needs a home/i.test(await text()), 'the animal is not available after the cancellation');
  statuses.push(await ask(others[2]));

  if (hasScripts) await comeBack(page, hand, { site, wanted, removed, remove: inputs.remove }, expect);
  return { statuses, faults, results, seen };
}

type Expect = (holds: boolean, fault: string) => void;

/** Without a script, a photo is a link to its file. */
async function lookAtPhotos(page: Page, hand: Hand, hasScripts: boolean, expect: Expect): Promise<void> {
  const photos = page.locator('.gallery > .slides a');
  if (!hasScripts) {
    const address = await photos.first().getAttribute('href');
    expect((await page.request.get(address ?? '')).headers()['content-type'] === 'image/webp', 'a photo does not lead to its file');
    await hand.press('.thumbs a:nth-child(2)');
    expect(
      (await photos.nth(1).boundingBox())?.x === (await page.locator('.gallery > .slides').boundingBox())?.x,
      'the second photo is not shown',
    );
    return;
  }
  const isOpen = () => page.locator('dialog.viewer[open]').isVisible();
  await hand.press('.gallery > .slides a');
  expect(await isOpen(), 'the photo does not open');
  await page.keyboard.press('ArrowRight');
  await page.getByText(/^2 of \d+$/).waitFor();
  await page.keyboard.press('Escape');
  expect(!(await isOpen()), 'Escape does not close the photo');
  const focused = await page.evaluate<string>(`document.activeElement.getAttribute('aria-label')`);
  expect(/photo 2 of/.test(focused), `the focus is not on the photo that was shown, but on ${focused}`);
  await page.keyboard.press('ArrowLeft');
  expect(
    /photo 1 of/.test(await page.evaluate<string>(`document.activeElement.getAttribute('aria-label')`)),
    'the left arrow does not lead back',
  );
}

async function likeAndShare(page: Page, hand: Hand, expect: Expect): Promise<void> {
  await hand.press('article .heart');
  expect((await page.locator('article .heart').getAttribute('aria-pressed')) === 'true', 'the heart is not set');
  expect((await page.locator('#to-favourites').innerText()).includes('(1)'), 'the favourites are not counted');
  await page.evaluate(`navigator.clipboard.writeText('nothing')`);
  await hand.press('[data-share]');
  await page.locator('#notice', { hasText: 'copied' }).waitFor();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(copied === (await page.locator('link[rel=canonical]').getAttribute('href')), `sharing copies ${copied}`);
}

/** One of the favourites is no longer there. */
async function comeBack(
  page: Page,
  hand: Hand,
  { site, wanted, removed, remove }: Pick<Inputs, 'site' | 'wanted' | 'removed' | 'remove'>,
  expect: Expect,
) {
  await page.goto(`${site}/animals/${removed}`);
  const name = await page.locator('h1').innerText();
  await hand.press('article .heart');
  await remove(removed);
  await hand.follow('#to-favourites');
  const cards = async () => (await page.locator('.card').all()).length;
  expect(
    (await cards()) === 1 && (await page.locator(`.card[data-animal="${wanted.id}"]`).count()) === 1,
    'the favourites are not those that were set',
  );
  expect((await page.locator('#gone').innerText()).startsWith(`${name} is no longer listed here`), 'the animal that is gone is not named');
  await Promise.all([page.waitForEvent('load'), hand.press('#gone button')]);
  expect((await page.locator('#gone').count()) === 0 && (await cards()) === 1, 'the animal that is gone stays a favourite');
  await hand.press('.card .heart');
  expect((await page.locator('#to-favourites').innerText()) === 'Favourites', 'a favourite can not be taken back');
}

const placeOfResults = async (page: Page): Promise<{ card: number; count: number }> => ({
  card: Math.round((await page.locator('.card').first().boundingBox())?.y ?? Number.POSITIVE_INFINITY),
  count: Math.round(bottomOf(await page.locator('.found').first().boundingBox())),
});

const bottomOf = (box: { y: number; height: number } | null): number => (box ? box.y + box.height : Number.POSITIVE_INFINITY);
