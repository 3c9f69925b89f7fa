// The pages of adopters in a real browser: every status, what a keyboard does without JavaScript, and where their links end up.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../../testkit/browser.ts';
import { Store } from '../../testkit/store.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import { loadLighthouse, scorePages } from '../pages/page-scores.ts';
import { Visitor } from '../pages/page-visitor.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { openCast, type PageCast } from './page-cast.ts';

const tabsMax = 20;
const scoreMin = { performance: 95, others: 100 };
/** The pages that the short form looks at. */
const samples = ['confirm', 'accepted', 'withdraw?', 'declined', 'a long name', 'nowhere'];
/** Shown in the figure, of those that there are. */
const shownMax = 3;

export const adoptersPage: Proof = {
  name: 'adopters-page',
  promise: 'an adopter follows and ends an application on one page, with a keyboard and without JavaScript, and nobody else sees its link',
  mutant: [
    { file: 'adoption/adopter-page/page-layout.ts', from: '--soft: #675b51;', to: '--soft: #d8cbbb;' },
    { file: 'adoption/adopter-page/page-layout.ts', from: '.button:hover {', to: ':focus-visible { outline: none; }\n.button:hover {' },
    { file: 'adoption/adopter-page/page-layout.ts', from: `'referrer-policy': 'no-referrer',`, to: `'referrer-policy': 'unsafe-url',` },
    { file: 'adoption/adopter-page/page-layout.ts', from: '<meta name="referrer" content="no-referrer">', to: '' },
    { file: 'adoption/adopter-page/page-layout.ts', from: '.href}" rel="noreferrer"', to: '.href}"' },
    { file: 'platform/http/finished-requests.ts', from: 'withoutPageTokens(withoutKeys(withPlainLetters(url)))', to: 'withoutKeys(url)' },
  ],
  isNightly: true,
  about: ['service/src/adoption/applications', 'service/src/platform/html.ts', 'proofs/adopters-page'],
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  progress('starting a store with applications');
  await using resources = new AsyncDisposableStack();
  const { path: photos } = resources.use(temporaryFolder('photos'));
  const env = { LOG_LEVEL: 'info', HOMEWARD_PHOTOS: photos, HOMEWARD_TRUSTED_PROXIES: '127.0.0.1' };
  const store = resources.use(await Store.open({ processes: 1, root, env }));
  if (!short) store.work();
  const cast = resources.use(await openCast(store, { withPhoto: !short }));
  const browser = resources.use(await launchBrowser());
  const pictures = short ? undefined : mkdtempSync(path.join(tmpdir(), 'homeward-adopters-page-'));
  progress('every status');
  const claims = [await lookClaim(browser, cast, { isThorough: !short, pictures }), await keyboardClaim(browser, cast)];
  claims.push(await refererClaim(browser, cast), logClaim(store, cast));
  return short ? claims : [...claims, await scoreClaim(cast, progress)];
}

let visits = 0;
/** An address may open 60 pages a minute, and these are several people. */
const newAddress = () => ({ 'x-forwarded-for': `10.0.${visits >> 8}.${visits++ & 255}` });

async function lookClaim(
  browser: Browser,
  { url, pages }: PageCast,
  options: { isThorough: boolean; pictures: string | undefined },
): Promise<Claim> {
  await using visitor = await Visitor.arrive(browser, { origins: [url], hasFurniture: () => false, ...options });
  const faults: string[] = [];
  const looked = Object.entries(pages).filter(([name]) => options.isThorough || samples.includes(name));
  for (const [name, page] of looked) {
    await visitor.page.setExtraHTTPHeaders(newAddress());
    await visitor.page.goto(url + page);
    const { missing, barriers, tooWide, clipped } = await visitor.look(name);
    // Nobody finds the page by a description.
    faults.push(...barriers, ...tooWide, ...clipped, ...missing.filter((what) => !what.endsWith('a description')));
  }
  faults.push(...visitor.complaints, ...visitor.outside);
  return {
    claim: `${looked.length} pages in Chromium, in light and dark: violations of WCAG 2.2 AA found by axe, pages that scroll sideways at 320 px, texts that are cut off, violations of the content security policy, requests to other origins`,
    bar: '0',
    figure: shown(faults) + (options.pictures ? `; pictures in ${options.pictures}` : ''),
    holds: faults.length === 0,
  };
}

