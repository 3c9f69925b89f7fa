// The table of metrics in docs/operations.md is that of the program.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { metricTable } from '../../src/operations/telemetry/metric-table.ts';

const markdown = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');

const processesOf = {
  all: ['serve', 'worker', 'console'],
  http: ['serve', 'console'],
  serve: ['serve'],
  console: ['console'],
  worker: ['worker'],
} as const;

test('docs/operations.md lists every metric, with its labels and its help', () => {
  const rows = Object.entries(metricTable).map(([name, { type, in: where, labels, help }]) => {
    const processes = processesOf[where].map((name) => `\`${name}\``).join(', ');
    const names = labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${type} | ${processes} | ${names} | ${help} |`;
  });
  const listed = markdown.split('\n').filter((line) => /^\| `(homeward|process)_/.test(line));
  expect(listed).toEqual(rows);
});
