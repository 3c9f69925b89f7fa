// The console in a real browser: the ways in at 390 px, and every screen in light and dark, at 320 px, and under its content security policy.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type { Person } from '../../service/src/access/people/people.ts';
import { consoleScreens, type ScreenParts } from '../../service/src/console/console-screens.ts';
import { launchBrowser } from '../../testkit/browser.ts';
import { Store } from '../../testkit/store.ts';
import { loadLighthouse, scorePages } from '../pages/page-scores.ts';
import { measureWidth, Visitor } from '../pages/page-visitor.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { type ConsoleCast, openConsoleCast } from './console-cast.ts';
import { dayByKeyboard, dayOnPhone } from './console-day.ts';
import { addAuthenticator, phone } from './console-hands.ts';
import { kennelOnPhone } from './kennel-day.ts';
import { tasksByKeyboard, tasksOnPhone } from './two-days.ts';

const secondsMax = 30;
const pageBytesMax = 60_000;
const scriptBytesMax = 20_000;
const shownMax = 3;
const performanceMin = 95;
/** Of A5 across, without its margins of 8 mm, in pixels. */
const cardSize = { width: 733, height: 499 };

export const consoleProof: Proof = {
  name: 'console',
  promise:
    'people sign in to the console with a link and with a passkey, add animals and photos, choose an adopter and hand the animal over, on a phone and by keyboard alone, and every screen can be read and used there',
  /** The mutant: a table that stays a table on a phone, a text that is hard to read, and challenges that can be used again. */
  mutant: [
    {
      file: 'console/frame/console.css',
      from: '@media (max-width: 47.99rem) {',
      to: '@media (max-width: 1rem) {\n  td { min-width: 12rem; }',
    },
    { file: 'console/frame/console.css', from: '.soft {\n  color: var(--soft);', to: '.soft {\n  color: var(--line);' },
    {
      file: 'console/sign-in/sign-in-screens.ts',
      from: "if (!(await useOnce(tx, 'passkey challenge', challenge.text, challenge.endsAt)))",
      to: 'if (challenge.text === "")',
    },
  ],
  isNightly: true,
  about: ['service/src/console', 'service/src/platform/html.ts', 'service/src/platform/design-tokens.css', 'proofs/console'],
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  progress('starting a store with its console');
  await using resources = new AsyncDisposableStack();
  const photos = mkdtempSync(path.join(tmpdir(), 'homeward-photos-'));
  resources.defer(() => rmSync(photos, { recursive: true, force: true }));
  const store = resources.use(
    await Store.open({
      processes: 0,
      root,
      env: { LOG_LEVEL: 'info', HOMEWARD_TRUSTED_PROXIES: '127.0.0.1,::1', HOMEWARD_PHOTOS: photos },
    }),
  );
  store.work();
  const cast = resources.use(await openConsoleCast(store, { photos, isCrowded: !short }));
  const browser = resources.use(await launchBrowser());
  const pictures = short ? undefined : mkdtempSync(path.join(tmpdir(), 'homeward-console-'));
  progress('signing in');
  const claims = await signInClaims(browser, cast);
  progress('a day of a shelter');
  const days = await dayOnPhone(browser, cast);
  if (!short) {
    days.push(...(await kennelOnPhone(browser, cast)), await tasksOnPhone(browser, cast));
    days.push(...(await dayByKeyboard(browser, cast)), await tasksByKeyboard(browser, cast));
  }
  progress('every screen');
  const { claims: screens, seen } = await screenClaims(browser, cast, { isThorough: !short, pictures });
  const rest = [...screens, await cardClaim(browser, cast), logClaim(cast)];
  // A score takes a quarter of a minute, and one of a busy machine says little: only the long form, every night.
  if (!short) rest.push(...(await scoreClaims(cast, seen, progress)));
  return [...claims, ...days, ...rest];
}

