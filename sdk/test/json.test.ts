import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exactText, parseJson, writeJson } from '../src/json.ts';

describe('parseJson', () => {
  test('returns numbers while they are exact, and bigints beyond', () => {
    expect(parseJson('{"a":9007199254740991,"b":9007199254740992,"c":-9223372036854775808}')).toEqual({
      a: 9007199254740991,
      b: 9007199254740992n,
      c: -9223372036854775808n,
    });
  });

  test('leaves digits in strings alone, whatever surrounds them', () => {
    const value = { '9007199254740993': 'a "9007199254740993" \\', list: ['\\"', '1234567890123456789'] };
    expect(parseJson(JSON.stringify(value))).toEqual(value);
  });

  test('round-trips everything that writeJson writes, exactly', () => {
    const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => (isSafe(value) ? Number(value) : value));
    const leaf = fc.oneof(
      int64,
      fc.string({ unit: 'binary' }),
      fc.boolean(),
      fc.constant(null),
      fc.string({ unit: fc.constantFrom('"', '\\', '1', ' ', '{') }),
    );
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('value')),
        fc.dictionary(
          fc.string().filter((key) => key !== '__proto__'),
          tie('value'),
          { noNullPrototype: true },
        ),
      ),
    })).value;
    const roundTrips = fc.property(json, (value) => isDeepStrictEqual(parseJson(writeJson(value)), value));
    expect(fc.check(roundTrips, { numRuns: 200 })).toMatchObject({ failed: false });
  });
});

describe('writeJson', () => {
  test('omits undefined fields, as JSON.stringify does', () => {
    expect(writeJson({ a: undefined, b: [1, 'x'], c: null })).toBe('{"b":[1,"x"],"c":null}');
  });

  test('throws on a number that was already rounded', () => {
    expect(() => writeJson({ id: 2 ** 53 })).toThrow(RangeError);
    expect(() => exactText(-(2 ** 60))).toThrow('Pass a bigint');
  });
});

const isSafe = (value: bigint) => value >= -(2n ** 53n) + 1n && value <= 2n ** 53n - 1n;
