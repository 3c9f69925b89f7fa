import { describe, expect, test } from 'vitest';
import { codedEtag, etagOf, isUnmodified, matchesEtag } from '../../../src/platform/http/protocol/representations.ts';

const etag = etagOf('[]');
const hash = etag.slice(1, -1);
const ofAnyCoding = [etag, `"${hash}-gzip"`, `"${hash}-br"`];

test('The ETag of a body has a suffix for each coding', () => {
  expect([codedEtag(etag, undefined), codedEtag(etag, 'gzip'), codedEtag(etag, 'br')]).toEqual(ofAnyCoding);
});

test('A hash that happens to end like a suffix is only itself', () => {
  expect(matchesEtag('"0123456789012345678-br"', '"0123456789012345678-br"')).toBe(true);
  expect(matchesEtag('"0123456789012345678-br"', '"0123456789012345678"')).toBe(true);
  expect(matchesEtag('"0123456789012345678"', '"0123456789012345678-br"')).toBe(false);
});

describe('If-Match, a strong comparison,', () => {
  test.each([...ofAnyCoding, '*', ` ${etag} `, `"other", "${hash}-br"`, `W/${etag}, ${etag}`])('matches %s', (field) => {
    expect(matchesEtag(field, etag)).toBe(true);
  });

  test.each([
    '',
    '"other"',
    hash,
    `W/${etag}`,
    `W/"${hash}-gzip"`,
    `"${hash}-zstd"`,
    `"${hash}-GZIP"`,
    `"${hash}-gzip-gzip"`,
    `"${hash}-gzip-br"`,
    `"${hash}-"`,
    `"${hash}gzip"`,
    `"-gzip"`,
    `${etag}-gzip`,
  ])('does not match %s', (field) => {
    expect(matchesEtag(field, etag)).toBe(false);
  });
});

describe('If-None-Match, a weak comparison,', () => {
  test.each([...ofAnyCoding, ...ofAnyCoding.map((one) => `W/${one}`), '*', `"a", W/"${hash}-br", "b"`])('matches %s', (field) => {
    expect(isUnmodified(field, etag)).toBe(true);
  });

  test.each([undefined, '', '"other"', `W/"${hash}-zstd"`, `w/${etag}`])('does not match %s', (field) => {
    expect(isUnmodified(field, etag)).toBe(false);
  });
});