async function signInClaims(browser: Browser, cast: ConsoleCast): Promise<Claim[]> {
  await using context = await browser.newContext({ viewport: phone });
  const page = await context.newPage();
  await addAuthenticator(context, page);
  const link = await cast.makeLink();
  const startedAtMs = performance.now();
  const seen: string[] = [];
  const press = async (selector: string) => {
    await Promise.all([page.waitForEvent('load'), page.locator(selector).first().click()]);
    seen.push((await page.locator('h1').textContent()) ?? '');
  };
  await page.goto(link);
  await press('form button');
  await page.locator('#passkey-name').fill('My phone');
  await press('[data-passkey=create] button');
  await press('text=Sign out');
  // The browser sends what the authenticator has signed, and so does someone who has read it on its way.
  let replayed = 0;
  await page.route('**/sign-in/passkey', async (route) => {
    const headers = await route.request().allHeaders();
    const response = await route.fetch({ headers });
    replayed = (await route.fetch({ headers })).status();
    await route.fulfill({ response });
  });
  await press('[data-passkey=get] button');
  const seconds = (performance.now() - startedAtMs) / 1_000;
  const expected = `${cast.admin.name}, ${cast.admin.name}, Sign in, Today`;
  return [
    {
      claim: 'At 390 px: sign in by a link, add a passkey, sign out, sign in by the passkey; the headings on the way',
      bar: expected,
      figure: seen.join(', '),
      holds: seen.join(', ') === expected,
    },
    {
      claim: 'How long that takes',
      bar: `≤ ${secondsMax} s`,
      figure: `${seconds.toFixed(1)} s`,
      holds: seconds <= secondsMax,
      isTimed: true,
    },
    { claim: 'The same signature sent once more', bar: '403', figure: String(replayed), holds: replayed === 403 },
  ];
}

async function screenClaims(
  browser: Browser,
  cast: ConsoleCast,
  options: { isThorough: boolean; pictures: string | undefined },
): Promise<{ claims: Claim[]; seen: readonly string[] }> {
  await using visitor = await Visitor.arrive(browser, { origins: [cast.url], hasFurniture: () => false, ...options });
  const { page } = visitor;
  const faults: string[] = [];
  const sizes: number[] = [];
  let scripts = 0;
  page.on('response', async (response) => {
    const body = await response.body().catch(() => Buffer.of());
    if (response.request().resourceType() === 'script') scripts = Math.max(scripts, body.length);
  });
  const look = async (name: string) => {
    const weight = await page.evaluate<number>(
      `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].filter(({ initiatorType }) => initiatorType !== 'img').reduce((sum, one) => sum + one.encodedBodySize, 0)`,
    );
    sizes.push(weight);
    const { missing, barriers, tooWide, clipped, links } = await visitor.look(name);
    faults.push(...missing, ...barriers, ...tooWide, ...clipped);
    const excess = await measureLarge(page);
    if (excess) faults.push(`${name} with large letters by ${excess}`);
    return links;
  };
  await page.goto(`${cast.url}/sign-in`);
  await look('/sign-in');
  await page.goto(cast.invitation);
  await look('/invitation/:token');
  await page.goto(await cast.makeLink());
  await look('/link/:token');
  // Every page that a link of another one leads to.
  const tour = async (person: Person, starts: readonly string[]): Promise<Map<string, string>> => {
    await page.context().clearCookies();
    await page.goto(await cast.makeLink(person));
    await Promise.all([page.waitForURL('**/me'), page.locator('form button').click()]);
    const waiting = ['/', ...starts];
    const seen = new Map<string, string>();
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (seen.has(templateOf(next))) continue;
      seen.set(templateOf(next), next);
      await page.goto(cast.url + next);
      const links = await look(`${person.name} ${next}`);
      waiting.push(
        ...links
          .filter((link) => link.startsWith(`${cast.url}/`))
          .map((link) => new URL(link).pathname)
          .filter((path) => !path.startsWith('/assets/')),
      );
    }
    return seen;
  };
  // A form leads there, a link of a list with a filter, or what only one that waits has.
  const newPhotos = `/animals/photos?of=${cast.cards.map((card) => card.split('/')[2]).join()}`;
  const seen = await tour(cast.admin, [
    newPhotos,
    '/adopters?q=example',
    '/applications/ends',
    cast.waiting,
    ...(options.isThorough ? [cast.wanted] : []),
  ]);
  if (options.isThorough) {
    await tour(cast.keeper, [cast.wanted, newPhotos]);
    await tour(cast.newcomer, []);
  }
  const listed = consoleScreens({} as ScreenParts).pages.map((route) => route.path.replaceAll(/:\w+/g, ':id'));
  const unseen = listed.filter((template) => !seen.has(template));
  faults.push(...visitor.complaints, ...visitor.outside);
  const [heaviest] = sizes.toSorted((a, b) => b - a);
  const claims = [
    {
      claim: `${sizes.length} pages in Chromium, in light and dark: violations of WCAG 2.2 AA found by axe, pages that scroll sideways at 320 px, also with letters of twice the size, texts that are cut off, violations of the content security policy, requests to other origins`,
      bar: '0',
      figure: shown(faults) + (options.pictures ? `; pictures in ${options.pictures}` : ''),
      holds: faults.length === 0,
    },
    {
      claim: `Of the ${listed.length} screens, those that no link leads to`,
      bar: '0',
      figure: shown(unseen),
      holds: unseen.length === 0,
    },
    {
      claim: 'The heaviest page without photos, as it is sent; the script of all pages',
      bar: `≤ ${pageBytesMax.toLocaleString('en')} bytes; ≤ ${scriptBytesMax.toLocaleString('en')} bytes`,
      figure: `${(heaviest ?? 0).toLocaleString('en')} bytes; ${scripts.toLocaleString('en')} bytes`,
      holds: heaviest !== undefined && heaviest > 0 && heaviest <= pageBytesMax && scripts > 0 && scripts <= scriptBytesMax,
    },
  ];
  return { claims, seen: [...seen.values()] };
}

