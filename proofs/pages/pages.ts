// Checks every page that the store serves, and the pages of the example adoption site, in a real browser.
import { globSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchBrowser } from '../../testkit/browser.ts';
import { HttpClient } from '../../testkit/http.ts';
import { Store } from '../../testkit/store.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import { ensureBuilt } from '../../tools/build.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { askForAnimals, askWhileLooking } from './page-adoption.ts';
import { type Findings, judge, judgeScores } from './page-claims.ts';
import { searchNearMe } from './page-near.ts';
import { loadLighthouse, scorePages } from './page-scores.ts';
import { trySearch } from './page-search.ts';
import { openShop, openSite, type Shop } from './page-shop.ts';
import { type Expectation, findMissingWords, wordsOf } from './page-texts.ts';
import { type Tour, tour } from './page-tour.ts';
import { tryOperations } from './page-try.ts';
import { Visitor } from './page-visitor.ts';
import { weighPages } from './page-weights.ts';

const visitorCount = 3;
const guides = globSync('docs/guides/*.md', { cwd: fileURLToPath(new URL('../..', import.meta.url)) }).map((file) =>
  path.basename(file, '.md'),
);

/** The pages of the documentation whose code blocks, themes and bytes the short form checks. */
const samples = ['/docs', '/docs/quickstart', '/docs/reference/categories', '/docs/errors/pet_not_available'];
/** A page of each kind, at which the short form looks whole: at the other guides and operations it only glances. */
const ofEachKind = [...samples, '/docs/errors', '/docs/reference', '/docs/reference/event-types', '/docs/nowhere'];

/** Lists of animals and pages of error codes are numerous and alike, so the short form opens only some of each kind. */
const sampleSize = 1;
/** Animals with photos; 24 are the first page of the list. */
const picturedMax = { short: 12, long: 24 };
/** A search on the example site. */
const filtered = '/?good=children&near=53.27%2C-9.05&within=200';

export const pages: Proof = {
  name: 'pages',
  promise:
    'every page is accessible, light and searchable, fits any screen, works without JavaScript, and loads nothing from other origins',
  /**
   * The mutant: a stylesheet from another origin, an inline script, text with low contrast, an element that is too wide, a
   * broken link, no description, results in the wrong order, a search that opens with another key, a code block without a button and
   * without colours, a theme that is not shown, a key that is not forgotten, text that is cut off, and a page that is too heavy.
   */
  mutant: [
    { file: 'platform/http/static/public-files.ts', from: "style-src 'self'", to: 'style-src *' },
    {
      file: 'docs-site/dist/docs.html',
      from: '<meta name="description"',
      to: '<link rel="stylesheet" href="http://127.0.0.1:9/serif.css"><script>document.title += "!";</script><meta name="absent"',
    },
    {
      file: 'docs-site/dist/docs.html',
      from: '<footer>',
      to: '<footer><font color="#bbbbbb">faint</font><a href="/docs/nowhere">Nowhere</a><figure class="code" data-language="sh"><pre>curl</pre></figure>',
    },
    {
      file: 'docs-site/dist/docs.html',
      from: '<main',
      to: `${[1, 2, 3].map((n) => `<link rel="preload" as="fetch" crossorigin href="/docs/assets/search-index.json?${n}">`).join('')}<hr width="900"><main`,
    },
    { file: 'docs-site/dist/docs/assets/search.js', from: 'search(query);', to: 'search(query).reverse();' },
    { file: 'docs-site/dist/docs/assets/try-it.js', from: 'storage?.removeItem', to: 'storage?.getItem' },
    { file: 'docs-site/dist/docs/assets/search.js', from: "event.key === '/'", to: "event.key === '?'" },
    {
      file: 'docs-site/dist/docs/assets/style.css',
      from: ':root[data-theme="dark"] {',
      to: 'footer { white-space: nowrap; overflow: hidden; }\n:root[data-theme="black"] {',
    },
  ],
  isNightly: true,
  about: ['docs-site', 'docs/guides', 'CHANGELOG.md', 'openapi.json', 'examples/adoption-site', 'proofs/pages'],
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  await ensureBuilt();
  progress('starting a store with animals');
  await using resources = new AsyncDisposableStack();
  const { path: photos } = resources.use(temporaryFolder('photos'));
  const env = { LOG_LEVEL: 'warn', HOMEWARD_PHOTOS: photos };
  const store = resources.use(await Store.open({ processes: 1, root, env }));
  store.work();
  const shop = await openShop(store, picturedMax[short ? 'short' : 'long']);
  await using site = await openSite(shop);
  const pictures = short ? undefined : mkdtempSync(path.join(tmpdir(), 'homeward-pages-'));
  const found = await lookAtAll(shop, site.url, { isThorough: !short, pictures }, progress);
  const claims = judge(found, guides, pictures);
  // A score takes a quarter of a minute, and one of a busy machine says little: only the long form, every night.
  if (short) return claims;
  const scored = [
    ...['', ...guides.map((name) => `/${name}`), '/reference', '/reference/pets'].map((page) => `${shop.url}/docs${page}`),
    site.url,
    `${site.url}${filtered}`,
    `${site.url}/animals/${shop.photographed}`,
    `${site.url}/animals/${shop.byApplication[0]}/apply`,
  ];
  return [...claims, ...judgeScores(await scorePages(await loadLighthouse(), scored, progress))];
}

