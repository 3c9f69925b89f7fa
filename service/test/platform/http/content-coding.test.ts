import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseCoding, codingFor, codings, compress } from '../../../src/platform/http/protocol/representations.ts';

describe('The coding for Accept-Encoding', () => {
  test.each([
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['gzip, br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['gzip;q=0.501, br;q=0.5', 'gzip'],
    ['br;q=0.001', 'br'],
    ['deflate, gzip;q=0.5', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip ; q=0.5 , Br;Q=1', 'br'],
    ['\tbr\t', 'br'],
    ['*', 'br'],
    ['*;q=0.1', 'br'],
    ['gzip, *;q=0.5', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=0, br', 'br'],
    ['identity, gzip', 'gzip'],
    ['identity;q=0, gzip', 'gzip'],
    ['identity;q=0.5, gzip;q=0.8', 'gzip'],
    ['*;q=0, br', 'br'],
    [',, gzip ,', 'gzip'],
    ['nonsense;level=9, gzip', 'gzip'],
    ['br;q=2, gzip', 'gzip'],
  ])('%j is %s', (accepted, coding) => {
    expect(chooseCoding(accepted)).toBe(coding);
  });

  test.each([
    // Nothing that we have, or less than plain bytes.
    '',
    ' ',
    'identity',
    'deflate',
    'zstd, compress',
    'gzip;q=0',
    'gzip; q=0.0, br;q=0.000',
    '*;q=0',
    'gzip;q=0, *;q=0',
    'identity, gzip;q=0.5',
    'br;q=0.1, gzip;q=0.2, identity;q=0.3',
    'gzip;q=0, gzip',
    'gzip, gzip;q=0',
    // Not even plain bytes: those are sent all the same.
    'identity;q=0',
    '*;q=0, identity;q=0',
    'identity;q=0, gzip;q=0, br;q=0',
    // Malformed.
    'gzipped',
    'x-gzip',
    'gzip br',
    'gzip;q',
    'gzip;q=',
    'gzip;q=-1',
    'gzip;q=1.5',
    'gzip;q=0.1234',
    'gzip;q=.5',
    'gzip;q=1e0',
    'gzip;q=NaN',
    'gzip;q="1"',
    'gzip;q=1;q=0',
    'gzip;level=9',
    'gzip=1',
    'gzip;;q=1',
    '"gzip"',
    'gzip\u0000',
    'gzip\u00a0',
    'br\u2028',
    ';q=1',
    '**',
    '__proto__',
    'constructor, toString',
  ])('%j is the plain bytes', (accepted) => {
    expect(chooseCoding(accepted)).toBeUndefined();
  });

  test('is one of ours or none for any text', () => {
    const part = fc.stringMatching(/^[ \t]?(br|gzip|identity|\*|x|)[ \t]?(;[ \t]?q=(0|1|0\.5|2|x|)|)[ \t;]?$/);
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ maxLength: 200 }),
          fc.array(part).map((parts) => parts.join(',')),
        ),
        (accepted) => {
          expect([undefined, ...codings]).toContain(chooseCoding(accepted));
        },
      ),
    );
  });

  test.each(['a'.repeat(16_000), ' '.repeat(16_000), 'gzip;q=0.'.repeat(1_700), ','.repeat(16_000), `gzip${' '.repeat(16_000)}x`])(
    'takes no time for a header of 16 kB: %.12s…',
    (accepted) => {
      const startedAtMs = performance.now();
      chooseCoding(accepted);
      expect(performance.now() - startedAtMs).toBeLessThan(50);
    },
  );

  test('is none without the header, and for less than 1 KiB', () => {
    expect([codingFor(undefined, 10_000), codingFor('br', 1_023), codingFor('br', 1_024)]).toEqual([undefined, undefined, 'br']);
  });
});

describe('compress', () => {
  const text = 'Ein längerer Text 🐕. '.repeat(100);
  const expand = { br: brotliDecompressSync, gzip: gunzipSync };

  test.each(codings.flatMap((coding) => [[coding, 'fast'] as const, [coding, 'best'] as const]))('with %s, %s', async (coding, effort) => {
    const [fromText, fromBytes] = [await compress(text, coding, effort), await compress(Buffer.from(text), coding, effort)];
    expect(expand[coding](fromText).toString()).toBe(text);
    expect(fromBytes).toEqual(fromText);
    expect(fromText.length).toBeLessThan(200);
  });
});
