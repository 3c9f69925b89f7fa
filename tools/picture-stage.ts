// What the pictures show: a store with animals, the example site on it, its console, and visitors and staff in a real browser.
import type { Browser, Page } from 'playwright-core';
import { createStore } from '../sdk/src/index.ts';
import { launchBrowser } from '../testkit/browser.ts';
import { Store } from '../testkit/store.ts';
import { temporaryFolder } from '../testkit/temporary-folder.ts';
import { ensureBuilt } from './build.ts';
import { devAnimals } from './dev-animals.ts';
import { addApplications } from './dev-applications.ts';
import { devAsking } from './dev-questions.ts';
import { addAnimals, addPictures, describeAnimals, untilPicturesAreReady } from './dev-seed.ts';
import { addToday } from './dev-today.ts';
import { pictureWidth, pixelRatio, type Theme, type Viewport } from './picture-windows.ts';

/** The addresses that the browser shows. */
export const addresses = {
  site: 'http://secondhome.example',
  docs: 'http://homeward.example/docs',
  console: 'http://console.homeward.example',
};

const animalCount = 60;
/** The animals of the first page of the list. */
const picturedMax = 24;
const timeoutMs = 30_000;
const phoneWidthMax = 450;
const shelterScopes = 'pets:read,pets:write,orders:read,orders:write,applications:write,store:manage';
/** Somebody of the shelter that takes applications. */
const keeper = 'aoife@claddagh-paws.example';

export class Stage implements AsyncDisposable {
  readonly #resources: AsyncDisposableStack;
  readonly #browser: Browser;
  readonly #store: Store;
  readonly #console: string;
  readonly #shelterId: string;

  private constructor(resources: AsyncDisposableStack, browser: Browser, rest: { store: Store; console: string; shelterId: string }) {
    this.#resources = resources;
    this.#browser = browser;
    this.#store = rest.store;
    this.#console = rest.console;
    this.#shelterId = rest.shelterId;
  }

  /** With pictures of the newest animals, as sites show them, or only of those of one shelter, which takes less time. */
  static async open({ hasNewest }: { hasNewest: boolean }): Promise<Stage> {
    await ensureBuilt();
    await using resources = new AsyncDisposableStack();
    const { path: photos } = resources.use(temporaryFolder('photos'));
    const store = resources.use(await Store.open({ processes: 1, env: { LOG_LEVEL: 'warn', HOMEWARD_PHOTOS: photos } }));
    store.work();
    const url = store.processes[0]?.url.replace(/\/v1$/, '') ?? '';
    const { key } = await store.createKey('Second Home', 'business');
    const shelterId = await fill(url, (await store.createKey('Shelters', 'business', '--scopes', shelterScopes)).key, hasNewest);
    const { url: console } = await store.openConsole();
    // Imported only here, because it needs the built SDK.
    const { startSite } = await import('../examples/adoption-site/start-site.ts');
    const site = await startSite({ url, key, port: 0 });
    resources.defer(() => site.close());
    const hosts = { [new URL(addresses.site).host]: new URL(site.url).host, [new URL(addresses.docs).host]: new URL(url).host };
    const browser = resources.use(await launchBrowser({ hosts }));
    return new Stage(resources.move(), browser, { store, console, shelterId });
  }

  /** Somebody of a shelter, signed in to the console, at its first page. */
  async work(theme: Theme, viewport: Viewport): Promise<Page> {
    const page = await this.visit(await this.invite(`${theme}-${viewport.width}-${viewport.scale}-${keeper}`), theme, viewport);
    await Promise.all([page.waitForURL('**/me'), page.locator('form button').click()]);
    return page;
  }

  /** The address of an invitation to the shelter. */
  async invite(email = keeper): Promise<string> {
    const who = ['--name', 'Aoife Nolan', '--role', 'staff', '--shelter', this.#shelterId];
    const { url } = JSON.parse(await this.#store.homeward('people', 'invite', email, ...who, '--json')) as { url: string };
    return new URL(new URL(url).pathname, this.#console).href;
  }

  /** A visitor with an own session. */
  async visit(address: string, theme: Theme, { width, height, scale }: Viewport): Promise<Page> {
    const viewport = { width, height };
    const isPhone = width < phoneWidthMax;
    const options = { viewport, deviceScaleFactor: scale, colorScheme: theme, isMobile: isPhone, hasTouch: isPhone };
    const context = await this.#browser.newContext(options);
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

/** The id of the shelter that takes applications. */
async function fill(url: string, key: string, hasNewest: boolean): Promise<string> {
  const client = createStore({ url, key });
  await addAnimals(client, devAnimals().slice(0, animalCount));
  await describeAnimals(client);
  if (hasNewest) await addPictures(client, { animalsMax: picturedMax });
  if (devAsking[0]) await addPictures(client, { shelter: devAsking[0].shelter });
  await untilPicturesAreReady(client, animalCount);
  await addApplications(client);
  await addToday(client);
  for await (const { id, name } of client.shelters.list()) if (name === devAsking[0]?.shelter) return String(id);
  throw new Error('there is no shelter that takes applications');
}
