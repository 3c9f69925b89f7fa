// The example adoption site on a phone: what visitors do there by pointing, with a keyboard alone, and without JavaScript.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContext } from 'playwright-core';
import sharp from 'sharp';
import { insertAnimals, queryStore } from '../../testkit/adopters.ts';
import { launchBrowser } from '../../testkit/browser.ts';
import { Store } from '../../testkit/store.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import { ensureBuilt } from '../../tools/build.ts';
import { none } from '../claims.ts';
import { loadLighthouse, scorePages } from '../pages/page-scores.ts';
import { openShop, openSite, type Shop } from '../pages/page-shop.ts';
import { Visitor } from '../pages/page-visitor.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { type Hand, pointing, typing } from './site-hands.ts';
import { expectedStatuses, type Journey, useSite } from './site-journey.ts';

const phone = { width: 390, height: 844 };
const desktop = { width: 1_280, height: 900 };
const cardMax = 700;
const timeoutMs = 10_000;
const crowdCount = 10_000;
const processingTimeoutMs = 60_000;
const picturedMax = { short: 1, long: 24 };
const photoColors = ['#c98f5a', '#5a7fc9', '#7fae93'];
const scoreMin = { performance: 95, others: 100 };

export const site: Proof = {
  name: 'site',
  promise:
    'a visitor with a phone finds an animal, asks for it, cancels and keeps favourites: by touch, by keyboard, and without JavaScript',
  /**
   * The mutant: filters that take half of the screen, a gallery that turns the wrong way, a focus that is not seen, favourites that are not stored,
   * facts that slide over the form, the visitor's own animal that reads as promised, a deadline in UTC, and a style sheet that is not the site's.
   */
  mutant: [
    { file: 'examples/adoption-site/public/style.css', from: '.filters {\n', to: '.filters {\n  min-height: 28rem;\n' },
    { file: 'examples/adoption-site/public/gallery.js', from: 'ArrowRight: 1,', to: 'ArrowRight: -1,' },
    { file: 'examples/adoption-site/public/style.css', from: ':focus-visible {\n  outline: 3px', to: ':focus-visible {\n  outline: 0px' },
    {
      file: 'examples/adoption-site/public/style.css',
      from: '  .beside {\n    position: sticky;',
      to: '  .animal > .about {\n    position: sticky;\n    align-self: start;',
    },
    { file: 'examples/adoption-site/own-requests.ts', from: 'Path=/; HttpOnly', to: 'Path=/nowhere; HttpOnly' },
    { file: 'examples/adoption-site/order-page.ts', from: 'timeText(expiresAt, timezone)', to: "timeText(expiresAt, 'UTC')" },
    {
      file: 'examples/adoption-site/layout.ts',
      from: '<link rel="icon"',
      to: '<link rel="stylesheet" href="http://127.0.0.1:9/a.css"><link rel="icon"',
    },
  ],
  isNightly: true,
  about: ['examples/adoption-site', 'proofs/site', 'proofs/pages/page-shop.ts'],
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  await ensureBuilt();
  progress('starting a store with animals');
  await using resources = new AsyncDisposableStack();
  const { path: photos } = resources.use(temporaryFolder('photos'));
  const store = resources.use(await Store.open({ processes: 1, root, env: { LOG_LEVEL: 'warn', HOMEWARD_PHOTOS: photos } }));
  store.work();
  const shop = await openShop(store, picturedMax[short ? 'short' : 'long']);
  const wanted = await addPhotos(shop);
  const opened = resources.use(await openSite(shop, root));
  const browser = resources.use(await launchBrowser());
  const journeys = await makeJourneys(browser, shop, wanted, opened.url, progress);
  const pictures = short ? undefined : mkdtempSync(path.join(tmpdir(), 'homeward-site-'));
  const seen = [...new Set(journeys[0]?.seen)];
  const more = short
    ? ['/nowhere']
    : ['/', '/?status=pending', '/?status=sold', '/?q=zzzqq&age=baby', '/favourites', '/nowhere', ...(await addCrowd(store))];
  progress('looking at pages');
  const claims = [
    ...journeys.map(journeyClaim),
    resultsClaim(journeys.flatMap(({ results }) => results)),
    await desktopClaim(browser, `${opened.url}/animals/${wanted.id}`),
    ...(await lookClaims(browser, [shop.url, opened.url], [...seen, ...more.map((at) => opened.url + at)], {
      isThorough: !short,
      pictures,
    })),
  ];
  if (short) return claims;
  const scored = ['/', `/?q=shy`, `/animals/${wanted.id}`, `/favourites?id=${wanted.id}`].map((at) => opened.url + at);
  return [...claims, await scoreClaim(scored, progress)];
}