/** How much wider than 320 px the page is when its letters are twice as large. */
async function measureLarge(page: Page): Promise<string> {
  const before = page.viewportSize();
  await page.setViewportSize({ ...phone, width: 320 });
  await page.evaluate(`document.documentElement.style.fontSize = '200%'`);
  const excess = await page.evaluate<string>(measureWidth);
  await page.evaluate(`document.documentElement.style.fontSize = ''`);
  if (before) await page.setViewportSize(before);
  return excess;
}

/** What is beyond the card's edge, or below the list that it is in. */
const countCutFacts = `[...document.querySelectorAll('.kennel dd, .kennel footer > *')].filter((one) => {
  const ends = [innerHeight, one.parentElement.getBoundingClientRect().bottom];
  return one.getBoundingClientRect().bottom > Math.min(...ends) + 1;
}).length`;

/** With photos, and with as long a name as there can be. */
async function cardClaim(browser: Browser, cast: ConsoleCast): Promise<Claim> {
  await using context = await browser.newContext({ extraHTTPHeaders: { cookie: await cast.makeCookie(cast.keeper) } });
  const page = await context.newPage();
  const pages: number[] = [];
  let cut = 0;
  for (const at of cast.cards) {
    await page.goto(cast.url + at);
    const printed = await page.pdf({ preferCSSPageSize: true });
    pages.push(printed.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0);
    await page.emulateMedia({ media: 'print' });
    await page.setViewportSize(cardSize);
    cut += await page.evaluate<number>(countCutFacts);
    await page.emulateMedia({ media: null });
  }
  return {
    claim: 'Kennel cards, with photos, and with the longest name and none: pages of each as it is printed; facts that are cut off',
    bar: '1, 1; 0',
    figure: `${pages.join(', ')}; ${cut}`,
    holds: pages.join() === '1,1' && cut === 0,
  };
}

async function scoreClaims(cast: ConsoleCast, paths: readonly string[], progress: (text: string) => void): Promise<Claim[]> {
  const headers = { cookie: await cast.makeCookie(cast.admin) };
  const urls = [`${cast.url}/sign-in`, ...paths.map((at) => cast.url + at)];
  const scores = await scorePages(await loadLighthouse(), urls, progress, { runs: 1, headers });
  const claimOf = (what: 'performance' | 'accessibility' | 'bestPractices', name: string, min: number): Claim => {
    const [score] = scores.toSorted((a, b) => a[what] - b[what]);
    return {
      claim: `Lighthouse, ${name}`,
      bar: String(min),
      figure: `${score?.[what]}, the lowest of ${scores.length} pages: ${score?.url}`,
      holds: (score?.[what] ?? 0) >= min,
    };
  };
  return [
    { ...claimOf('performance', 'performance on a phone', performanceMin), isTimed: true },
    claimOf('accessibility', 'accessibility', 100),
    claimOf('bestPractices', 'best practices', 100),
  ];
}

const templateOf = (target: string): string => target.replace(/\?.*$/, '').replaceAll(/\/\d+(?=\/|$)/g, '/:id');

function logClaim({ log, secrets }: ConsoleCast): Claim {
  const text = log();
  const lines = text.split('\n').filter((line) => line.includes('"msg":"request"')).length;
  const leaked = secrets.filter((secret) => text.includes(secret));
  return {
    claim: `Lines of the log of the console about requests; tokens of links in it, of ${secrets.length}`,
    bar: 'one for each request; 0',
    figure: `${lines}; ${leaked.length}`,
    holds: lines > 0 && leaked.length === 0,
  };
}

const shown = (faults: readonly string[]): string =>
  faults.length === 0 ? '0' : `${faults.length}: ${[...new Set(faults)].slice(0, shownMax).join('; ')}`;
