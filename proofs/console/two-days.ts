// What a kennel and an adoption desk do beside the day of `console-day.ts`: each task from the page of today, with the steps that it takes.
// A step is a press, a field or a choice; typing is not counted.

import type { Browser, Page } from 'playwright-core';
import type { Claim } from '../proof.ts';
import type { ConsoleCast } from './console-cast.ts';
import { countingTaps, finger, type Hands, keyboard, openPhone } from './console-hands.ts';

const stepsMax = 12;

interface Task {
  readonly name: string;
  readonly run: (hands: Hands, press: (selector: string) => Promise<void>) => Promise<void>;
  /** What the last page says then. */
  readonly says: string;
}

const save = 'main section:not(.undo) form button';
const kennel = (animal: string): readonly Task[] => [
  {
    name: 'a hold with a note',
    run: async (hands, press) => {
      await press('.places a[href="/animals"]');
      await press(`a[data-row][href="${animal}"]`);
      await press(`a[href="${animal}/hold"]`);
      await hands.tick('input[value=medical]');
      await hands.fill('textarea[name=note]', 'Eye drops, three times a day');
      await press(save);
    },
    says: 'On hold: medical',
  },
  {
    name: 'an age, from what is missing',
    run: async (hands, press) => {
      await press('.places a[href="/animals"]');
      await press(`a[data-row][href="${animal}"]`);
      await press('.gaps a[href$="#age"]');
      await hands.fill('#age', '10 weeks');
      await press('form[action$="/profile/save"] button');
    },
    says: 'about 10 weeks',
  },
];

const desk: readonly Task[] = [
  {
    name: 'another telephone number',
    run: async (hands, press) => {
      await press('.places a[href="/shelters"]');
      await press('main a[href$="/contact"]');
      await hands.fill('#phone', '+43 1 555 77 88');
      await press(save);
    },
    says: '+43 1 555 77 88',
  },
  {
    name: 'opening hours on Saturdays',
    run: async (hands, press) => {
      await press('.places a[href="/shelters"]');
      await press('main a[href$="/hours"]');
      await hands.fill('#saturday', '10:00-16:00');
      await press('form[action$="/hours/week"] button');
    },
    says: '10:00–16:00',
  },
  {
    name: 'a question',
    run: async (hands, press) => {
      await press('.places a[href="/shelters"]');
      await press('main a[href$="/questions"]');
      await press('a.button[href$="/questions/edit"]');
      await hands.fill('#text', 'Who looks after it during holidays?');
      await press(save);
    },
    says: 'Who looks after it during holidays?',
  },
  {
    name: 'a caller, by a part of a name',
    run: async (hands, press) => {
      await press('.places a[href="/applications"]');
      await hands.fill('form[action="/adopters"] [name=q]', 'muster');
      await press('form[action="/adopters"] button');
      await press('tbody tr:first-child a[data-row]');
    },
    says: 'Musterfrau',
  },
];

/** With a finger at 390 px. */
export async function tasksOnPhone(browser: Browser, cast: ConsoleCast): Promise<Claim> {
  await using context = await openPhone(browser);
  const page = await context.newPage();
  await enter(page, cast);
  const animal = await addAnimal(page, cast);
  return await tasksClaim('At 390 px, with a finger', page, cast, finger(page), kennel(animal));
}

/** At a desk, without a mouse. */
export async function tasksByKeyboard(browser: Browser, cast: ConsoleCast): Promise<Claim> {
  await using context = await browser.newContext({ viewport: { width: 1_280, height: 900 } });
  const page = await context.newPage();
  await enter(page, cast);
  return await tasksClaim('By keyboard alone', page, cast, keyboard(page), desk);
}

async function tasksClaim(how: string, page: Page, { url }: ConsoleCast, hands: Hands, tasks: readonly Task[]): Promise<Claim> {
  const done: string[] = [];
  let isShort = true;
  for (const { name, run, says } of tasks) {
    const counted = countingTaps(hands);
    await page.goto(`${url}/`);
    await run(counted.hands, async (selector) => {
      await Promise.all([page.waitForEvent('load'), counted.hands.press(selector)]);
    });
    const isSaid = (await page.content()).includes(says);
    isShort &&= isSaid && counted.taps() <= stepsMax;
    done.push(`${name} ${isSaid ? counted.taps() : 'not done'}`);
  }
  return { claim: `${how}: steps from Today to each task`, bar: `≤ ${stepsMax} each`, figure: done.join('; '), holds: isShort };
}

async function enter(page: Page, cast: ConsoleCast): Promise<void> {
  await page.goto(await cast.makeLink(cast.keeper));
  await Promise.all([page.waitForEvent('load'), page.locator('form button').click()]);
}

/** The path of its page. */
async function addAnimal(page: Page, { url }: ConsoleCast): Promise<string> {
  await page.goto(`${url}/animals`);
  await page.locator('.quick summary').click();
  await page.locator('form[action="/animals/add"] [name=name]').fill('Tuesday');
  await page.locator('form[action="/animals/add"] [name=categoryId]').selectOption({ label: 'Dogs' });
  await Promise.all([page.waitForEvent('load'), page.locator('form[action="/animals/add"] button').click()]);
  return `/animals/${new URL(page.url()).searchParams.get('added')}`;
}
