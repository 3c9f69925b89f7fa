// Checks pages in a browser at several widths, in the light and the dark scheme, and collects the errors that the browser reports.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, BrowserContext, ConsoleMessage, Page } from 'playwright-core';
import { findBarriers } from './page-barriers.ts';
import { type CodeFindings, checkCode } from './page-code.ts';
import { tryThemes } from './page-themes.ts';

/** The findings on one page. `missing`, `barriers`, `tooWide`, `clipped` and `themes` have a text for each fault. */
export interface Look {
  readonly url: string;
  readonly links: readonly string[];
  readonly ids: readonly string[];
  /** Which of the title, the description, the language and the single main heading are missing. */
  readonly missing: readonly string[];
  readonly barriers: readonly string[];
  readonly tooWide: readonly string[];
  /** Elements that cut off their text. */
  readonly clipped: readonly string[];
  /** What is hard to read, or does not change, with a theme that the reader has chosen. */
  readonly themes: readonly string[];
  readonly code: CodeFindings;
  /** It was only glanced at: in one window, without axe. */
  readonly isGlance: boolean;
}

export interface VisitorOptions {
  /** The allowed origins: requests to any other are recorded as `outside`. */
  readonly origins: readonly string[];
  /** Looks at every width in each scheme, and has axe check two of these instead of one. */
  readonly isThorough: boolean;
  /** True if the page at this path is like another that is looked at, so that a glance is enough. Without it, none is. */
  readonly isAlike?: (path: string) => boolean;
  /** True if the page at this path has code blocks and a theme switch to be tried. */
  hasFurniture(path: string): boolean;
  /** The folder for screenshots; undefined: none are taken. */
  readonly pictures?: string | undefined;
}

/** A window in which a page is looked at. */
interface View {
  readonly scheme: 'light' | 'dark';
  readonly width: number;
  readonly hasAxe?: boolean;
}

const thoroughViews: readonly View[] = (['light', 'dark'] as const).flatMap((scheme) =>
  [1_280, 768, 320].map((width) => ({ scheme, width, hasAxe: width !== 768 })),
);
/** The dark scheme has other colours, which axe sees, and the same layout. */
const shortViews: readonly View[] = [
  { scheme: 'dark', width: 1_280, hasAxe: true },
  { scheme: 'light', width: 1_280 },
  { scheme: 'light', width: 768 },
  { scheme: 'light', width: 320, hasAxe: true },
];
const glance: readonly View[] = [{ scheme: 'light', width: 320 }];
const height = 900;
const timeoutMs = 60_000;

const noteViolations = `
  globalThis.policyViolations = [];
  addEventListener('securitypolicyviolation', (event) => policyViolations.push(event.violatedDirective + ' ' + event.blockedURI));
`;

const readPage = `({
  title: document.title.trim(),
  language: document.documentElement.lang,
  description: document.querySelector('meta[name=description]')?.content.trim() ?? '',
  headings: document.querySelectorAll('h1').length,
  links: [...document.querySelectorAll('a[href], link[href]')].map((link) => link.href),
  ids: [...document.querySelectorAll('[id]')].map((element) => element.id),
  violations: globalThis.policyViolations,
})`;

interface PageFacts {
  readonly title: string;
  readonly language: string;
  readonly description: string;
  readonly headings: number;
  readonly links: string[];
  readonly ids: string[];
  readonly violations: string[];
}

/** How much wider than the window the page is, and the first element that is too wide. Empty if the page fits. */
export const measureWidth = `(() => {
  const excess = document.documentElement.scrollWidth - innerWidth;
  if (excess <= 0) return '';
  const culprit = [...document.body.querySelectorAll('*')].find((element) => element.getBoundingClientRect().right > innerWidth + 0.5);
  return excess + ' px' + (culprit ? ', ' + culprit.outerHTML.slice(0, 80) : '');
})()`;

/** The first element whose text is cut off, also within collapsed parts. Text that scrolls can be reached. */
const findClipped = `(() => {
  const folded = [...document.querySelectorAll('main details:not([open])')];
  for (const one of folded) one.open = true;
  const isCut = (element) => {
    const { overflowX, overflowY } = getComputedStyle(element);
    const hides = (overflow) => overflow === 'hidden' || overflow === 'clip';
    const isForReaders = element.clientWidth > 1 && element.textContent.trim() !== '';
    const isTooWide = hides(overflowX) && element.scrollWidth > element.clientWidth + 1;
    const isTooHigh = hides(overflowY) && element.scrollHeight > element.clientHeight + 1;
    return isForReaders && (isTooWide || isTooHigh);
  };
  const cut = [...document.body.querySelectorAll('*')].find(isCut);
  for (const one of folded) one.open = false;
  return cut ? cut.outerHTML.slice(0, 80) : '';
})()`;

