// Checks every page that the store serves, and the pages of the example adoption site, in a real browser.
import { globSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { castOf, place } from '../../testkit/adopters.ts';
import { launchBrowser } from '../../testkit/browser.ts';
import { HttpClient } from '../../testkit/http.ts';
import { type Edit, plantMutant } from '../../testkit/mutant.ts';
import { Store } from '../../testkit/store.ts';
import { ensureBuilt } from '../../tools/build.ts';
import { devAnimals } from '../../tools/dev-animals.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { askForAnimals, askWhileLooking, expectedStatuses, type Journey } from './page-adoption.ts';
import { loadLighthouse, type Score, scorePages } from './page-scores.ts';
import { type Expectation, findMissingWords, wordsOf } from './page-texts.ts';
import { type Tour, tour } from './page-tour.ts';
import { type Look, Visitor } from './page-visitor.ts';

const animalCount = 60;
const visitorCount = 3;
const performanceMin = 95;
const guides = globSync('docs/guides/*.md', { cwd: fileURLToPath(new URL('../..', import.meta.url)) }).map((file) =>
  path.basename(file, '.md'),
);

export const pages: Proof = {
  name: 'pages',
  promise: 'every page is accessible, fits any screen, works without JavaScript, and loads nothing from other origins',
  hasMutant: true,
  runsAlone: true,
  run,
};

/**
 * The mutant: a stylesheet from another origin, an inline script, text with low contrast, an element that is too wide, a
 * broken link, and no description.
 */
const edits: readonly Edit[] = [
  { file: 'http/docs-files.ts', from: "style-src 'self'", to: 'style-src *' },
  {
    file: 'docs-site/dist/docs.html',
    from: '<meta name="description"',
    to: '<link rel="stylesheet" href="http://127.0.0.1:9/serif.css"><script>document.title += "!";</script><meta name="absent"',
  },
  {
    file: 'docs-site/dist/docs.html',
    from: '<footer>',
    to: '<footer><font color="#bbbbbb">faint</font><hr width="900"><a href="/docs/nowhere">Nowhere</a>',
  },
];

async function run({ short, mutant, progress }: ProofContext): Promise<Claim[]> {
  await ensureBuilt();
  using tree = mutant ? plantMutant(edits) : undefined;
  progress('starting a store with animals');
  await using store = await Store.open({ processes: 1, root: tree?.root, env: { LOG_LEVEL: 'warn' } });
  store.work();
  const shop = await fill(store);
  await using site = await openSite(shop);
  const pictures = short ? undefined : mkdtempSync(path.join(tmpdir(), 'homeward-pages-'));
  const [found, lighthouse] = await Promise.all([lookAtAll(shop, site.url, { isThorough: !short, pictures }, progress), loadLighthouse()]);
  const animal = `${site.url}/animals/${shop.available.at(-1)}`;
  const chosen = short
    ? [`${shop.url}/docs/quickstart`, site.url]
    : [
        ...['', ...guides.map((name) => `/${name}`), '/reference', '/reference/pets'].map((page) => `${shop.url}/docs${page}`),
        site.url,
        animal,
      ];
  const scores = await scorePages(lighthouse, chosen, { isOnceEnough: short, performanceMin }, progress);
  return [...judge(found, pictures), ...judgeScores(scores)];
}

interface Shop {
  readonly url: string;
  /** A partner's API key. */
  readonly key: string;
  /** Ids of animals, by status. */
  readonly available: readonly number[];
  readonly pending: readonly number[];
  readonly sold: readonly number[];
  order(petId: number): Promise<void>;
}

/** Adds animals of every category and status, and places an order. */
async function fill(store: Store): Promise<Shop> {
  const { manager, partners } = await castOf(store, 1);
  const [partner] = partners;
  if (!partner) throw new Error('there is no partner');
  const url = store.processes[0]?.url ?? '';
  const ids: Record<'available' | 'pending' | 'sold', number[]> = { available: [], pending: [], sold: [] };
  using http = new HttpClient(1);
  for (const animal of devAnimals().slice(0, animalCount)) {
    const { status, text } = await http.send(`${url}/pets`, { method: 'POST', key: manager.key, body: animal });
    if (status !== 201) throw new Error(`an animal was not added: ${text}`);
    ids[animal.status].push(Number(JSON.parse(text).id));
  }
  const order = async (petId: number) => {
    using client = new HttpClient(1);
    const { status, text } = await place(client, url, partner, petId);
    if (status !== 201) throw new Error(`an animal was not ordered: ${text}`);
  };
  const ordered = ids.available.pop() ?? 0;
  await order(ordered);
  return { ...ids, pending: [ordered, ...ids.pending], url: url.replace(/\/v1$/, ''), key: partner.key, order };
}

async function openSite({ url, key }: Shop): Promise<{ url: string } & AsyncDisposable> {
  // Imported only here: it needs the built SDK, and other proofs run without it.
  const { startSite } = await import('../../examples/adoption-site/start-site.ts');
  const site = await startSite({ url, key, port: 0 });
  return { url: site.url, [Symbol.asyncDispose]: () => site.close() };
}

interface Findings {
  readonly docs: Tour;
  readonly example: Tour;
  readonly journeys: readonly Journey[];
  readonly looks: readonly Look[];
  readonly outside: readonly string[];
  readonly complaints: readonly string[];
  readonly requests: number;
  readonly words: number;
  readonly missingWords: readonly string[];
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
  for (let i = 0; i < visitorCount; i += 1)
    visitors.push(crowd.use(await Visitor.arrive(browser, { origins: [shop.url, site], ...options })));
  // Pages of animals and of error codes are numerous and alike, so the short form checks only three of each kind.
  const kinds = new Map<string, number>();
  const isWorthALook = (kind: string) => {
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    return options.isThorough || (kinds.get(kind) ?? 0) <= 3;
  };
  const docs = await tour(visitors, {
    // The last one is linked only by response headers.
    start: ['/docs', '/llms.txt', '/docs/deprecations'].map((start) => shop.url + start),
    isPart: (url) => /^\/(docs(\/|$)|llms\.txt$)/.test(url.pathname) && isWorthALook(url.pathname.replace(/(?<=errors\/)\w+$/, 'N')),
    progress,
  });
  const [wanted = 0, contested = 0, wantedToo = 0, contestedToo = 0, ...others] = shop.available;
  const example = await tour(visitors, {
    start: ['/', `/animals/${others[0]}`, `/animals/${shop.pending[0]}`, `/animals/${shop.sold[0]}`].map((start) => site + start),
    isPart: (url) => isWorthALook(`${url.pathname.replaceAll(/\d+/g, 'N')}?${[...url.searchParams.keys()]}`),
    progress,
  });
  const [visitor] = visitors;
  if (!visitor) throw new Error('there is no visitor');
  progress('adoptions');
  const journey = await askWhileLooking(visitor, { site, wanted, contested, takeAway: () => shop.order(contested) });
  await visitor.page.goto(`${shop.url}/docs/nowhere`);
  const lost = await visitor.look();

  await using plain = await browser.newContext({ javaScriptEnabled: false });
  const page = await plain.newPage();
  const plainJourney = await askForAnimals(page, {
    site,
    wanted: wantedToo,
    contested: contestedToo,
    takeAway: () => shop.order(contestedToo),
  });
  const expectations = await expectationsOf(shop, docs);
  return {
    docs,
    example,
    journeys: [journey, plainJourney],
    looks: [...docs.looks, ...example.looks, ...journey.looks, lost],
    outside: visitors.flatMap((one) => one.outside),
    complaints: visitors.flatMap((one) => one.complaints),
    requests: visitors.reduce((sum, one) => sum + one.requests, 0),
    words: expectations.reduce((sum, { words }) => sum + words.length, 0),
    missingWords: await findMissingWords(page, expectations),
  };
}

/** Each guide's page must show all words of the guide, and the reference the path and title of every operation. */
async function expectationsOf({ url }: Shop, docs: Tour): Promise<Expectation[]> {
  const reference = docs.looks.map((look) => look.url).filter((one) => one.startsWith(`${url}/docs/reference`));
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

function judge(found: Findings, pictures: string | undefined): Claim[] {
  const { docs, example, journeys, looks, requests } = found;
  const reached = guides.filter((guide) => docs.looks.some(({ url }) => new URL(url).pathname === `/docs/${guide}`));
  const links = docs.links + example.links;
  const statuses = journeys.map((journey) => journey.statuses.join(', '));
  return [
    {
      claim: 'Guides that links from /docs and /llms.txt lead to',
      bar: 'all',
      figure: `${reached.length} of ${guides.length}, among ${looks.length} pages${pictures ? `; screenshots are in ${pictures}` : ''}`,
      holds: reached.length === guides.length && guides.length > 0,
    },
    none('Requests to other origins', found.outside, requests),
    none('Violations of the content security policy and errors on the console', found.complaints),
    none('Broken links and fragments', [...docs.broken, ...example.broken], links),
    none('Violations of WCAG 2.2 AA found by axe, in the light and the dark scheme', of(looks, 'barriers')),
    none('Pages that scroll sideways at 320, 768 or 1280 px, in the light or the dark scheme', of(looks, 'tooWide')),
    none('Missing titles, descriptions, languages and main headings of pages', of(looks, 'missing')),
    none('Words of the guides, and paths and titles of operations, that are missing without JavaScript', found.missingWords, found.words),
    {
      claim:
        'The example site, with JavaScript and without: statuses of a form with a mistake, a valid request, a request that comes too late, a missing page',
      bar: expectedStatuses.join(', '),
      figure: statuses.join('; '),
      holds: statuses.every((one) => one === expectedStatuses.join(', ')),
    },
  ];
}

const of = (looks: readonly Look[], faults: 'barriers' | 'tooWide' | 'missing'): string[] => looks.flatMap((look) => look[faults]);

function none(claim: string, faults: readonly string[], among?: number): Claim {
  const count = among === undefined ? String(faults.length) : `${faults.length} of ${among}`;
  return { claim, bar: '0', figure: faults[0] === undefined ? count : `${count}, such as ${faults[0]}`, holds: faults.length === 0 };
}

function judgeScores(scores: readonly Score[]): Claim[] {
  const lowest = (what: 'performance' | 'accessibility') => scores.toSorted((a, b) => a[what] - b[what])[0];
  const [slowest, hardest] = [lowest('performance'), lowest('accessibility')];
  const among = `the lowest of ${scores.length} pages`;
  return [
    {
      claim: 'Lighthouse, performance on a phone',
      bar: `${performanceMin}`,
      figure: `${slowest?.performance}, ${among}: ${slowest?.url}`,
      holds: (slowest?.performance ?? 0) >= performanceMin,
      isTimed: true,
    },
    {
      claim: 'Lighthouse, accessibility',
      bar: '100',
      figure: `${hardest?.accessibility}, ${among}`,
      holds: hardest?.accessibility === 100,
    },
  ];
}
