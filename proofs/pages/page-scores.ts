// Lighthouse scores of pages, with its emulation of a mid-range phone on a slow network.
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../../testkit/browser.ts';
import { freePort } from '../../testkit/servers.ts';
import { installOnDemand } from '../../tools/install-on-demand.ts';

export interface Score {
  readonly url: string;
  /** From 0 to 100: the median of the runs. */
  readonly performance: number;
  /** From 0 to 100: the lowest of the runs. */
  readonly accessibility: number;
  readonly bestPractices: number;
  readonly seo: number;
}

/** The part of Lighthouse's types that is used here: the package is not installed with the project. */
type Lighthouse = (url: string, flags: object) => Promise<{ readonly lhr: LighthouseResult } | undefined>;

interface LighthouseResult {
  readonly runtimeError?: { readonly message: string };
  readonly categories: Record<string, { readonly score: number | null }>;
}

const lighthouseFolder = fileURLToPath(new URL('./lighthouse', import.meta.url));
const runsCount = 3;

interface ScoreOptions {
  /** Of each page. */
  readonly runs?: number;
  /** Sent with each request, such as the cookie of who is signed in. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Measures one page at a time, in a separate browser: other work would affect the scores. */
export async function scorePages(
  lighthouse: Lighthouse,
  urls: readonly string[],
  progress: (text: string) => void,
  { runs = runsCount, headers = {} }: ScoreOptions = {},
): Promise<Score[]> {
  const port = await freePort();
  await using _: Browser = await launchBrowser({ debuggingPort: port });
  const scores: Score[] = [];
  for (const url of urls) {
    const results: Array<Omit<Score, 'url'>> = [];
    while (results.length < runs) {
      progress(`Lighthouse, page ${scores.length + 1} of ${urls.length}`);
      results.push(await score(lighthouse, url, { port, headers }));
    }
    const lowest = (category: 'accessibility' | 'bestPractices' | 'seo') => Math.min(...results.map((result) => result[category]));
    const performances = results.map(({ performance }) => performance).sort((a, b) => a - b);
    scores.push({
      url,
      performance: performances[Math.floor(results.length / 2)] ?? 0,
      accessibility: lowest('accessibility'),
      bestPractices: lowest('bestPractices'),
      seo: lowest('seo'),
    });
  }
  return scores;
}

/** Installs Lighthouse when it is first needed. It is 180 MB, so `npm ci` does not install it. */
export async function loadLighthouse(): Promise<Lighthouse> {
  await installOnDemand(lighthouseFolder, 'Lighthouse (proofs/pages/lighthouse)');
  const entry = path.join(lighthouseFolder, 'node_modules/lighthouse/core/index.js');
  return ((await import(pathToFileURL(entry).href)) as { default: Lighthouse }).default;
}

async function score(
  lighthouse: Lighthouse,
  url: string,
  { port, headers }: { readonly port: number; readonly headers: object },
): Promise<Omit<Score, 'url'>> {
  const result = await lighthouse(url, {
    port,
    extraHeaders: headers,
    logLevel: 'silent',
    onlyCategories: ['performance', 'accessibility', 'best-practices', 'seo'],
    disableFullPageScreenshot: true,
  });
  if (!result || result.lhr.runtimeError) throw new Error(`Lighthouse can't measure ${url}: ${result?.lhr.runtimeError?.message}`);
  const { categories } = result.lhr;
  const of = (category: string) => percent(categories[category]?.score);
  return { performance: of('performance'), accessibility: of('accessibility'), bestPractices: of('best-practices'), seo: of('seo') };
}

const percent = (score: number | null | undefined): number => Math.round((score ?? 0) * 100);
