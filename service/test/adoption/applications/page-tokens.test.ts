import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { plantMutant } from '../../../../testkit/mutant.ts';
import { SeededRandom } from '../../../../testkit/seeded-random.ts';
import { linkNumberMax, type PageToken, PageTokens, pageUrl } from '../../../src/adoption/applications/page-tokens.ts';
import { withoutPageTokens } from '../../../src/domain/token-formats.ts';
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
    { id: 1n, purpose: 'see', number: 0n },
    { id: 1n, purpose: 'confirm', number: 0n },
    { id: largest, purpose: 'confirm', number: 0n },
    { id: 1n, purpose: 'see', number: 1n },
    { id: 1n, purpose: 'withdraw', number: 1n },
    { id: largest, purpose: 'erase', number: BigInt(linkNumberMax) },
  ])('of $id to $purpose, number $number, is read as it was written', (token) => {
    expect(tokens.write(token)).toMatch(token.number === 0n ? /^[0-9a-v]{40}$/ : /^[0-9a-v]{48}$/);
    expect(tokens.read(tokens.write(token))).toEqual(token);
  });

  test('is another one for each id, purpose, number and secret', () => {
    const others = [tokens, new PageTokens(randomBytes(32))].flatMap((by) =>
      [1n, 2n].flatMap((id) =>
        (['see', 'confirm', 'withdraw', 'erase'] as const).flatMap((purpose) =>
          [0n, 1n, 2n].map((number) => by.write({ id, purpose, number }).slice(-25)),
        ),
      ),
    );
    expect(new Set(others).size).toBe(48);
  });

  test('of another secret is not accepted', () => {
    expect(tokens.read(new PageTokens(randomBytes(32)).write({ id: 1n, purpose: 'see', number: 0n }))).toBeUndefined();
  });

  test(`is accepted in none of ${attempts.toLocaleString('en')} other spellings, cut, with flipped bits, another purpose, another id or another number`, () => {
    expect(accepted(tokens)).toEqual([]);
    const tried = new Set(alteredTokens(tokens, new SeededRandom(1), attempts).map(({ how }) => how));
    expect(tried).toEqual(new Set(Object.keys(alterations)));
  });

  test('whose purpose is not signed is found by that', async () => {
    using tree = plantMutant([
      {
        file: 'adoption/applications/page-tokens.ts',
        from: '.update(signed).digest()',
        to: '.update(signed.subarray(bytes.purpose)).digest()',
      },
    ]);
    const file = path.join(tree.root, 'service/src/adoption/applications/page-tokens.ts');
    const mutant = (await import(pathToFileURL(file).href)) as { PageTokens: typeof PageTokens };
    expect(new Set(accepted(new mutant.PageTokens(secret), 1_000).map((one) => one.split(':')[0]))).toEqual(new Set(['another purpose']));
  });
});

test('The address of a page is below the public URL; without one there is none', () => {
  const token = { id: 7n, purpose: 'see', number: 0n } as const;
  expect(pageUrl('https://store.example/api', tokens, token)).toBe(`https://store.example/api/a/${tokens.write(token)}`);
  expect(pageUrl('', tokens, token)).toBeUndefined();
});

describe('withoutPageTokens', () => {
  const token = tokens.write({ id: 7n, purpose: 'confirm', number: 0n });
  const numbered = tokens.write({ id: 7n, purpose: 'erase', number: 99n });
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
    `/a/${numbered}`,
    `/v1/pets?token=${numbered}`,
    `/${numbered}0.`,
  ])('leaves nothing of the token in %s', (url) => {
    expect(withoutPageTokens(url).toLowerCase()).not.toMatch(/[0-9a-v]{10}/);
  });

  test.each(['/v1/pets?limit=3', '/v1/shelters/12', `/photos/${'0'.repeat(64)}.webp`, '/docs/a-guide'])('leaves %s as it is', (url) => {
    expect(withoutPageTokens(url)).toBe(url);
  });
});
