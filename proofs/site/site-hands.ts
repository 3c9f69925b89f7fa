// How a visitor operates a page: by pointing, or with a keyboard alone.
import type { Page } from 'playwright-core';

export interface Hand {
  /** Presses a link or a button. */
  press(selector: string): Promise<void>;
  /** Presses one that leads to another page. Returns its status. */
  follow(selector: string): Promise<number>;
  type(selector: string, text: string): Promise<void>;
  /** Chooses an option of a list by its text. */
  choose(selector: string, option: string): Promise<void>;
}

const tabsMax = 150;

export const pointing = (page: Page): Hand => ({
  press: (selector) => page.locator(selector).first().click(),
  follow: (selector) => following(page, () => page.locator(selector).first().click()),
  type: (selector, text) => page.locator(selector).fill(text),
  choose: async (selector, option) => {
    // The text of an option may end with a count.
    const value = await page.locator(`${selector} option`, { hasText: option }).first().getAttribute('value');
    await page.locator(selector).selectOption(value);
  },
});

/** Notes what can't be reached, and what has no visible focus. */
export function typing(page: Page, faults: string[]): Hand {
  const reach = async (selector: string): Promise<void> => {
    for (let tabs = 0; tabs < tabsMax; tabs += 1) {
      const focus = await page.evaluate<string>(`(() => {
        const one = document.activeElement;
        if (!one.matches(${JSON.stringify(selector)})) return '';
        return getComputedStyle(one).outlineStyle === 'none' ? 'unseen' : 'seen';
      })()`);
      if (focus === 'unseen') faults.push(`the focus on ${selector} is not seen`);
      if (focus !== '') return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`${selector} can't be reached with the keyboard`);
  };
  return {
    press: async (selector) => {
      await reach(selector);
      await page.keyboard.press('Enter');
    },
    follow: async (selector) => {
      await reach(selector);
      return following(page, () => page.keyboard.press('Enter'));
    },
    type: async (selector, text) => {
      await reach(selector);
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText(text);
    },
    choose: async (selector, option) => {
      await reach(selector);
      await page.keyboard.type(option);
    },
  };
}

async function following(page: Page, act: () => Promise<void>): Promise<number> {
  const loaded = page.waitForEvent('load');
  const responded = page.waitForResponse((response) => response.request().isNavigationRequest() && response.status() !== 303);
  await act();
  const [response] = await Promise.all([responded, loaded]);
  return response.status();
}
