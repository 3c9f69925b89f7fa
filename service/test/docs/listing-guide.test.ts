// The guide to listings: it names every filter.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { listingFilters } from '../../src/domain/listing-filters.ts';

const guide = readFileSync(new URL('../../../docs/guides/listings.md', import.meta.url), 'utf8');

test('docs/guides/listings.md names every filter', () => {
  expect(Object.keys(listingFilters).filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
});
