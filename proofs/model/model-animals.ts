// Bodies that a client may send to add an animal: valid ones, and ones that must be rejected.
import fc from 'fast-check';
import type { ModelStatus } from './model-store.ts';

export type NewAnimal =
  | { readonly body: string; readonly name: string; readonly categoryId: bigint; readonly status: ModelStatus }
  | { readonly body: string; readonly rejection: 'invalid_json' | 'invalid_body' };

const often = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });

const validName = fc
  .oneof(
    often(4, fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })),
    often(2, fc.string({ unit: 'binary', minLength: 1, maxLength: 200 })),
    often(
      1,
      fc.constantFrom(
        'a'.repeat(200),
        '🐕'.repeat(200),
        ' x',
        "Robert'); drop table pets;--",
        '<script>',
        '\u202ename',
        '\ufeffx',
        'null',
        '{}',
        '%00',
        '\\u0000',
      ),
    ),
  )
  .filter((name) => name.trim() !== '' && !/[\p{Cc}\p{Cs}]/u.test(name) && [...name].length <= 200);
/** A name as a JSON string: with the characters themselves, or with all of them escaped. */
const jsonString = (name: string) =>
  fc
    .boolean()
    .map((escaped) =>
      escaped
        ? `"${[...Array(name.length).keys()].map((i) => `\\u${name.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')}"`
        : JSON.stringify(name),
    );
const numeral: fc.Arbitrary<readonly [string, bigint]> = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((n) => [String(n), n] as const),
  fc.integer({ min: 1, max: 12 }).map((n) => [String(n), BigInt(n)] as const),
  fc.constantFrom(
    ['1.0', 1n],
    ['1e2', 100n],
    ['-0', 0n],
    ['2E+1', 20n],
    ['300e-2', 3n],
    ['1.50e1', 15n],
    ['9007199254740991.0', 9007199254740991n],
  ) as fc.Arbitrary<readonly [string, bigint]>,
);
const extra = fc.constantFrom('', ',"id":77', ',"clientId":1,"createdAt":"x"', ',"tags":[{"a":[1.5,null]}]', ',"Name":"other"');

export const validAnimal: fc.Arbitrary<NewAnimal> = validName.chain((name) =>
  fc
    .record({
      nameText: jsonString(name),
      number: numeral,
      given: fc.constantFrom<ModelStatus | undefined>(undefined, 'available', 'pending', 'sold'),
      more: extra,
    })
    .map(({ nameText, number: [numberText, categoryId], given, more }) => ({
      body: ` {"name":${nameText},"categoryId":${numberText}${given ? `,"status":"${given}"` : ''}${more}}\n`,
      name,
      categoryId,
      status: given ?? 'available',
    })),
);
const withField = (field: string, value: string) =>
  JSON.stringify({ name: 'a', categoryId: 1, status: 'sold', [field]: '?' }).replace('"?"', value);
export const hostileAnimal: fc.Arbitrary<NewAnimal> = fc.oneof(
  fc
    .constantFrom(
      '""',
      '" "',
      '"\\u2003"',
      '"\\u0000"',
      '"a\\u0007"',
      '"\\ud800"',
      '"a\\udc00b"',
      '1',
      'null',
      '[]',
      '{}',
      'true',
      `"${'a'.repeat(201)}"`,
      `"${'🐕'.repeat(201)}"`,
      '"\\u0085a"',
    )
    .map((value) => ({ body: withField('name', value), rejection: 'invalid_body' as const })),
  fc
    .constantFrom(
      '1.5',
      '"1"',
      'true',
      'null',
      '[1]',
      '9223372036854775808',
      '-9223372036854775809',
      '1e19',
      '1e400',
      '9007199254740993.0',
      '9007199254740993e0',
      '4503599627370497.5',
      '1.00000000000000001',
      '1e-400',
      '{}',
    )
    .map((value) => ({ body: withField('categoryId', value), rejection: 'invalid_body' as const })),
  fc
    .constantFrom('"gone"', '""', 'null', '1', '["sold"]', '"SOLD"')
    .map((value) => ({ body: withField('status', value), rejection: 'invalid_body' as const })),
  fc
    .constantFrom('', '{}', '[]', 'null', '"a"', '1', '{"name":"a"}', '{"categoryId":1}')
    .map((body) => ({ body, rejection: 'invalid_body' as const })),
  fc
    .constantFrom(
      ' ',
      '{',
      '{"name":}',
      `${withField('name', '"a"')}x`,
      "{'name':'a'}",
      'undefined',
      'NaN',
      '{"name":"a\u0001","categoryId":1}',
      '['.repeat(100) + ']'.repeat(100),
    )
    .map((body) => ({ body, rejection: 'invalid_json' as const })),
  fc
    .constantFrom(
      '{"name":"a","categoryId":1,"__proto__":{}}',
      '{"name":"a","categoryId":1,"constructor":{"prototype":{}}}',
      '{"a":{"__proto__":1}}',
      '{"name":"a","categoryId":01}',
    )
    .map((body) => ({ body, rejection: 'invalid_json' as const })),
);
