// What Lighthouse gives a page, as on a mid-range phone on a slow network.
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../../testkit/browser.ts';
import { freePort } from '../../testkit/servers.ts';

export interface Score {
  readonly url: string;
  /** Of 100; the median of its runs, or the best where once is enough. */
  readonly performance: number;
  /** Of 100; the lowest of its runs. */
  readonly accessibility: number;
}

interface ScoreOptions {
  /** Where one run reaches the mark, it is left at that: a busy machine makes a page slower, never faster. */
  readonly isOnceEnough: boolean;
  readonly performanceMin: number;
}

const runsMax = 3;

/** One page after another, in a browser of its own: whatever runs beside it would be measured too. */
export async function scorePages(
  urls: readonly string[],
  { isOnceEnough, performanceMin }: ScoreOptions,
  progress: (text: string) => void,
): Promise<Score[]> {
  const port = await freePort();
  await using _: Browser = await launchBrowser({ debuggingPort: port });
  const scores: Score[] = [];
  for (const url of urls) {
    const results: Array<Omit<Score, 'url'>> = [];
    const isEnough = () => isOnceEnough && (results.at(-1)?.performance ?? 0) >= performanceMin;
    while (results.length < runsMax && !isEnough()) {
      progress(`Lighthouse, page ${scores.length + 1} of ${urls.length}`);
      results.push(await score(url, port));
    }
    const performances = results.map(({ performance }) => performance).sort((a, b) => a - b);
    scores.push({
      url,
      performance: performances.at(isOnceEnough ? -1 : Math.floor(results.length / 2)) ?? 0,
      accessibility: Math.min(...results.map(({ accessibility }) => accessibility)),
    });
  }
  return scores;
}

async function score(url: string, port: number): Promise<Omit<Score, 'url'>> {
  // Loaded when it is needed: every proof is loaded by each run, and this takes seconds.
  const { default: lighthouse } = await import('lighthouse');
  const result = await lighthouse(url, {
    port,
    logLevel: 'silent',
    onlyCategories: ['performance', 'accessibility'],
    disableFullPageScreenshot: true,
  });
  if (!result || result.lhr.runtimeError) throw new Error(`Lighthouse can't judge ${url}: ${result?.lhr.runtimeError?.message}`);
  const { categories } = result.lhr;
  return { performance: percent(categories['performance']?.score), accessibility: percent(categories['accessibility']?.score) };
}

const percent = (score: number | null | undefined): number => Math.round((score ?? 0) * 100);
