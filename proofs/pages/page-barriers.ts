import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const axeSource = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const accessibilityTags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** Returns the violations that axe finds in the page as it is now. `rules` are names of rules or of sets of rules. */
export async function findBarriers(page: Page, rules: readonly string[] = accessibilityTags): Promise<string[]> {
  if (!(await page.evaluate<boolean>(`'axe' in globalThis`))) await page.evaluate(axeSource);
  const options = { runOnly: rules, resultTypes: ['violations'] };
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  return violations.map(({ id, nodes }) => `${id} at ${nodes[0]?.target.join(' ')} (${nodes.length})`);
}
