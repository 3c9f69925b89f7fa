// The console in pictures: for README.md a desk and a phone, for the guide of shelters what they do on their first day.
import type { Page } from 'playwright-core';
import { pictureSizes } from '../docs-site/src/markdown.ts';
import { addresses, type Stage } from './picture-stage.ts';
import { drawWindows, margin, pictureWidth, type Theme, viewportOf } from './picture-windows.ts';

const height = 490;
const phoneShown = { width: 232, height };
const deskShown = { width: pictureWidth - phoneShown.width - 3 * margin, height };
/** Four want it, and it is promised to nobody yet. */
const mostWanted = 'tr:has-text("Milo") a.button';
/** Of the guide. */
const guideScale = 1.5;

export async function drawConsole(stage: Stage, theme: Theme): Promise<Buffer> {
  const [desk, phone, table] = await Promise.all([
    stage.work(theme, viewportOf(1_020, deskShown)),
    stage.work(theme, viewportOf(390, phoneShown)),
    stage.openDesk(theme),
  ]);
  await goTo(desk, '/applications');
  await follow(desk, mostWanted);
  await goTo(phone, '/');
  const windows = [
    { address: `${addresses.console}${new URL(desk.url()).pathname}`, screenshot: await desk.screenshot(), width: deskShown.width },
    { address: addresses.console, screenshot: await phone.screenshot(), width: phoneShown.width },
  ];
  return drawWindows(table, theme, windows);
}

interface Picture {
  /** Below docs/guides/assets; its end says how large it is. */
  readonly name: string;
  readonly png: Buffer;
}

/** One after another, as somebody does it. */
export async function drawFirstDay(stage: Stage): Promise<Picture[]> {
  const pictures: Picture[] = [];
  const viewports = {
    phone: { ...pictureSizes.phone, scale: guideScale },
    desk: { ...pictureSizes.desk, scale: guideScale },
  };
  const take = async (page: Page, name: string) => void pictures.push({ name: `${name}.webp`, png: await page.screenshot() });

  const invited = await stage.visit(await stage.invite(), 'light', viewports.phone);
  await take(invited, 'welcome-phone');
  await Promise.all([invited.waitForURL('**/me'), invited.locator('form button').click()]);
  await take(invited, 'passkey-phone');

  const [phone, desk] = [await stage.work('light', viewports.phone), await stage.work('light', viewports.desk)];
  await goTo(phone, '/');
  await take(phone, 'today-phone');
  await goTo(desk, '/animals');
  await take(desk, 'animals-desk');

  await goTo(phone, '/animals');
  await phone.locator('.quick summary').click();
  await phone.locator('form[action="/animals/add"] [name=name]').fill('Pixie');
  await phone.locator('[name=categoryId]').selectOption({ label: 'Dogs' });
  await Promise.all([phone.waitForURL('**added=*'), phone.locator('form[action="/animals/add"] button').click()]);
  const animal = `/animals/${new URL(phone.url()).searchParams.get('added')}`;
  await goTo(phone, animal);
  await take(phone, 'gaps-phone');

  await goTo(phone, '/animals');
  await follow(phone, 'tr:has(img) a[data-row]');
  const pictured = new URL(phone.url()).pathname;
  await goTo(phone, `${pictured}/photos`);
  await phone.locator('#photos').evaluate('(heading) => heading.scrollIntoView()');
  await take(phone, 'photos-phone');

  await goTo(phone, `${animal}/hold`);
  await phone.locator('input[value=medical]').check();
  await take(phone, 'hold-phone');

  await goTo(desk, '/applications');
  await follow(desk, mostWanted);
  await take(desk, 'compare-desk');
  await goTo(phone, new URL(desk.url()).pathname);
  await follow(phone, 'a[href$="/accept"]');
  await take(phone, 'accept-phone');
  await goTo(desk, `${pictured}/card`);
  await take(desk, 'card-desk');
  return pictures;
}

async function goTo(page: Page, path: string): Promise<void> {
  await page.goto(new URL(path, page.url()).href);
  await untilItLooksWhole(page);
}

async function follow(page: Page, selector: string): Promise<void> {
  await Promise.all([page.waitForEvent('load'), page.locator(selector).first().click()]);
  await untilItLooksWhole(page);
}

async function untilItLooksWhole(page: Page): Promise<void> {
  await page.evaluate(
    `Promise.all([document.fonts.ready, ...[...document.images].filter((image) => image.getBoundingClientRect().top < innerHeight).map((image) => image.decode())]).then(() => true)`,
  );
}