interface Named extends Journey {
  readonly name: string;
}

async function makeJourneys(
  browser: Browser,
  shop: Shop,
  wanted: { readonly id: number; readonly name: string },
  url: string,
  progress: (text: string) => void,
): Promise<Named[]> {
  const left = shop.available.filter((id) => id !== wanted.id && !shop.byApplication.includes(id));
  const kinds = [
    { name: 'by touch', hasScripts: true, handOf: pointing },
    { name: 'by keyboard alone', hasScripts: true, handOf: typing },
    { name: 'without JavaScript', hasScripts: false, handOf: pointing },
  ];
  const journeys: Named[] = [];
  // One after another: all of them ask for the same animal.
  for (const kind of kinds) {
    progress(`a visit ${kind.name}`);
    const [first = 0, second = 0, third = 0, removed = 0] = left.splice(0, 4);
    await using context = await openPhone(browser, kind.hasScripts);
    const page = await context.newPage();
    const faults: string[] = [];
    const hand: Hand = kind.handOf(page, faults);
    const inputs = {
      site: url,
      wanted,
      others: [first, second, third] as const,
      removed,
      email: `ada.${kinds.indexOf(kind)}@example.org`,
      hasScripts: kind.hasScripts,
      remove: (petId: number) => shop.staff.pets.remove(petId),
    };
    const gaveUp = (error: Error): Journey => ({
      statuses: [],
      faults: [...faults, `${error.message.split('\n')[0]} at ${page.url()}`],
      results: [],
      seen: [],
    });
    journeys.push({ name: kind.name, ...(await useSite(page, hand, inputs, faults).catch(gaveUp)) });
  }
  return journeys;
}

async function openPhone(browser: Browser, javaScriptEnabled: boolean): Promise<BrowserContext> {
  const permissions = javaScriptEnabled ? ['clipboard-read', 'clipboard-write'] : [];
  const context = await browser.newContext({ viewport: phone, hasTouch: true, reducedMotion: 'reduce', javaScriptEnabled, permissions });
  context.setDefaultTimeout(timeoutMs);
  return context;
}

/** Gives an available animal three photos. */
async function addPhotos({ staff, available }: Shop): Promise<{ id: number; name: string }> {
  const id = available[0] ?? 0;
  for (const background of photoColors) {
    const photo = await sharp({ create: { width: 1_600, height: 1_200, channels: 3, background } })
      .jpeg()
      .toBuffer();
    await staff.pets.photos.add(id, new Blob([new Uint8Array(photo)], { type: 'image/jpeg' }));
  }
  for (const deadlineMs = Date.now() + processingTimeoutMs; Date.now() < deadlineMs; await sleep(100)) {
    const [listing] = (await staff.listings.search({ id: [id] }).page()).items;
    if (listing?.photos.length === photoColors.length) return { id, name: listing.pet.name };
  }
  throw new Error('the worker did not process the photos in time');
}

function journeyClaim({ name, statuses, faults }: Named): Claim {
  return {
    claim: `At 390 × 844, ${name}: search, filter, animal, gallery, favourite, request, its page, four requests with one address, cancel, ask again; faults`,
    bar: `${expectedStatuses.join(', ')}; 0`,
    figure: `${statuses.join(', ')}; ${faults.length === 0 ? '0' : `${faults.length}: ${faults.slice(0, 3).join('; ')}`}`,
    holds: statuses.join() === expectedStatuses.join() && faults.length === 0,
  };
}

function resultsClaim(results: Journey['results']): Claim {
  const card = Math.max(...results.map((one) => one.card));
  const count = Math.max(...results.map((one) => one.count));
  return {
    claim: `After ${results.length} searches on a phone, 390 × 844: where the first card begins, and where the count ends`,
    bar: `above ${cardMax}; above the first card`,
    figure: `${card} px; ${count} px`,
    holds: results.length > 0 && card < cardMax && count < card,
  };
}

