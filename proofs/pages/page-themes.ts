// The theme that a reader chooses with the switch, against the scheme of the system.
import type { Page } from 'playwright-core';
import { findBarriers } from './page-barriers.ts';

const other = { light: 'dark', dark: 'light' } as const;

/** Chooses the light and the dark theme while the system has the other scheme, and then the system's again. Returns the faults. */
export async function tryThemes(page: Page): Promise<string[]> {
  const themeSwitch = page.locator('[data-theme-switch]');
  if (!(await themeSwitch.isVisible())) return ['there is no theme switch'];
  const faults: string[] = [];
  const backgrounds = { light: await backgroundIn(page, 'light'), dark: await backgroundIn(page, 'dark') };
  for (const theme of ['light', 'dark'] as const) {
    await themeSwitch.click();
    const shown = await backgroundIn(page, other[theme]);
    const stored = await page.evaluate<string>(`localStorage.getItem('homeward-theme')`);
    if (shown !== backgrounds[theme] || shown === backgrounds[other[theme]]) faults.push(`the ${theme} theme is not shown`);
    if (stored !== theme) faults.push(`the ${theme} theme is stored as ${stored}`);
    faults.push(...(await findBarriers(page, { rules: ['color-contrast'] })).map((barrier) => `${barrier} in the ${theme} theme`));
  }
  await themeSwitch.click();
  if ((await backgroundIn(page, 'light')) !== backgrounds.light) faults.push("the system's scheme is not shown again");
  return faults;
}

async function backgroundIn(page: Page, colorScheme: 'light' | 'dark'): Promise<string> {
  await page.emulateMedia({ colorScheme });
  return page.evaluate<string>(`getComputedStyle(document.body).backgroundColor`);
}
