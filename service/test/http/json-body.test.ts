import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJsonBody } from '../../src/http/json-body.ts';

const parse = (text: string) => parseJsonBody(Buffer.from(text));
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

describe('parseJsonBody, an integer', () => {
  test('of any size within int64 keeps every digit', () => {
    const isKept = fc.property(int64, (value) => {
      expect(BigInt(parse(String(value)) as bigint)).toBe(value);
    });
    fc.assert(isKept);
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
    '%s, which a double can only round to an integer, is none',
    (text) => {
      expect(parse(text)).toBeNaN();
    },
  );

  test('of a hundred thousand digits is read in linear time', () => {
    expect(parse(`1.${'9'.repeat(100_000)}e5`)).toBeNaN();
    expect(parse(`1.${'0'.repeat(100_000)}1`)).toBeNaN();
  });
});

describe('parseJsonBody, a text', () => {
  test('of digits stays a text', () => {
    expect(parse('{"a":"9007199254740993"}')).toEqual({ a: '9007199254740993' });
  });

  test('of any kind stays as it is, beside a long number too', () => {
    const isKept = fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(parse(`{"n":9007199254740993,"text":${JSON.stringify(text)}}`)).toMatchObject({ text });
    });
    fc.assert(isKept);
  });
});

describe('parseJsonBody refuses', () => {
  test.each([
    ['what is cut off', '{"a":'],
    ['two values', '{}{}'],
    ['a comment', '{} // x'],
    ['a comma too much', '[1,]'],
    ['NaN', 'NaN'],
    ['a number with leading zeros', '01'],
    ['a control character in a text', '"\u0001"'],
    ['blanks alone', '  '],
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

  test('no brackets that stand in a text', () => {
    expect(parse(JSON.stringify({ a: `${'['.repeat(100)}\\"${'{'.repeat(100)}` }))).toBeDefined();
  });
});

describe('parseJsonBody of a byte order mark', () => {
  test('passes over it', () => {
    expect(parse('\ufeff{"a":1}')).toEqual({ a: 1 });
  });
});

describe('parseJsonBody of nothing', () => {
  test('is nothing: whether a body is needed is not its matter', () => {
    expect(parseJsonBody(Buffer.alloc(0))).toBeUndefined();
  });
});