/** Confirms, withdraws and erases with Tab and Enter, without JavaScript. */
async function keyboardClaim(browser: Browser, cast: PageCast): Promise<Claim> {
  await using context = await browser.newContext({ javaScriptEnabled: false, extraHTTPHeaders: newAddress() });
  const page = await context.newPage();
  const link = await cast.addUnconfirmed('confirm');
  const other = await cast.addUnconfirmed('confirm');
  const statuses: string[] = [];
  const note = async (of: string) => void statuses.push(await cast.statusOf(of));
  const faults: string[] = [];
  const press = async (...names: string[]) => {
    for (const name of names) faults.push(...(await pressByKeyboard(page, name)));
  };
  await page.goto(cast.url + link);
  await note(link);
  await press('Confirm and send');
  await note(link);
  await press('Withdraw the application', 'No, go back');
  await note(link);
  await press('Withdraw the application', 'Yes, withdraw it');
  await note(link);
  await press('Erase my data', 'Yes, erase my data');
  const erased = (await page.locator('h2').first().textContent()) ?? '';
  await page.goto(cast.url + other);
  await press('This was not me', 'Yes, erase my data');
  await note(other);
  const expected = 'unconfirmed, submitted, submitted, withdrawn, deleted';
  const figure = `${statuses.join(', ')}; "${erased}"; ${shown(faults)}`;
  return {
    claim: 'Tab and Enter, without JavaScript: confirm, go back, withdraw, erase, and delete what a stranger sent; focus that is not seen',
    bar: `${expected}; 0`,
    figure,
    holds: statuses.join(', ') === expected && erased === 'Your data has been erased' && faults.length === 0,
  };
}

/** Returns the faults. */
async function pressByKeyboard(page: Page, name: string): Promise<string[]> {
  for (let tabs = 0; tabs < tabsMax; tabs += 1) {
    await page.keyboard.press('Tab');
    const focused = page.locator(':focus');
    if ((await focused.count()) === 0 || (await focused.textContent())?.trim() !== name) continue;
    // Without JavaScript the page can't be asked for its styles; where the focus is must change the picture.
    const box = await focused.boundingBox();
    const clip = box && { x: box.x - 8, y: box.y - 8, width: box.width + 16, height: box.height + 16 };
    const [seen, plain] = clip ? [await page.screenshot({ clip }), await unfocused(page, clip)] : [Buffer.of(), Buffer.of()];
    await page.keyboard.press('Tab');
    await page.keyboard.press('Shift+Tab');
    await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
    return seen.equals(plain) ? [`the focus on "${name}" is not seen`] : [];
  }
  return [`"${name}" can't be reached`];
}

async function unfocused(page: Page, clip: { x: number; y: number; width: number; height: number }): Promise<Buffer> {
  await page.keyboard.press('Tab');
  const picture = await page.screenshot({ clip });
  await page.keyboard.press('Shift+Tab');
  return picture;
}

/** The shelter's website, to which a page has a link. */
async function refererClaim(browser: Browser, { url, pages, website, referers }: PageCast): Promise<Claim> {
  await using context = await browser.newContext({ extraHTTPHeaders: newAddress() });
  const page = await context.newPage();
  const before = referers.length;
  for (const name of ['submitted', 'accepted', 'confirm']) {
    await page.goto(url + (pages[name] ?? ''));
    await Promise.all([page.waitForURL(website), page.locator(`a[href="${website}"]`).click()]);
  }
  const visited = referers.slice(before);
  const told = visited.filter((referer) => referer !== '');
  return {
    claim: "Visits of the shelter's website by its link on a page, and those with a Referer",
    bar: '3; 0',
    figure: `${visited.length}; ${told.length}`,
    holds: visited.length === 3 && told.length === 0,
  };
}

function logClaim(store: Store, { pages }: PageCast): Claim {
  const log = store.processes.map((process) => process.log()).join('');
  const lines = log.split('\n').filter((line) => line.includes('"route":"/a/*"')).length;
  const tokens = Object.values(pages).flatMap((page) => /^\/a\/(\w{40})/.exec(page)?.[1] ?? []);
  const leaked = tokens.filter((token) => log.includes(token.slice(20)));
  return {
    claim: `Lines of the log of serve about pages; links of ${tokens.length} pages in it`,
    bar: 'one for each request; 0',
    figure: `${lines}; ${leaked.length}`,
    holds: lines > 0 && leaked.length === 0,
  };
}

async function scoreClaim({ url, pages }: PageCast, progress: (text: string) => void): Promise<Claim> {
  const scored = ['submitted', 'confirm', 'withdraw?'].map((name) => url + pages[name]);
  const scores = await scorePages(await loadLighthouse(), scored, progress);
  const lowest = (category: 'performance' | 'accessibility' | 'bestPractices') => Math.min(...scores.map((score) => score[category]));
  const figures = [lowest('performance'), lowest('accessibility'), lowest('bestPractices')] as const;
  return {
    claim: 'Lighthouse on a phone: performance, accessibility, best practices. Search engines are told to leave the pages out',
    bar: `${scoreMin.performance}, ${scoreMin.others}, ${scoreMin.others}`,
    figure: `${figures.join(', ')}, the lowest of ${scored.length} pages`,
    holds: figures[0] >= scoreMin.performance && figures[1] >= scoreMin.others && figures[2] >= scoreMin.others,
  };
}

const shown = (faults: readonly string[]): string =>
  faults.length === 0 ? '0' : `${faults.length}: ${[...new Set(faults)].slice(0, shownMax).join('; ')}`;
