// The installed Chromium, headless, driven by Playwright.
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Browser } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const startTimeoutMs = 60_000;

interface BrowserOptions {
  /** Other tools can connect to it. */
  readonly debuggingPort?: number;
  /** The host and port of this machine that a name such as `homeward.example` leads to. */
  readonly hosts?: Readonly<Record<string, string>>;
}

/** The browser closes at the end of an `await using` block, or when this process ends for any reason. */
export async function launchBrowser({ debuggingPort, hosts = {} }: BrowserOptions = {}): Promise<Browser> {
  // Imported only when it is needed: it takes seconds, and every run loads the modules of all proofs.
  const { chromium } = await import('playwright-core');
  return chromium.launch({
    executablePath: findChromium(),
    timeout: startTimeoutMs,
    args: [
      '--disable-gpu',
      '--disable-quic',
      '--disable-sync',
      ...(debuggingPort === undefined ? [] : [`--remote-debugging-port=${debuggingPort}`]),
      `--host-resolver-rules=${Object.entries(hosts).map(([name, target]) => `MAP ${name} ${target}`)}`,
    ],
  });
}

function findChromium(): string {
  const chromePath = process.env['CHROME_PATH'];
  if (chromePath) return chromePath;
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const found = names.flatMap((name) => folders.map((folder) => path.join(folder, name))).find((file) => existsSync(file));
  if (found) return found;
  throw new Error('Chromium is not installed: apt-get install chromium, or brew install chromium. Set CHROME_PATH if it is elsewhere.');
}
