import { readFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { leadsTo, misspeltQuestions, questions } from '../../testkit/search-questions.ts';
import type { ApiDocument } from '../src/reference-document.ts';
import { makeIndex, openIndex, type Piece } from '../src/search-engine.ts';
import { searchEntries } from '../src/search-index.ts';
import { keywords } from '../src/search-words.ts';
import { siteContents } from '../src/site.ts';
import { readSiteFiles } from '../src/site-files.ts';

const files = readSiteFiles();
const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as ApiDocument;
const entries = searchEntries(files, document);
const index = makeIndex(entries);
const search = openIndex(index);
const firstFor = (typed: string) => search(typed)[0]?.url;
const textOf = (pieces: readonly Piece[]) => pieces.map(({ text }) => text).join('');
const markedIn = (pieces: readonly Piece[]) => pieces.filter(({ isMatch }) => isMatch).map(({ text }) => text);

describe('The search finds the right page first', () => {
  test('for 40 questions and 10 misspelt ones', () => {
    expect([questions.length, misspeltQuestions.length]).toEqual([40, 10]);
    const missed = [...questions, ...misspeltQuestions].filter((one) => !leadsTo(firstFor(one.typed) ?? '', one));
    expect(missed.map(({ typed, first }) => `"${typed}" leads to ${firstFor(typed)}, not to ${first}`)).toEqual([]);
  });

  test('for every error code, path, operation and event type as it is written', () => {
    const named = entries.filter(({ names }) => names);
    const missed = named.flatMap(({ url, names = '' }) => {
      const [name = ''] = names.split(' ').slice(names.startsWith('/v1') ? 1 : 0);
      return search(name)[0]?.url === url ? [] : [`${name} leads to ${search(name)[0]?.url}`];
    });
    expect(named.length).toBeGreaterThan(80);
    expect(missed).toEqual([]);
  });

  test('for a method and a path with a space between them', () => {
    expect(firstFor('post /v1/store/orders')).toBe('/docs/reference/orders#placeOrder');
    expect(firstFor('GET /v1/store/orders')).toBe('/docs/reference/orders#listOrders');
  });

  test.each([
    ...['sick animal', 'ill', 'stray', 'on trial', 'quarantine', 'foster', 'medical hold'],
    ...['died', 'dead animal', 'euthanised', 'euthanized', 'put to sleep', 'ran away', 'undo an outcome'],
  ])('for "%s": what to record', (typed) => {
    expect(firstFor(typed)).toMatch(/^\/docs\/(holds|shelters#(hold-an-animal|record-an-outcome))/);
  });

  test('while the last word is still being typed', () => {
    expect(firstFor('rate limit hea')).toBe('/docs/limits#rate-limit-headers');
  });

  test('for a version of the changelog', () => {
    expect(firstFor('v1.0.0')).toMatch(/^\/docs\/changelog#100/);
  });

  test('for a language: only sections with an example in it', () => {
    const results = search('python').map(({ url }) => url);
    const withPython = entries.filter(({ keywords: words = '' }) => /python/i.test(words)).map(({ url }) => url);
    expect(results.length).toBeGreaterThan(3);
    expect(results.filter((url) => !withPython.includes(url))).toEqual([]);
  });

  test('and takes a number as it is: no code has the status 428', () => {
    expect(search('428')).toEqual([]);
  });
});

describe('A result', () => {
  test('has the page, the section and an excerpt, with the match marked', () => {
    const [result] = search('good client jitter');
    expect(result?.url).toBe('/docs/limits#what-a-good-client-does');
    expect(textOf(result?.page ?? [])).toBe('Limits');
    expect(textOf(result?.heading ?? [])).toBe('What a good client does');
    expect(markedIn(result?.excerpt ?? [])).toEqual(expect.arrayContaining(['clients', 'jitter']));
  });

  test('has an excerpt of bounded length that shows a match far down in the text', () => {
    const [result] = search('eventsource readystate');
    expect(markedIn(result?.excerpt ?? []).length).toBeGreaterThan(0);
    for (const { excerpt } of search('order')) expect(textOf(excerpt).length).toBeLessThan(150);
  });

  test('is one of at most 8, of which at most 3 are of one page', () => {
    const urls = search('order animal event').map(({ url }) => url.split('#', 1)[0] ?? '');
    const counts = Object.values(Object.groupBy(urls, (url) => url)).map((same) => same?.length ?? 0);
    expect(urls.length).toBe(8);
    expect(Math.max(...counts)).toBe(3);
  });
});

describe('Any input', () => {
  test('returns a list, soon', () => {
    const inputs = ['', ' ', '?', '"', '…', '<script>', '__proto__', 'constructor', '(((', '\\', '🐶', '\u0000'];
    for (const typed of [...inputs, 'a'.repeat(100_000), 'x '.repeat(50_000)]) {
      const before = process.cpuUsage();
      expect(Array.isArray(search(typed))).toBe(true);
      expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
    }
  });
});

describe('The index', () => {
  const pages = siteContents(files, document);

  test('leads only to pages and sections that exist', () => {
    const texts = new Map(
      [...new Set(entries.map(({ url }) => url.split('#')[0] ?? ''))].map((page) => [page, String(pages.get(page)?.() ?? '')]),
    );
    const dead = entries.filter(({ url }) => {
      const [page = '', id] = url.split('#');
      const text = texts.get(page) ?? '';
      return text === '' || (id !== undefined && !text.includes(` id="${id}"`));
    });
    expect(dead.map(({ url }) => url)).toEqual([]);
  });

  test('has every page but the start page and the one for missing pages', () => {
    const known = new Set(entries.map(({ url }) => url.split('#', 1)[0]));
    const paths = [...pages.keys()].filter((path) => !/\.\w+$/.test(path) && !['/docs', '/404'].includes(path));
    expect(paths.length).toBeGreaterThan(50);
    expect(paths.filter((path) => !known.has(path))).toEqual([]);
  });

  test('has keywords only for entries that exist, which a renamed heading would break', () => {
    const urls = new Set(entries.map(({ url }) => url));
    expect(Object.keys(keywords).filter((url) => !urls.has(url))).toEqual([]);
  });

  test('has the text of sections without markup and entities', () => {
    expect(entries.filter(({ text }) => /<\/?\w+[ >]|&\w+;|&#\d+;/.test(text.replaceAll(/<[A-Z_]+>/g, ''))).map(({ url }) => url)).toEqual(
      [],
    );
  });

  test('is small enough to load when the search is opened', () => {
    expect(brotliCompressSync(index).length).toBeLessThan(80_000);
  });
});
