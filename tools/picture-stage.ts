// What the pictures show: a store with animals, the example site on it, and visitors in a real browser.
import type { Browser, Page } from 'playwright-core';
import { createStore } from '../sdk/src/index.ts';
import { launchBrowser } from '../testkit/browser.ts';
import { Store } from '../testkit/store.ts';
import { temporaryFolder } from '../testkit/temporary-folder.ts';
import { ensureBuilt } from './build.ts';
import { devAnimals } from './dev-animals.ts';
import { addAnimals, addPictures, describeAnimals, untilPicturesAreReady } from './dev-seed.ts';
import { pictureWidth, pixelRatio, type Theme, type Viewport } from './picture-windows.ts';

/** The addresses that the browser shows. */
export const addresses = { site: 'http://secondhome.example', docs: 'http://homeward.example/docs' };

const animalCount = 60;
/** The animals of the first page of the list. */
const picturedMax = 24;
const timeoutMs = 20_000;
const shelterScopes = 'pets:read,pets:write,store:manage';

export class Stage implements AsyncDisposable {
  readonly #resources: AsyncDisposableStack;
  readonly #browser: Browser;

  private constructor(resources: AsyncDisposableStack, browser: Browser) {
    this.#resources = resources;
    this.#browser = browser;
  }

  static async open(): Promise<Stage> {
    await ensureBuilt();
    await using resources = new AsyncDisposableStack();
    const { path: photos } = resources.use(temporaryFolder('photos'));
    const store = resources.use(await Store.open({ processes: 1, env: { LOG_LEVEL: 'warn', HOMEWARD_PHOTOS: photos } }));
    store.work();
    const url = store.processes[0]?.url.replace(/\/v1$/, '') ?? '';
    const { key } = await store.createKey('Second Home', 'business');
    await fill(url, (await store.createKey('Shelters', 'business', '--scopes', shelterScopes)).key);
    // Imported only here, because it needs the built SDK.
    const { startSite } = await import('../examples/adoption-site/start-site.ts');
    const site = await startSite({ url, key, port: 0 });
    resources.defer(() => site.close());
    const hosts = { [new URL(addresses.site).host]: new URL(site.url).host, [new URL(addresses.docs).host]: new URL(url).host };
    const browser = resources.use(await launchBrowser({ hosts }));
    return new Stage(resources.move(), browser);
  }

  /** A visitor with an own session. */
  async visit(address: string, theme: Theme, { width, height, scale }: Viewport): Promise<Page> {
    const context = await this.#browser.newContext({ viewport: { width, height }, deviceScaleFactor: scale, colorScheme: theme });
    context.setDefaultTimeout(timeoutMs);
    const page = await context.newPage();
    // Not 'networkidle': pages of the site have an open stream.
    await page.goto(address, { waitUntil: 'load' });
    await page.evaluate('document.fonts.ready.then(() => true)');
    return page;
  }

  /** An empty page on which windows are drawn. */
  openDesk(theme: Theme): Promise<Page> {
    return this.visit('about:blank', theme, { width: pictureWidth, height: 100, scale: pixelRatio });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources.disposeAsync();
  }
}

async function fill(url: string, key: string): Promise<void> {
  const client = createStore({ url, key });
  await addAnimals(client, devAnimals().slice(0, animalCount));
  await describeAnimals(client);
  await addPictures(client, { animalsMax: picturedMax });
  await untilPicturesAreReady(client, picturedMax);
}