export class Visitor implements AsyncDisposable {
  readonly page: Page;
  readonly outside: string[] = [];
  /** Violations of the content security policy, errors on the console, and uncaught exceptions. */
  readonly complaints: string[] = [];
  requests = 0;
  readonly #context: BrowserContext;
  readonly #options: VisitorOptions;

  private constructor(context: BrowserContext, page: Page, options: VisitorOptions) {
    this.#context = context;
    this.page = page;
    this.#options = options;
    context.on('request', (request) => {
      this.requests += 1;
      const { origin, protocol } = new URL(request.url());
      if (protocol !== 'data:' && !options.origins.includes(origin)) this.outside.push(`${request.url()} from ${this.#where()}`);
    });
    page.on('websocket', (socket) => this.outside.push(`${socket.url()} from ${this.#where()}`));
    page.on('console', (message) => {
      if (message.type() === 'error' && !this.#tellsOwnStatus(message)) this.complaints.push(`${this.#where()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => this.complaints.push(`${this.#where()}: ${error.message}`));
  }

  static async arrive(browser: Browser, options: VisitorOptions): Promise<Visitor> {
    const context = await browser.newContext({ viewport: { width: 1_280, height }, reducedMotion: 'reduce' });
    context.setDefaultTimeout(timeoutMs);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await context.addInitScript({ content: noteViolations });
    return new Visitor(context, await context.newPage(), options);
  }

  async open(url: string): Promise<Look> {
    await this.page.goto(url, { waitUntil: 'load' });
    return this.look();
  }

  /** Checks the page that is currently open. */
  async look(name = pathOf(this.page.url())): Promise<Look> {
    const { page } = this;
    const facts = await page.evaluate<PageFacts>(readPage);
    for (const violation of facts.violations) this.complaints.push(`${name}: ${violation}`);
    const barriers: string[] = [];
    const tooWide: string[] = [];
    const clipped: string[] = [];
    const isGlance = this.#options.isAlike?.(pathOf(page.url())) ?? false;
    for (const { scheme, width, hasAxe } of this.#views(isGlance)) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height });
      const excess = await page.evaluate<string>(measureWidth);
      if (excess) tooWide.push(`${name} at ${width} px by ${excess}`);
      const cut = scheme === 'light' ? await page.evaluate<string>(findClipped) : '';
      if (cut) clipped.push(`${name} at ${width} px: ${cut}`);
      if (hasAxe) barriers.push(...(await findBarriers(page)).map((found) => `${name} in ${scheme}: ${found}`));
      if (width !== 768) await this.#takePicture(`${name} ${width} ${scheme}`);
    }
    await page.emulateMedia({ colorScheme: 'light' });
    const hasFurniture = this.#options.hasFurniture(pathOf(page.url()));
    const themes = hasFurniture ? (await tryThemes(page)).map((fault) => `${name}: ${fault}`) : [];
    const code = hasFurniture ? await checkCode(page) : noCode;
    const { links, ids } = facts;
    return { url: page.url(), links, ids, missing: missingOf(name, facts), barriers, tooWide, clipped, themes, code, isGlance };
  }

  #views(isGlance: boolean): readonly View[] {
    if (isGlance) return glance;
    return this.#options.isThorough ? thoroughViews : shortViews;
  }

  async #takePicture(name: string): Promise<void> {
    const folder = this.#options.pictures;
    if (!folder) return;
    mkdirSync(folder, { recursive: true });
    await this.page.screenshot({ path: path.join(folder, `${name.replaceAll(/[^\w.-]+/g, '_')}.png`), fullPage: true });
  }

  /** True if the message only reports the page's own status, such as 404. Other checks cover the status. */
  #tellsOwnStatus(message: ConsoleMessage): boolean {
    return message.text().startsWith('Failed to load resource') && message.location().url === this.page.url();
  }

  #where(): string {
    return pathOf(this.page.url());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
  }
}

const noCode: CodeFindings = { blocks: 0, notCopied: [], notHighlighted: [] };

function missingOf(name: string, { title, language, description, headings }: PageFacts): string[] {
  const wanted = { 'a title': title, 'a language': language, 'a description': description, 'one main heading': headings === 1 };
  return Object.entries(wanted)
    .filter(([, value]) => !value)
    .map(([what]) => `${name} lacks ${what}`);
}

const pathOf = (url: string): string => (URL.canParse(url) ? `${new URL(url).pathname}${new URL(url).search}` : url);
