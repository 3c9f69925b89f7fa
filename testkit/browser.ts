// A real browser without a window: the Chromium that is installed, driven by Playwright.
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Browser } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const startTimeoutMs = 60_000;

/** Goes away with `await using`, and with this process however that ends. With a `debuggingPort` other tools can join in there. */
export async function launchBrowser({ debuggingPort }: { debuggingPort?: number } = {}): Promise<Browser> {
  // Loaded when it is needed: every proof is loaded by each run, and this takes seconds.
  const { chromium } = await import('playwright-core');
  return chromium.launch({
    executablePath: findChromium(),
    timeout: startTimeoutMs,
    args: [
      '--disable-gpu',
      '--disable-quic',
      '--disable-sync',
      ...(debuggingPort === undefined ? [] : [`--remote-debugging-port=${debuggingPort}`]),
    ],
  });
}

function findChromium(): string {
  const told = process.env['CHROME_PATH'];
  if (told) return told;
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const found = names.flatMap((name) => folders.map((folder) => path.join(folder, name))).find((file) => existsSync(file));
  if (found) return found;
  throw new Error('Chromium is not installed: apt-get install chromium, or brew install chromium. CHROME_PATH names one elsewhere.');
}
