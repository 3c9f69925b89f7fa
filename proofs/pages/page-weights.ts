// How many bytes a page transfers to a browser that has nothing of it yet.
import type { Browser } from 'playwright-core';

export interface Weight {
  readonly url: string;
  /** Of all responses with their headers: the page, styles, scripts, fonts and pictures. */
  readonly bytes: number;
}

/** Each page gets a browser context with an empty cache. */
export async function weighPages(browser: Browser, urls: readonly string[], progress: (text: string) => void): Promise<Weight[]> {
  const weights: Weight[] = [];
  for (const url of urls) {
    progress(`transferred bytes, page ${weights.length + 1} of ${urls.length}`);
    await using context = await browser.newContext({ viewport: { width: 1_280, height: 900 } });
    const page = await context.newPage();
    const network = await context.newCDPSession(page);
    let bytes = 0;
    network.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await network.send('Network.enable');
    await page.goto(url, { waitUntil: 'networkidle' });
    weights.push({ url, bytes });
  }
  return weights;
}
