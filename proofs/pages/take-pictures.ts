// Takes screenshots of twelve views of the documentation, on a phone and a desktop, in both themes: node proofs/pages/take-pictures.ts FOLDER
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../../testkit/browser.ts';
import { Store } from '../../testkit/store.ts';
import { ensureBuilt } from '../../tools/build.ts';

interface View {
  readonly name: string;
  readonly path: string;
  prepare?(page: Page): Promise<void>;
}

const views: readonly View[] = [
  { name: 'start', path: '/docs' },
  { name: 'search', path: '/docs', prepare: searchForWebhooks },
  { name: 'quickstart', path: '/docs/quickstart' },
  { name: 'client', path: '/docs/sdk' },
  { name: 'limits', path: '/docs/limits' },
  { name: 'orders', path: '/docs/orders' },
  { name: 'webhooks', path: '/docs/webhooks' },
  { name: 'reference', path: '/docs/reference' },
  { name: 'reference-orders', path: '/docs/reference/orders' },
  { name: 'event-types', path: '/docs/reference/event-types' },
  { name: 'errors', path: '/docs/errors' },
  { name: 'error', path: '/docs/errors/rate_limit_exceeded' },
];

const widths = [390, 1_280];
const height = 900;

const [folder] = process.argv.slice(2);
if (folder) await takePictures(folder);
else {
  console.error('Name the folder for the pictures.');
  process.exitCode = 2;
}

async function takePictures(into: string): Promise<void> {
  await ensureBuilt();
  await using store = await Store.open({ processes: 1, env: { LOG_LEVEL: 'warn' } });
  const origin = new URL(store.processes[0]?.url ?? '').origin;
  await using browser = await launchBrowser();
  mkdirSync(into, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of widths) {
      await using context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: 'reduce' });
      const page = await context.newPage();
      for (const { name, path: at, prepare } of views) {
        await page.goto(`${origin}${at}`, { waitUntil: 'networkidle' });
        await prepare?.(page);
        // A dialog covers the window, not the page.
        await page.screenshot({ path: path.join(into, `${name}-${width}-${colorScheme}.png`), fullPage: !prepare });
      }
    }
  }
  console.log(`${views.length * widths.length * 2} pictures are in ${into}`);
}

async function searchForWebhooks(page: Page): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.keyboard.type('rotate webhook secret');
  await page.locator('[role=option] mark').first().waitFor();
}
