// The steps of docs/deploy.md have one order in each way to deploy. The proof `roll-back` runs them.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { fencedBlocks } from './fenced-blocks.ts';
import { operations } from './operations-pages.ts';

const document = readFileSync(new URL('../../../docs/deploy.md', import.meta.url), 'utf8');

/** What a line of commands starts or restarts, by the words that only these lines have. */
const kinds: ReadonlyArray<readonly [string, RegExp]> = [
  ['migrate', /^migrate$|run --rm --no-deps migrate$|start homeward-migrate$|wait .*job\/homeward-migrate$/],
  ['worker', /^worker$|--no-deps (images )?worker$|restart (homeward-images )?homeward-worker$|(status|undo) deployment\/homeward-worker/],
  ['serve', /^serve \d$|--no-deps api-\d$|restart "homeward-api@\$port"$|(status|undo) deployment\/homeward-api/],
  ['console', /^console$|--no-deps console$|restart homeward-console$|(status|undo) deployment\/homeward-console/],
];

describe.each(['compose', 'containers', 'Kubernetes', 'systemd'])('%s', (way) => {
  test('is upgraded by migrate, workers, serve, console', () => {
    expect(orderOf(`Upgrade ${way}`)).toEqual(['migrate', 'worker', 'serve', 'console']);
  });

  test('is rolled back by serve, workers, and the schema stays', () => {
    expect(orderOf(`Roll back ${way}`)).toEqual(['serve', 'worker']);
    expect(sectionOf(`Roll back ${way}`)).toContain('the schema stays');
    expect(sectionOf(`Roll back ${way}`)).toMatch(/console/);
  });

  test('has numbered steps, to which the table leads', () => {
    for (const heading of [`Upgrade ${way}`, `Roll back ${way}`]) {
      const numbers = [...sectionOf(heading).matchAll(/^(\d)\. /gm)].map(([, number]) => Number(number));
      expect(numbers).toEqual(numbers.map((_, i) => i + 1));
      expect(numbers.length).toBeGreaterThan(2);
      expect(document).toContain(`[steps](#${heading.toLowerCase().replaceAll(' ', '-')})`);
    }
  });
});

test('Every runbook that says to roll back leads to the steps', () => {
  const said = operations.split('\n').filter((line) => /roll(ing)? back/i.test(line));
  expect(said.length).toBeGreaterThan(1);
  expect(said.filter((line) => !line.includes('[roll back](../deploy.md#upgrade-and-roll-back)'))).toEqual([]);
});

function sectionOf(heading: string): string {
  const [, section] = new RegExp(`^### ${heading}\\n(.*?)(?=^##|$(?![\\s\\S]))`, 'ms').exec(document) ?? [];
  if (section === undefined) throw new Error(`docs/deploy.md has no section "${heading}"`);
  return section;
}

/** Each kind once, where it comes first. */
function orderOf(heading: string): string[] {
  const lines = fencedBlocks(sectionOf(heading)).flatMap(({ text }) => text.split('\n').map((line) => line.trim()));
  return [...new Set(lines.flatMap((line) => kinds.filter(([, pattern]) => pattern.test(line)).map(([kind]) => kind)))];
}
