import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { plantMutant } from '../../../../testkit/mutant.ts';
import { SeededRandom } from '../../../../testkit/seeded-random.ts';
import { withoutPageTokens } from '../../../src/domain/page-links.ts';
import { type PageToken, PageTokens, pageUrl } from '../../../src/store/applications/page-tokens.ts';
import { alterations, alteredTokens } from '../../page/altered-tokens.ts';

const attempts = 10_000;
const secret = randomBytes(32);
const tokens = new PageTokens(secret);
const largest = 2n ** 63n - 1n;

/** The altered tokens that are accepted, by what was altered. */
function accepted(by: PageTokens, count = attempts): string[] {
  return alteredTokens(by, new SeededRandom(1), count).flatMap(({ how, text }) => (by.read(text) ? [`${how}: ${text}`] : []));
}

describe('A token of an adopter’s page', () => {
  test.each<PageToken>([
    { id: 1n, purpose: 'see' },
    { id: 1n, purpose: 'confirm' },
    { id: largest, purpose: 'confirm' },
  ])('of $id to $purpose is read as it was written', (token) => {
    expect(tokens.write(token)).toMatch(/^[0-9a-v]{40}$/);
    expect(tokens.read(tokens.write(token))).toEqual(token);
  });

  test('is another one for each id, purpose and secret', () => {
    const others = [tokens, new PageTokens(randomBytes(32))].flatMap((by) =>
      [1n, 2n].flatMap((id) => (['see', 'confirm'] as const).map((purpose) => by.write({ id, purpose }).slice(14))),
    );
    expect(new Set(others).size).toBe(8);
  });

  test('of another secret is not accepted', () => {
    expect(tokens.read(new PageTokens(randomBytes(32)).write({ id: 1n, purpose: 'see' }))).toBeUndefined();
  });

  test(`is accepted in none of ${attempts.toLocaleString('en')} other spellings, cut, with flipped bits, another purpose or another id`, () => {
    expect(accepted(tokens)).toEqual([]);
    const tried = new Set(alteredTokens(tokens, new SeededRandom(1), attempts).map(({ how }) => how));
    expect(tried).toEqual(new Set(Object.keys(alterations)));
  });

  test('whose purpose is not signed is found by that', async () => {
    using tree = plantMutant([
      {
        file: 'store/applications/page-tokens.ts',
        from: '.update(signed).digest()',
        to: '.update(signed.subarray(bytes.purpose)).digest()',
      },
    ]);
    const file = path.join(tree.root, 'service/src/store/applications/page-tokens.ts');
    const mutant = (await import(pathToFileURL(file).href)) as { PageTokens: typeof PageTokens };
    expect(new Set(accepted(new mutant.PageTokens(secret), 1_000).map((one) => one.split(':')[0]))).toEqual(new Set(['another purpose']));
  });
});

test('The address of a page is below the public URL; without one there is none', () => {
  expect(pageUrl('https://store.example/api', tokens, 7n)).toBe(`https://store.example/api/a/${tokens.write({ id: 7n, purpose: 'see' })}`);
  expect(pageUrl('', tokens, 7n)).toBeUndefined();
});

describe('withoutPageTokens', () => {
  const token = tokens.write({ id: 7n, purpose: 'confirm' });
  test.each([
    `/a/${token}`,
    `/a/${token}/withdraw?from=mail`,
    `/a/${token.slice(0, 39)}`,
    `//a//${token.slice(1)}`,
    `/A/${token.toUpperCase()}`,
    `/a%2f${token.slice(0, 30)}`,
    `https://store.example/a/${token}`,
    `/v1/pets?token=${token}&limit=3`,
    `/v1/pets?page=/a/${token.slice(0, 20)}`,
    `/a${token}`,
    `/${token}.`,
  ])('leaves nothing of the token in %s', (url) => {
    expect(withoutPageTokens(url).toLowerCase()).not.toMatch(/[0-9a-v]{10}/);
  });

  test.each(['/v1/pets?limit=3', '/v1/shelters/12', `/photos/${'0'.repeat(64)}.webp`, '/docs/a-guide'])('leaves %s as it is', (url) => {
    expect(withoutPageTokens(url)).toBe(url);
  });
});
