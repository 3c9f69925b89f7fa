// An adopter uses the example site: sends the form with a mistake, sends a valid request, requests an animal that was just taken, applies
// for one whose shelter chooses, and withdraws.
import type { Page } from 'playwright-core';
import type { Look, Visitor } from './page-visitor.ts';

export interface Inputs {
  readonly site: string;
  /** The ids of two available animals. */
  readonly wanted: number;
  readonly contested: number;
  /** The id of one whose shelter takes applications. */
  readonly chosen: number;
  /** Orders the contested animal for another adopter. */
  takeAway(): Promise<void>;
}

export interface Journey {
  /**
   * The statuses of the form with a mistake, the valid request, the request that comes too late, an application with a mistake, a valid
   * one, that one after it was withdrawn, and a missing page.
   */
  readonly statuses: readonly number[];
  readonly looks: readonly Look[];
}

export const expectedStatuses = [400, 200, 409, 400, 200, 200, 404];

const mistaken = { name: 'Ada Lovelace', email: 'ada' };
const right = { name: 'Ada Lovelace', email: 'ada@example.org' };

const isNews = ({ pathname }: URL): boolean => pathname === '/live';

/** Calls `look`, if it is given, on each of these pages. */
export async function askForAnimals(page: Page, inputs: Inputs, look?: (name: string) => Promise<Look>): Promise<Journey> {
  const statuses: number[] = [];
  const looks: Look[] = [];
  const note = async (name: string, status: number) => {
    statuses.push(status);
    if (look) looks.push(await look(name));
  };
  // The site would notify the open page that its animal is taken. Block that, so that the request is still sent.
  await page.route(isNews, (route) => route.fulfill({ status: 204 }));
  await page.goto(`${inputs.site}/animals/${inputs.wanted}`);
  await note('a mistake in the form', await send(page, mistaken));
  await note('the request', await send(page, right));
  await page.goto(`${inputs.site}/animals/${inputs.contested}`);
  await inputs.takeAway();
  await note('a request too late', await send(page, right));
  await page.goto(`${inputs.site}/animals/${inputs.chosen}/apply`);
  await note('a mistake in the application', await send(page, mistaken));
  await page.locator('#question-home').check();
  await page.locator('#question-garden').check();
  await page.locator('#question-fence').check();
  await page.locator('#question-away').fill('3');
  await page.locator('#question-why').fill('A quiet house at the end of a road.');
  await note('the application', await send(page, right));
  await page.locator('main a[href$="/withdraw"]').click();
  await page.waitForURL('**/withdraw');
  await note('the application, withdrawn', await send(page, {}));
  await note('not found', (await page.goto(`${inputs.site}/nowhere`))?.status() ?? 0);
  await page.unroute(isNews);
  return { statuses, looks };
}

export const askWhileLooking = (visitor: Visitor, inputs: Inputs): Promise<Journey> =>
  askForAnimals(visitor.page, inputs, (name) => visitor.look(`example, ${name}`));

async function send(page: Page, fields: Readonly<Record<string, string>>): Promise<number> {
  for (const [name, value] of Object.entries(fields)) await page.locator(`form input[name=${name}]`).fill(value);
  // Turn the browser's own validation off, so that the site's error message is tested.
  await page.evaluate(`document.querySelector('form').noValidate = true`);
  const loaded = page.waitForEvent('load');
  const responded = page.waitForResponse((response) => response.request().isNavigationRequest() && response.status() !== 303);
  await page.locator('form button[type=submit]').click();
  const [response] = await Promise.all([responded, loaded]);
  return response.status();
}
