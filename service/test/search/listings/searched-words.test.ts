// The words that a page of listings depends on.
import { describe, expect, test } from 'vitest';
import { correctWords } from '../../../src/search/listings/understanding.ts';
import { addPet, createManager } from '../../adoption-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const manager = await createManager(store);
await addPet(store, manager, { name: 'Schnauzer' });

const read = async (text: string) => (await store.dependencies.db.search((tx) => correctWords(tx, text), BigInt(manager.clientId))).words;

describe('The words of a search', () => {
  test('are those that were asked for if they are spelt right, without accents', async () => {
    expect(await read('Schnäuzer')).toEqual({ choices: [['schnauzer']] });
  });

  test('are those that were asked for and those that they are corrected to', async () => {
    expect(await read('schnauzr')).toEqual({ choices: [['schnauzr'], ['schnauzer']] });
  });

  test('that no list has are those that were asked for', async () => {
    expect(await read('xylophone schnauzer')).toEqual({ choices: [['xylophone', 'schnauzer']] });
  });

  test('are without those that PostgreSQL takes apart when it searches for them: a document has them in another form', async () => {
    const words = await store.write<{ word: string }>(`select unnest(tsvector_to_array(to_tsvector('listings', 'ŉ schnauzer'))) as word`);
    expect(words.map(({ word }) => word).sort()).toEqual(["'n", 'schnauzer']);
    expect((await read('ŉ schnauzer')).choices[0]).toEqual(['schnauzer']);
  });
});
