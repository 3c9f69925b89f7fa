// docs/guides/rehearsal.md shows some responses without the command. They must match a staging store's response to the given
// header.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openTestStore } from '../test-store.ts';
import { fencedBlocks } from './fenced-blocks.ts';
import { faultsOf } from './shown-responses.ts';

const guide = readFileSync(new URL('../../../docs/guides/rehearsal.md', import.meta.url), 'utf8');

const store = await openTestStore({ env: { HOMEWARD_ENVIRONMENT: 'staging' } });

describe('docs/guides/rehearsal.md', () => {
  test.each([
    { code: 'invalid_rehearsal', header: { 'Homeward-Now': 'tomorrow' } },
    { code: 'api_key_banned', header: { 'Homeward-Simulate': 'ban' } },
    { code: 'unavailable', header: { 'Homeward-Simulate': 'unavailable' } },
  ])('shows the actual response for $code', async ({ code, header }) => {
    const { key } = await store.createKey({ plan: 'free' });
    const { text } = await store.call('GET', '/v1/pets?id=1', { key, headers: header });
    const shown = fencedBlocks(guide).filter((block) => block.language === 'json' && block.text.includes(`"${code}"`));
    expect(shown.flatMap((block) => faultsOf(block, text))).toEqual([]);
    expect(shown).toHaveLength(1);
  });
});