/** The animal is available again after the journeys, so the form to ask for it is there. */
async function desktopClaim(browser: Browser, address: string): Promise<Claim> {
  await using context = await browser.newContext({ viewport: desktop });
  const page = await context.newPage();
  await page.goto(address);
  const bottoms = await page.evaluate<number[]>(
    `['.slides', 'h1', '.acts .button'].map((one) => Math.round(document.querySelector(one).getBoundingClientRect().bottom))`,
  );
  const covered = await page.evaluate<number>(`(() => {
    document.querySelector('#ask').scrollIntoView();
    return [...document.querySelectorAll('form.adoption input:not([type=hidden]), form.adoption button')].filter((one) => {
      const { x, y, width, height } = one.getBoundingClientRect();
      return y + height / 2 < innerHeight && document.elementFromPoint(x + width / 2, y + height / 2) !== one;
    }).length;
  })()`);
  return {
    claim: `At ${desktop.width} × ${desktop.height}: where picture, name and the button to ask end; fields of the form that something covers`,
    bar: `within ${desktop.height}; 0`,
    figure: `${bottoms.join(', ')} px; ${covered}`,
    holds: bottoms.every((bottom) => bottom <= desktop.height) && covered === 0,
  };
}

async function lookClaims(
  browser: Browser,
  origins: readonly string[],
  urls: readonly string[],
  options: { readonly isThorough: boolean; readonly pictures: string | undefined },
): Promise<Claim[]> {
  await using visitor = await Visitor.arrive(browser, { origins, hasFurniture: () => false, ...options });
  const faults: string[] = [];
  const policies = new Set<string>();
  visitor.page.on('response', (response) => {
    if (response.request().isNavigationRequest()) policies.add(response.headers()['content-security-policy'] ?? 'none');
  });
  for (const url of urls) {
    const { barriers, tooWide, clipped, missing } = await visitor.open(url);
    faults.push(...barriers, ...tooWide, ...clipped, ...missing);
  }
  const pictures = options.pictures ? `; screenshots are in ${options.pictures}` : '';
  return [
    {
      claim: `${urls.length} pages in light and dark: violations of WCAG 2.2 AA found by axe, pages that scroll sideways at 320 px, texts that are cut off`,
      bar: '0',
      figure: (faults.length === 0 ? '0' : `${faults.length}: ${faults.slice(0, 3).join('; ')}`) + pictures,
      holds: faults.length === 0,
    },
    none('Requests to other origins', visitor.outside, { of: visitor.requests }),
    none('Violations of the content security policy and errors on the console', visitor.complaints),
    none(
      'Content security policies that allow unsafe sources',
      [...policies].filter((policy) => policy.includes('unsafe') || !policy.includes("default-src 'none'")),
      { of: policies.size },
    ),
  ];
}

/** Adds 10,000 animals, and one whose name is as long as a name may be and has no place to break. Returns their addresses. */
async function addCrowd(store: Store): Promise<string[]> {
  const [named] = await insertAnimals(store, crowdCount);
  await queryStore(store, 'update pets set name = $2 where id = $1', [named, `Graf Biscuit von ${'Hohenlohe'.repeat(9)}`]);
  return [`/animals/${named}`, `/favourites?id=${named}`, '/?category=10'];
}

async function scoreClaim(urls: readonly string[], progress: (text: string) => void): Promise<Claim> {
  const scores = await scorePages(await loadLighthouse(), urls, progress);
  const lowest = (category: 'performance' | 'accessibility' | 'bestPractices') => Math.min(...scores.map((score) => score[category]));
  const figures = [lowest('performance'), lowest('accessibility'), lowest('bestPractices')] as const;
  return {
    claim: 'Lighthouse on a phone: performance, accessibility, best practices',
    bar: `${scoreMin.performance}, ${scoreMin.others}, ${scoreMin.others}`,
    figure: `${figures.join(', ')}, the lowest of ${scores.length} pages`,
    holds: figures[0] >= scoreMin.performance && figures[1] >= scoreMin.others && figures[2] >= scoreMin.others,
    isTimed: true,
  };
}
