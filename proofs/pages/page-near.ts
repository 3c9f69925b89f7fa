// A visitor of the example site searches near where they are.
import type { Browser } from 'playwright-core';

const place = { latitude: 53.274123, longitude: -9.049123 };
/** All that the site may learn of the place. */
const rounded = '53.27,-9.05';
const timeoutMs = 20_000;

const countRequests = `
  globalThis.placeRequests = 0;
  const ask = navigator.geolocation.getCurrentPosition.bind(navigator.geolocation);
  navigator.geolocation.getCurrentPosition = (...args) => { placeRequests += 1; ask(...args); };
`;

/** Presses the button, with the browser's permission and without. Returns the faults. */
export async function searchNearMe(browser: Browser, site: string): Promise<string[]> {
  const faults: string[] = [];
  for (const isAllowed of [true, false]) {
    await using context = await browser.newContext({ geolocation: place, permissions: isAllowed ? ['geolocation'] : [] });
    context.setDefaultTimeout(timeoutMs);
    await context.addInitScript({ content: countRequests });
    const page = await context.newPage();
    const sent: string[] = [];
    page.on('request', (request) => sent.push(decodeURIComponent(request.url())));
    await page.goto(site, { waitUntil: 'load' });
    const button = page.locator('#near-me');
    await button.waitFor();
    if ((await page.evaluate<number>('placeRequests')) > 0) faults.push('the browser is asked before the button is pressed');
    await button.click();
    if (isAllowed) {
      await page.waitForURL((url) => url.searchParams.get('near') === rounded);
      if (!(await page.locator('.card .place').first().innerText()).endsWith(' km away')) faults.push('the list has no distances');
      if (sent.some((url) => url.includes('53.274'))) faults.push('more than the nearest kilometre is sent');
    } else {
      await page.getByText('Choose a town instead', { exact: true }).waitFor();
      if (new URL(page.url()).search !== '') faults.push('without permission a search is sent');
    }
  }
  return faults;
}
