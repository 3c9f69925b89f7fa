// A litter of four comes in: each with a profile and two photos, at 390 px with a finger. What is counted are taps, and not what is typed.

import type { Browser, Page } from 'playwright-core';
import type { Claim } from '../proof.ts';
import type { ConsoleCast } from './console-cast.ts';
import { photoOf } from './console-day.ts';
import { countingTaps, finger, openPhone } from './console-hands.ts';

const tapsMax = 40;
const photosMs = 60_000;
const puppies = ['Anis', 'Dill', 'Fenchel', 'Safran'];
const facts = ['about 8 weeks', 'Beagle', 'Small', 'brown, white', 'Children and cats', 'Vaccinated'];

/** With the page before each step, for who wants to look at it. */
export async function kennelOnPhone(
  browser: Browser,
  cast: ConsoleCast,
  look?: (page: Page, name: string) => Promise<void>,
): Promise<Claim[]> {
  await using context = await openPhone(browser);
  const page = await context.newPage();
  const { hands, taps } = countingTaps(finger(page));
  await page.goto(await cast.makeLink(cast.keeper));
  await Promise.all([page.waitForEvent('load'), page.locator('form button').tap()]);
  await page.goto(`${cast.url}/`);
  const press = async (selector: string) => {
    await Promise.all([page.waitForEvent('load'), hands.press(selector)]);
  };
  await press('.places a[href="/animals"]');
  await hands.press('.quick summary');
  await look?.(page, 'animals');
  await press('a[href="/animals/litter"]');
  await look?.(page, 'litter');
  await hands.fill('[name=maleNames]', puppies.slice(0, 2).join('\n'));
  await hands.fill('[name=femaleNames]', puppies.slice(2).join('\n'));
  await hands.pick('[name=categoryId]', 'Dogs');
  await hands.fill('textarea[name=description]', 'Born in a barn, raised by hand, and curious about everything.');
  await hands.fill('[name=breedPrimary]', 'Beagle');
  await hands.fill('[name=age]', '8 weeks');
  await hands.pick('[name=size]', 'Small');
  await hands.fill('[name=colors]', 'brown, white');
  await hands.pick('[name=children]', 'Yes');
  await hands.pick('[name=cats]', 'Yes');
  await hands.pick('[name=vaccinated]', 'Yes');
  await look?.(page, 'litter-filled');
  await press('form[action="/animals/litter/add"] button');
  await look?.(page, 'new-photos');
  const colours = ['dimgray', 'slategray'];
  const ids = await page.evaluate<string[]>(`[...document.querySelectorAll('[data-upload]')].map(({ id }) => id.replace('animal-', ''))`);
  for (const id of ids) await hands.choose(`#photo-${id}`, await Promise.all(colours.map(photoOf)));
  for (const id of ids) await page.locator(`#sent-${id} img:nth-of-type(${colours.length})`).waitFor({ timeout: photosMs });
  await look?.(page, 'new-photos-sent');
  await press('.content > p a[href="/animals"]');
  const count = taps();
  const shown: string[] = [];
  for (const [index, id] of ids.entries()) {
    await page.goto(`${cast.url}/animals/${id}`);
    const text = (await page.locator('main').textContent()) ?? '';
    const isWhole = facts.every((fact) => text.includes(fact)) && text.includes(index < 2 ? 'Male' : 'Female');
    const gaps = await page.locator('.gaps').count();
    const photos = await page.locator('.strip img').count();
    if (isWhole && gaps === 0 && photos === colours.length) shown.push((await page.locator('h1').textContent()) ?? '');
    if (index === 0) await look?.(page, 'puppy');
  }
  return [
    {
      claim: 'At 390 px, with a finger: four puppies with a profile and two photos each; those of whom nothing is missing',
      bar: puppies.join(', '),
      figure: shown.join(', '),
      holds: shown.join() === puppies.join(),
    },
    {
      claim: 'At 390 px, with a finger: taps for all four, from Today',
      bar: `≤ ${tapsMax}`,
      figure: String(count),
      holds: count <= tapsMax,
    },
  ];
}
