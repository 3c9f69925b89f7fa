// PostgreSQL can plan every statement that docs/operations shows: at night nobody has time to find out what a column is called now.
import { expect, test } from 'vitest';
import { openTestStore } from '../test-store.ts';
import { fencedBlocks, withoutBlocks } from './fenced-blocks.ts';
import { operations } from './operations-pages.ts';

const inline = [...withoutBlocks(operations).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
const blocks = fencedBlocks(operations)
  .filter(({ language }) => language === 'sql')
  .flatMap(({ text }) => text.split(';').map((statement) => statement.trim()));
/** An `…` is for the reader to fill in, and two functions are for a superuser. */
const statements = [...new Set([...inline, ...blocks])].filter(
  (code) => /^(select|update) /.test(code) && !/…|pg_reload_conf|pg_switch_wal/.test(code),
);

const store = await openTestStore();

test('docs/operations shows twenty statements or more', () => {
  expect(statements.length).toBeGreaterThanOrEqual(20);
});

test.each(statements)('%s', async (statement) => {
  expect(await store.write(`explain ${statement}`)).not.toEqual([]);
});
