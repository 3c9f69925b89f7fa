// What somebody of a shelter does in a day, as far as the console has it: at 390 px with a finger, and by keyboard alone.

import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import type { Claim } from '../proof.ts';
import type { ConsoleCast } from './console-cast.ts';
import { addAuthenticator, type ChosenFile, finger, type Hands, isFocused, keyboard, openPhone } from './console-hands.ts';
import { rejectedPhotosClaim, stoppedFormClaim } from './console-photos.ts';

/** With a passkey, from the page that asks for it. */
const phoneSecondsMax = 30;
const keyboardSecondsMax = 60;
const photosMs = 60_000;
const addForm = 'form[action="/animals/add"]';
/** Folded on a phone. */
const unfold = '.quick summary';
const desk = 'form[action="/applications/new"]';
const adopter = 'Emma Example';
const cards = '[data-photos] > li';

/** At 390 px, with a finger. */
export async function dayOnPhone(browser: Browser, cast: ConsoleCast): Promise<Claim[]> {
  await using context = await openPhone(browser);
  const page = await context.newPage();
  const hands = finger(page);
  await addAuthenticator(context, page);
  await enterByLink(page, hands, cast);
  await hands.fill('#passkey-name', 'My phone');
  await Promise.all([page.waitForEvent('load'), hands.press('[data-passkey=create] button')]);
  await Promise.all([page.waitForEvent('load'), hands.press('text=Sign out')]);
  const day = await dayClaims(page, hands, {
    how: 'At 390 px, with a finger',
    animal: 'Biscuit',
    colours: ['tan', 'peru'],
    first: '[data-passkey=get] button',
    secondsMax: phoneSecondsMax,
  });
  // The last one ends with somebody who is signed out.
  return [...day, await firstScreenClaim(page, cast), await stoppedFormClaim(page, cast), await rejectedPhotosClaim(page, cast)];
}

/** Above the navigation, which is at the bottom of the screen. */
async function firstScreenClaim(page: Page, { url }: ConsoleCast): Promise<Claim> {
  await page.goto(`${url}/animals`);
  const ends = await page.evaluate<[number, number]>(
    `['tbody tr', '.places'].map((one) => document.querySelector(one).getBoundingClientRect()).map(({ top, bottom }, i) => i === 0 ? bottom : top)`,
  );
  const [row = 0, places = 0] = ends.map(Math.round);
  return {
    claim: 'At 390 × 844: where the first animal of the list ends, in pixels from the top, and where the navigation begins',
    bar: 'the whole animal is on the first screen',
    figure: `${row}; ${places}`,
    holds: row > 0 && row <= places,
  };
}

/** At a desk, without a mouse. */
export async function dayByKeyboard(browser: Browser, cast: ConsoleCast): Promise<Claim[]> {
  await using context = await browser.newContext({ viewport: { width: 1_280, height: 900 } });
  const page = await context.newPage();
  const hands = keyboard(page);
  await enterByLink(page, hands, cast);
  const day = await dayClaims(page, hands, {
    how: 'By keyboard alone',
    animal: 'Nala',
    colours: ['teal', 'navy'],
    first: '.places a[href="/"]',
    secondsMax: keyboardSecondsMax,
  });
  return [...day, await keysClaim(page, cast)];
}

interface Day {
  readonly how: string;
  readonly animal: string;
  readonly colours: readonly [string, string];
  /** What leads to the page of today. */
  readonly first: string;
  readonly secondsMax: number;
}

async function enterByLink(page: Page, hands: Hands, cast: ConsoleCast): Promise<void> {
  await page.goto(await cast.makeLink(cast.keeper));
  await Promise.all([page.waitForEvent('load'), hands.press('form button')]);
}