async function lookAtAll(
  shop: Shop,
  site: string,
  options: { isThorough: boolean; pictures: string | undefined },
  progress: (text: string) => void,
): Promise<Findings> {
  await using browser = await launchBrowser();
  await using crowd = new AsyncDisposableStack();
  const visitors: Visitor[] = [];
  const isDocs = (path: string) => /^\/docs(\/|$)/.test(path);
  const isList = (path: string) => path.startsWith('/?') && path !== filtered;
  const hasFurniture = (path: string) => isDocs(path) && (options.isThorough || samples.includes(path));
  const isAlike = (path: string) => !options.isThorough && (isDocs(path) ? !ofEachKind.includes(path) : isList(path));
  for (let i = 0; i < visitorCount; i += 1)
    visitors.push(crowd.use(await Visitor.arrive(browser, { origins: [shop.url, site], hasFurniture, isAlike, ...options })));
  const kinds = new Map<string, Set<string>>();
  const isOneOf = (max: number, kind: string, { href }: URL) => {
    const seen = kinds.get(kind) ?? new Set();
    kinds.set(kind, seen);
    if (seen.size < max) seen.add(href);
    return seen.has(href);
  };
  const kindOfDocs = ({ pathname }: URL) => pathname.replace(/(?<=errors\/)\w+$/, 'N');
  const docs = await tour(visitors, {
    // The last one is linked only by response headers.
    start: ['/docs', '/llms.txt', '/docs/deprecations'].map((start) => shop.url + start),
    isPart: (url) => /^\/(docs(\/|$)|llms\.txt$)/.test(url.pathname),
    isWorthALook: (url) => options.isThorough || ofEachKind.includes(url.pathname) || isOneOf(sampleSize, kindOfDocs(url), url),
    progress,
  });
  const [wanted = 0, contested = 0, wantedToo = 0, contestedToo = 0, ...others] = shop.available;
  const [chosen = 0, chosenToo = 0, considered = 0] = shop.byApplication;
  const start = [
    '/',
    filtered,
    ...[others[0], shop.photographed, shop.pending[0], shop.sold[0], chosen, considered].map((id) => `/animals/${id}`),
    `/animals/${chosen}/apply`,
  ].map((at) => site + at);
  const example = await tour(visitors, {
    start,
    isPart: (url) => {
      if (start.includes(url.href)) return true;
      const isSearch = url.searchParams.size > 1;
      const names = isSearch && !options.isThorough ? 'several' : [...url.searchParams.keys()];
      const kind = `${url.pathname.replaceAll(/\d+/g, 'N')}?${names}`;
      // Filters can be combined in hundreds of ways.
      return (options.isThorough && !isSearch) || isOneOf(sampleSize, kind, url);
    },
    isWorthALook: () => true,
    progress,
  });
  const [visitor] = visitors;
  if (!visitor) throw new Error('there is no visitor');
  progress('adoptions');
  const journey = await askWhileLooking(visitor, { site, wanted, contested, chosen, takeAway: () => shop.order(contested) });
  await visitor.page.goto(`${shop.url}/docs/nowhere`);
  const lost = await visitor.look();

  await using plain = await browser.newContext({ javaScriptEnabled: false });
  const page = await plain.newPage();
  const plainJourney = await askForAnimals(page, {
    site,
    wanted: wantedToo,
    contested: contestedToo,
    chosen: chosenToo,
    takeAway: () => shop.order(contestedToo),
  });
  const expectations = await expectationsOf(shop, docs);
  progress('search');
  const search = await trySearch(browser, `${shop.url}/docs`);
  const weighed = docs.looks.map(({ url }) => url).filter((url) => options.isThorough || samples.includes(new URL(url).pathname));
  return {
    docs,
    example,
    journeys: [journey, plainJourney],
    nearMe: await searchNearMe(browser, site),
    looks: [...docs.looks, ...example.looks, ...journey.looks, lost],
    outside: visitors.flatMap((one) => one.outside),
    complaints: visitors.flatMap((one) => one.complaints),
    requests: visitors.reduce((sum, one) => sum + one.requests, 0),
    words: expectations.reduce((sum, { words }) => sum + words.length, 0),
    missingWords: await findMissingWords(page, expectations),
    search,
    forms: await tryOperations(browser, shop),
    weights: await weighPages(browser, weighed, progress),
  };
}

/** Each guide's page must show all words of the guide, and the reference the path and title of every operation. */
async function expectationsOf({ url }: Shop, docs: Tour): Promise<Expectation[]> {
  const reference = docs.pages.filter((one) => one.startsWith(`${url}/docs/reference`));
  using http = new HttpClient(1);
  const { paths } = JSON.parse((await http.send(`${url}/openapi.json`)).text) as {
    paths: Record<string, Record<string, { summary?: string }>>;
  };
  const operations = Object.entries(paths).flatMap(([at, methods]) => [at, ...Object.values(methods).map(({ summary = at }) => summary)]);
  const texts = guides.map(async (guide) => {
    const { text } = await http.send(`${url}/docs/${guide}.md`);
    return { urls: [`${url}/docs/${guide}`], words: wordsOf(text) };
  });
  return [...(await Promise.all(texts)), { urls: reference, words: [...new Set(operations)] }];
}
