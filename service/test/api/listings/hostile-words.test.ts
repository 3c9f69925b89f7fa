// Texts that nobody types, and some that somebody sends: each is searched in bounded time, and means the same when it is requested again.
import { describe, expect, test } from 'vitest';
import { interpret } from '../../../src/search/phrases/interpretation.ts';
import { searchPhrases } from '../../../src/search/phrases/phrase-table.ts';
import { tokensOf } from '../../../src/search/phrases/tokens.ts';
import { createManager } from '../../adoption-steps.ts';
import { addDescribed, idsOf, searchListings } from '../../listing-steps.ts';
import { openTestStore } from '../../test-store.ts';

const textsMax = 10_000;
/** Over HTTP; each is requested twice. */
const sentMax = 400;
const charactersMax = 100;
/** The worst of the texts, on a machine that does other things as well. Most take a tenth of a millisecond. */
const interpretMsMax = 50;
const suspectMs = 2;

const phrases = searchPhrases.flatMap(({ en }) => en);
const strange = [
  ...['"', '“', '”', '„', '«', "'", '%', '\\', '\\u0000', ':*', '&', '|', '!', '<->', '(', ')', ';--', '{}', '$1', '\u202e', '\u200f'],
  ...[
    '\u0301',
    '\u0301'.repeat(30),
    'e\u0323\u0301',
    'שלום',
    'كلب',
    'пёс',
    '猫',
    '🐶',
    '👨‍👩‍👧',
    '\ufeff',
    '\u00ad',
    'ﬀ',
    'İ',
    'ſ',
    '½',
    '٣',
    '𝔭𝔲𝔭',
  ],
  ...[
    '1',
    '99',
    '0',
    '2-',
    '-4',
    '2-4',
    '1.5.5',
    '9'.repeat(40),
    '5+',
    'years',
    'old',
    'under',
    'over',
    'between',
    'and',
    'or',
    ',',
    '.',
    '/',
  ],
  ...[
    'no',
    'not',
    'without',
    'never',
    'no no',
    'not good with',
    'without other',
    'hates',
    'free',
    'friendly',
    'instead of',
    'named',
    'in',
    'near',
  ],
  ...['a', 'the', 'x'.repeat(60), 'pupy', 'kiten', 'labrodor', '  ', '\u00a0'],
];

/** The same texts on each run. */
function randomOf(seed: number) {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function hostileTexts(): string[] {
  const random = randomOf(7);
  const piece = () => {
    const kind = random(10);
    if (kind < 4) return phrases[random(phrases.length)] ?? '';
    if (kind < 9) return strange[random(strange.length)] ?? '';
    return String.fromCodePoint(0x20 + random(0xd7_00));
  };
  return Array.from({ length: textsMax }, () => Array.from({ length: 1 + random(20) }, piece).join(random(4) === 0 ? '' : ' '));
}

const texts = hostileTexts();

test(`${textsMax} texts take no time to interpret, also those that are too long to be sent`, () => {
  const vocabulary = { categoryIds: new Map([['dog', 1n]]), places: new Map() };
  const long = [
    'not good with cats or '.repeat(1_000),
    'word '.repeat(1_000),
    '"'.repeat(10_000),
    '\u0301'.repeat(10_000),
    '2-4 '.repeat(1_000),
  ];
  const worst = [...texts, ...long.map((text) => text.slice(0, charactersMax))].map((text) => {
    const measure = () => {
      const startMs = performance.now();
      interpret(tokensOf(text), {}, vocabulary);
      return performance.now() - startMs;
    };
    const ms = measure();
    // Another process may have had the processor: the text is slow if it is slow each time.
    return { ms: ms < suspectMs ? ms : Math.min(ms, ...Array.from({ length: 5 }, measure)), text };
  });
  const [slowest] = worst.sort((a, b) => b.ms - a.ms);
  console.info(`The slowest text takes ${slowest?.ms.toFixed(2)} ms: ${JSON.stringify(slowest?.text)}`);
  expect(slowest?.ms).toBeLessThan(interpretMsMax);
});

describe('GET /v1/listings', () => {
  test('of a text with a NUL, or with a thousand words, is 400', async () => {
    const store = await openTestStore();
    const key = await store.createKey();
    for (const text of ['a\0b', 'word '.repeat(1_000), '"'.repeat(101)]) {
      expect((await searchListings(store, key, `?q=${encodeURIComponent(text)}`)).status).toBe(400);
    }
  });

  test(`of ${sentMax} texts is 200, with the same animals at its Content-Location`, async () => {
    const store = await openTestStore();
    const [key, manager] = [await store.createKey(), await createManager(store)];
    for (const [id, name] of [
      [1, 'Dogs'],
      [2, 'Cats'],
    ]) {
      await store.call('PUT', `/v1/categories/${id}`, { key: manager.key, body: { name } });
    }
    const profile = {
      size: 'small',
      birth_date: '2020-01-01',
      good_with_cats: 'yes',
      breed_primary: 'Labrador',
      description: 'No cats, not shy.',
    };
    for (const [name, categoryId] of [
      ['Puppy', 1],
      ['No', 2],
      ['Labrador', 1],
    ] as const) {
      await addDescribed(store, key, { name, categoryId, shelterId: 1 }, profile);
    }
    const wrong: unknown[] = [];
    let slowestMs = 0;
    // Control characters and lone surrogates are 400, as in every text.
    const sent = texts.map((text) => text.slice(0, charactersMax).replaceAll(/[\p{Cc}\p{Cs}]/gu, ' ')).filter((text) => text !== '');
    for (const text of sent.slice(0, sentMax)) {
      const startMs = performance.now();
      const response = await searchListings(store, key, `?q=${encodeURIComponent(text)}`);
      slowestMs = Math.max(slowestMs, performance.now() - startMs);
      const location = String(response.headers['content-location']);
      const again = await searchListings(store, key, location.slice(location.indexOf('?')));
      const isSame = response.status === 200 && again.status === 200 && idsOf(again).join() === idsOf(response).join();
      if (!isSame)
        wrong.push({
          text,
          status: response.status,
          location,
          again: again.status,
          found: idsOf(response),
          foundAgain: again.status === 200 && idsOf(again),
        });
    }
    console.info(`The slowest of ${sentMax} searches took ${slowestMs.toFixed(0)} ms.`);
    expect(wrong).toEqual([]);
  }, 120_000);
});