async function dayClaims(page: Page, hands: Hands, { how, animal, colours, first, secondsMax }: Day): Promise<Claim[]> {
  const seen: string[] = [];
  const press = async (selector: string) => {
    await Promise.all([page.waitForEvent('load'), hands.press(selector)]);
    seen.push((await page.locator('h1').textContent()) ?? '');
  };
  const startedAtMs = performance.now();
  await press(first);
  await press('.places a[href="/animals"]');
  if (await page.locator(unfold).isVisible()) await hands.press(unfold);
  await hands.fill(`${addForm} [name=name]`, animal);
  await hands.pick(`${addForm} [name=categoryId]`, 'Dogs');
  await press(`${addForm} button`);
  await press(`${addForm} ~ p a[href^="/animals/"]`);
  await press('a.button[href$="/photos"]');
  await hands.choose('#photo', await Promise.all(colours.map(photoOf)));
  for (const place of [1, 2]) await page.locator(`${cards}[data-state=ready]:nth-child(${place})`).waitFor({ timeout: photosMs });
  const before = await orderOf(page);
  await press(`${cards}:nth-child(2) button[value="0"]`);
  const after = await orderOf(page);
  await press('a.crumb');
  await press('a[href^="/applications/new?pet="]');
  await hands.fill(`${desk} [name=name]`, adopter);
  await hands.fill(`${desk} [name=email]`, `${animal.toLowerCase()}@adopters.example`);
  await hands.tick(`${desk} [name$=_home][value="House with a garden"]`);
  await hands.fill(`${desk} [name$=_fence]`, '1.80 m');
  await hands.tick(`${desk} [name$=_children][value=true]`);
  await hands.fill(`${desk} [name$=_alone]`, 'Two. My mother comes by.');
  await press(`${desk} button`);
  await press('a.button[href$="/accept"]');
  await press('form[action$="/accept"] button');
  const headings = seen.length;
  await press('a.button[href$="/hand-over"]');
  await press('form[action$="/complete"] button');
  const clicks = seen.length - headings;
  const seconds = (performance.now() - startedAtMs) / 1_000;
  await page.locator('.facts a[href^="/animals/"]').click();
  const state = (await page.locator('.head .label').textContent()) ?? '';
  const expected = [
    ...['Today', 'Animals', 'Animals', animal, `Photos of ${animal}`, `Photos of ${animal}`, animal, `New application for ${animal}`],
    ...[`${adopter} for ${animal}`, `Promise ${animal} to ${adopter}?`, `${adopter} for ${animal}`],
    ...[`Hand ${animal} over to ${adopter}?`, `${animal} for ${adopter}`],
  ].join(', ');
  const isMoved = before.length === 2 && before.toReversed().join() === after.join();
  return [
    {
      claim: `${how}: add an animal, open it, send two photos, make the second the first, enter an application, accept it, and hand the animal over; the headings on the way`,
      bar: expected,
      figure: seen.join(', '),
      holds: seen.join(', ') === expected,
    },
    {
      claim: `${how}: clicks from the acceptance to the hand-over; the animal then`,
      bar: '2; Adopted',
      figure: `${clicks}; ${state}`,
      holds: clicks === 2 && state === 'Adopted',
    },
    {
      claim: `${how}: the photos that are shown then; in another order`,
      bar: '2; yes',
      figure: `${after.length}; ${isMoved ? 'yes' : 'no'}`,
      holds: after.length === 2 && isMoved,
    },
    {
      claim: `${how}: how long that takes, with the processing of the photos`,
      bar: `≤ ${secondsMax} s`,
      figure: `${seconds.toFixed(1)} s`,
      holds: seconds <= secondsMax,
      isTimed: true,
    },
  ];
}

/** The single keys, of which each must do one thing, and none while somebody types or when they are off. */
async function keysClaim(page: Page, cast: ConsoleCast): Promise<Claim> {
  const faults: string[] = [];
  const expect = async (what: string, isSo: Promise<boolean> | boolean) => void ((await isSo) || faults.push(what));
  const key = (one: string) => page.keyboard.press(one);
  await page.goto(`${cast.url}/animals`);
  await key('j');
  await expect('j leads to the first row', isFocused(page, '[data-row]'));
  await key('j');
  await key('k');
  await expect('k leads back', page.evaluate<boolean>('document.activeElement === document.querySelector("[data-row]")'));
  await Promise.all([page.waitForEvent('load'), key('Enter')]);
  await expect('Enter opens the row', /\/animals\/\d+$/.test(page.url()));
  await page.goto(`${cast.url}/animals`);
  await key('/');
  await expect('/ leads to the search', isFocused(page, '[data-key="/"]'));
  await page.keyboard.type('j?n');
  await expect('letters in a field are written', page.evaluate<boolean>('document.activeElement.value === "j?n"'));
  await page.goto(`${cast.url}/animals`);
  await key('n');
  await expect('n leads to the new animal', isFocused(page, '[data-key="n"]'));
  await page.goto(`${cast.url}/me`);
  await key('?');
  await page.locator('dialog[open]').waitFor();
  await key('Escape');
  await expect(
    'Escape closes the keys',
    page
      .locator('dialog')
      .waitFor({ state: 'detached' })
      .then(() => true),
  );
  await page.goto(`${cast.url}/keys`);
  await page.locator('[data-keys-setting] input').press('Space');
  await page.goto(`${cast.url}/animals`);
  await key('j');
  await expect('no key acts once they are off', isFocused(page, 'body'));
  return {
    claim:
      'By keyboard alone: keys that move, search, add, open and close, that are letters in a field, and that can be turned off; faults',
    bar: '0',
    figure: faults.length === 0 ? '0' : faults.join('; '),
    holds: faults.length === 0,
  };
}

const orderOf = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`[...document.querySelectorAll('${cards}')].filter((card) => card.querySelector('img')).map(({ id }) => id)`);

export async function photoOf(background: string): Promise<ChosenFile> {
  const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
  const buffer = await sharp({ create: { width: 1_600, height: 1_200, channels: 3, background, noise } })
    .jpeg()
    .toBuffer();
  return { name: `${background}.jpg`, mimeType: 'image/jpeg', buffer };
}
