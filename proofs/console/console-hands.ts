// How somebody works in the console: with a finger on a phone, or by keyboard alone.
import type { Browser, BrowserContext, Page } from 'playwright-core';

export interface ChosenFile {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

/** Each selector is of one element. */
export interface Hands {
  press(selector: string): Promise<void>;
  fill(selector: string, text: string): Promise<void>;
  /** Ticks a box, or the first of several choices. */
  tick(selector: string): Promise<void>;
  /** Picks an option by its text. */
  pick(selector: string, text: string): Promise<void>;
  choose(selector: string, files: readonly ChosenFile[]): Promise<void>;
}

const stepsMax = 120;

export const phone = { width: 390, height: 844 };

export const openPhone = (browser: Browser): Promise<BrowserContext> =>
  browser.newContext({ viewport: phone, isMobile: true, hasTouch: true });

export const finger = (page: Page): Hands => ({
  press: (selector) => page.locator(selector).tap(),
  fill: (selector, text) => page.locator(selector).fill(text),
  tick: (selector) => page.locator(selector).tap(),
  pick: async (selector, label) => void (await page.locator(selector).selectOption({ label })),
  choose: (selector, files) => page.locator(selector).setInputFiles([...files]),
});

/** What a finger would tap: a choice is opened and chosen; photos are opened, chosen one by one, and confirmed. Typing is not counted. */
export function countingTaps(hands: Hands): { readonly hands: Hands; readonly taps: () => number } {
  let taps = 0;
  const counted =
    <Given extends unknown[]>(work: (...given: Given) => Promise<void>, tapsOf: (...given: Given) => number) =>
    (...given: Given) => {
      taps += tapsOf(...given);
      return work(...given);
    };
  return {
    taps: () => taps,
    hands: {
      press: counted(hands.press, () => 1),
      fill: counted(hands.fill, () => 1),
      tick: counted(hands.tick, () => 1),
      pick: counted(hands.pick, () => 2),
      choose: counted(hands.choose, (_, files) => files.length + 2),
    },
  };
}

/** Only Tab, Enter, Space and letters. */
export function keyboard(page: Page): Hands {
  const reach = async (selector: string) => {
    await page.locator(selector).waitFor();
    for (let steps = 0; !(await isFocused(page, selector)); steps += 1) {
      if (steps >= stepsMax) throw new Error(`Tab does not lead to ${selector} on ${page.url()}`);
      await page.keyboard.press('Tab');
    }
  };
  return {
    async press(selector) {
      await reach(selector);
      await page.keyboard.press('Enter');
    },
    async fill(selector, text) {
      await reach(selector);
      await page.keyboard.type(text);
    },
    async tick(selector) {
      await reach(selector);
      await page.keyboard.press('Space');
    },
    async pick(selector, text) {
      await reach(selector);
      await page.keyboard.type(text);
    },
    async choose(selector, files) {
      await reach(selector);
      // Not Enter: on a page that Enter has led to, headless Chromium takes the first one for a repeat.
      const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.keyboard.press('Space')]);
      await chooser.setFiles([...files]);
    },
  };
}

export const isFocused = (page: Page, selector: string): Promise<boolean> =>
  page.evaluate<boolean>(`document.activeElement?.matches(${JSON.stringify(selector)}) ?? false`);

/** A device with a fingerprint reader that accepts every finger. */
export async function addAuthenticator(context: BrowserContext, page: Page): Promise<void> {
  const protocol = await context.newCDPSession(page);
  await protocol.send('WebAuthn.enable');
  await protocol.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}
