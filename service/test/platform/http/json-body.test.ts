import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJsonBody } from '../../../src/platform/http/json-body.ts';

const parse = (text: string) => parseJsonBody(Buffer.from(text));
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

describe('parseJsonBody, an integer', () => {
  test('of any size within int64 is exact', () => {
    const isExact = fc.property(int64, (value) => {
      expect(BigInt(parse(String(value)) as bigint)).toBe(value);
    });
    fc.assert(isExact);
  });

  test.each([
    ['999999999999999', 999_999_999_999_999],
    ['1000000000000000', 1_000_000_000_000_000n],
    ['9007199254740993', 9_007_199_254_740_993n],
    ['-9007199254740993', -9_007_199_254_740_993n],
  ])('%s is exact', (text, value) => {
    expect(parse(text)).toBe(value);
  });

  test('deep in an object is exact too', () => {
    expect(parse('{"a":[{"b":9007199254740993}]}')).toEqual({ a: [{ b: 9_007_199_254_740_993n }] });
  });
});

describe('parseJsonBody, a number', () => {
  test.each([
    ['1.0', 1],
    ['1e2', 100],
    ['1.5E+1', 15],
    ['100e-2', 1],
    ['1.0000000000000000', 1],
    ['0.0000000000000000', 0],
    ['0e-999', 0],
    ['123456789.0000000000', 123_456_789],
    ['1.5', 1.5],
    ['0.1e-5', 0.000001],
  ])('%s is %d', (text, value) => {
    expect(parse(text)).toBe(value);
  });

  test.each(['1.00000000000000001', '100000000.000000001', '0.99999999999999999', '1.00000000000000001e0', '1e-400', '1.5e-400'])(
    '%s, which is only an integer when rounded to a double, is NaN',
    (text) => {
      expect(parse(text)).toBeNaN();
    },
  );

  test('of a hundred thousand digits is parsed in linear time', () => {
    expect(parse(`1.${'9'.repeat(100_000)}e5`)).toBeNaN();
    expect(parse(`1.${'0'.repeat(100_000)}1`)).toBeNaN();
  });
});

describe('parseJsonBody, a string', () => {
  test('of digits stays a string', () => {
    expect(parse('{"a":"9007199254740993"}')).toEqual({ a: '9007199254740993' });
  });

  test('of any kind is unchanged, also beside a long number', () => {
    const isUnchanged = fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(parse(`{"n":9007199254740993,"text":${JSON.stringify(text)}}`)).toMatchObject({ text });
    });
    fc.assert(isUnchanged);
  });
});

describe('parseJsonBody rejects', () => {
  test.each([
    ['JSON that is cut off', '{"a":'],
    ['two values', '{}{}'],
    ['a comment', '{} // x'],
    ['a trailing comma', '[1,]'],
    ['NaN', 'NaN'],
    ['a number with leading zeros', '01'],
    ['a control character in a string', '"\u0001"'],
    ['only spaces', '  '],
  ])('%s', (_, text) => {
    expect(() => parse(text)).toThrow('The body is not valid JSON');
  });

  test('bytes that are not UTF-8', () => {
    expect(() => parseJsonBody(Buffer.from([0x22, 0xff, 0x22]))).toThrow('The body is not valid UTF-8.');
  });

  test.each(['{"__proto__":{}}', '{"a":{"__proto__":1}}', '{"constructor":{"prototype":{}}}', '{"\\u005f_proto__":1}'])(
    '%s, which would change a prototype',
    (text) => {
      expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'invalid_json' }));
    },
  );

  test('more than 64 levels', () => {
    expect(parse('['.repeat(64) + ']'.repeat(64))).toBeDefined();
    expect(() => parse('['.repeat(65) + ']'.repeat(65))).toThrow('The body is nested more than 64 levels deep.');
  });

  test('no number of brackets within a string', () => {
    expect(parse(JSON.stringify({ a: `${'['.repeat(100)}\\"${'{'.repeat(100)}` }))).toBeDefined();
  });
});

describe('parseJsonBody of a byte order mark', () => {
  test('skips it', () => {
    expect(parse('\ufeff{"a":1}')).toEqual({ a: 1 });
  });
});

describe('parseJsonBody of an empty body', () => {
  test('is undefined: the schema decides whether a body is required', () => {
    expect(parseJsonBody(Buffer.alloc(0))).toBeUndefined();
  });
});
