// What Lighthouse gives a page, as on a mid-range phone on a slow network.
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../../testkit/browser.ts';
import { freePort } from '../../testkit/servers.ts';
import { installOnDemand } from '../../tools/install-on-demand.ts';

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

/** What is used of Lighthouse, whose types are not installed with the project. */
type Lighthouse = (url: string, flags: object) => Promise<{ readonly lhr: LighthouseResult } | undefined>;

interface LighthouseResult {
  readonly runtimeError?: { readonly message: string };
  readonly categories: Record<string, { readonly score: number | null }>;
}

const lighthouseFolder = fileURLToPath(new URL('./lighthouse', import.meta.url));
const runsMax = 3;

/** One page after another, in a browser of its own: whatever runs beside it would be measured too. */
export async function scorePages(
  lighthouse: Lighthouse,
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
      results.push(await score(lighthouse, url, port));
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

/** 180 MB that nothing else needs, so it is not among the packages of `npm ci`. */
export async function loadLighthouse(): Promise<Lighthouse> {
  await installOnDemand(lighthouseFolder, 'Lighthouse (proofs/pages/lighthouse)');
  const entry = path.join(lighthouseFolder, 'node_modules/lighthouse/core/index.js');
  return ((await import(pathToFileURL(entry).href)) as { default: Lighthouse }).default;
}

async function score(lighthouse: Lighthouse, url: string, port: number): Promise<Omit<Score, 'url'>> {
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
