import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const axeSource = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const accessibilityTags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

interface BarrierOptions {
  /** Names of rules or of sets of rules. */
  readonly rules?: readonly string[];
  /** Only within the element of this selector. */
  readonly within?: string;
}

/** Returns the violations that axe finds in the page as it is now. */
export async function findBarriers(page: Page, { rules = accessibilityTags, within }: BarrierOptions = {}): Promise<string[]> {
  if (!(await page.evaluate<boolean>(`'axe' in globalThis`))) await page.evaluate(axeSource);
  const options = { runOnly: rules, resultTypes: ['violations'] };
  const part = within === undefined ? 'document' : JSON.stringify(within);
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${part}, ${JSON.stringify(options)})`);
  return violations.map(({ id, nodes }) => `${id} at ${nodes[0]?.target.join(' ')} (${nodes.length})`);
}
