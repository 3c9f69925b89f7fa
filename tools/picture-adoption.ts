// An animal is promised in one window, and another visitor's list shows it by itself: nobody reloads anything.
import type { Page } from 'playwright-core';
import type { Frame } from './picture-encoder.ts';
import { addresses, type Stage } from './picture-stage.ts';
import { barHeight, drawWindows, margin, type Pointer, pictureWidth, type Theme, viewportOf } from './picture-windows.ts';

const height = 450;
const left = { width: 470, height };
const right = { width: pictureWidth - left.width - 3 * margin, height };
const formView = viewportOf(840, left);
const listView = viewportOf(500, right);

/** The second theme adopts another animal, because the first one is promised by then. */
const wanted: Readonly<Record<Theme, string>> = { light: 'Charlie', dark: 'Nala' };
const adopter = { name: 'Ada Lovelace', email: 'ada@example.org' };
/** Typed at once, per frame. */
const typedMax = 3;

export async function recordAdoption(stage: Stage, theme: Theme): Promise<Frame[]> {
  const [list, desk] = await Promise.all([stage.visit(addresses.site, theme, listView), stage.openDesk(theme)]);
  await list.evaluate(`document.querySelector('.tabs').scrollIntoView()`);
  const card = list.locator('.card', { hasText: wanted[theme] }).first();
  const form = await stage.visit(`${addresses.site}${await card.locator('a').getAttribute('href')}`, theme, formView);

  const frames: Frame[] = [];
  let pointer: Pointer | undefined;
  const show = async (ms: number) => {
    const [asked, watched] = await Promise.all([form.screenshot(), list.screenshot()]);
    const windows = [
      { address: form.url(), screenshot: asked, width: left.width },
      { address: addresses.site, screenshot: watched, width: right.width },
    ];
    frames.push({ png: await drawWindows(desk, theme, windows, pointer), ms });
  };

  await show(1_500);
  await form.evaluate(`document.querySelector('#ask').scrollIntoView()`);
  await show(500);
  for (const [name, text] of Object.entries(adopter)) {
    for (let typed = 0; typed < text.length; typed += typedMax) {
      await form.locator(`#${name}`).pressSequentially(text.slice(typed, typed + typedMax));
      await show(110);
    }
  }
  pointer = await pointerAt(form, 'form button');
  await show(500);
  pointer = { ...pointer, isPressed: true };
  await show(200);
  await form.locator('form button').click();
  await form.waitForURL('**/adoptions/*');
  pointer = undefined;
  await show(400);
  await card.locator('.badge[data-status=pending]').waitFor();
  await show(3_400);
  return frames;
}

async function pointerAt(page: Page, selector: string): Promise<Pointer> {
  const box = await page.locator(selector).boundingBox();
  if (!box) throw new Error(`${selector} is not visible`);
  const shrink = left.width / formView.width;
  return {
    x: margin + (box.x + box.width * 0.7) * shrink,
    y: margin + barHeight + (box.y + box.height * 0.6) * shrink,
    isPressed: false,
  };
}
