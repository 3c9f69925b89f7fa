// The table of metrics in docs/operations/metrics.md is that of the program. What each means is in its `# HELP` line alone.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { metricTable } from '../../src/operations/telemetry/metric-table.ts';

const markdown = readFileSync(new URL('../../../docs/operations/metrics.md', import.meta.url), 'utf8');

const processesOf = {
  all: 'all',
  http: '`serve`, `console`',
  serve: '`serve`',
  console: '`console`',
  worker: '`worker`',
} as const;

test('docs/operations/metrics.md lists every metric, with its processes and labels', () => {
  const rows = Object.entries(metricTable).map(([name, { in: where, labels }]) => {
    const names = labels.length > 0 ? `{${labels.join(',')}}` : '';
    return `| \`${name}${names}\` | ${processesOf[where]} |`;
  });
  const listed = markdown.split('\n').filter((line) => /^\| `(homeward|process)_/.test(line));
  expect(listed).toEqual(rows);
});
