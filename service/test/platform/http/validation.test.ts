import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { createValidatorCompiler } from '../../../src/platform/http/schema-compilers.ts';
import { Int64 } from '../../../src/platform/http/schemas.ts';

const compile = createValidatorCompiler([]);
const route = { method: 'POST', url: '/' };

function messageOf(httpPart: 'body' | 'querystring', schema: object, value: unknown): unknown {
  const { error } = compile({ schema, ...route, httpPart })(value) as { error?: Error };
  return error?.message;
}

describe('The message for a body', () => {
  const schema = Type.Object({
    url: Type.Optional(Type.String({ minLength: 1, maxLength: 2_000 })),
    from: Type.Optional(Type.String({ maxLength: 40 })),
    code: Type.Optional(Type.String({ minLength: 3 })),
    types: Type.Optional(Type.Array(Type.Object({ id: Int64() }))),
  });

  test.each([
    ['is empty', null, 'The request body is empty or null. Send a JSON object.'],
    ['is not an object', 'A', 'The body must be an object; got "A".'],
    ['has a text that is too short', { url: '' }, 'url must be a string of 1–2,000 characters; got "".'],
    ['has a text that is too long', { from: 'x'.repeat(41) }, `from must be a string of at most 40 characters; got "${'x'.repeat(41)}".`],
    ['has a text below a minimum', { code: 'ab' }, 'code must be a string of at least 3 characters; got "ab".'],
    ['has a wrong item in a list', { types: ['A'] }, 'types[0] must be an object; got "A".'],
    ['has a wrong field in a list', { types: [{ id: 1 }, { id: 'A' }] }, 'types[1].id must be an integer (int64); got "A".'],
    ['lacks a field in a list', { types: [{}] }, 'types[0].id is required.'],
  ])('that %s', (_, body, message) => {
    expect(messageOf('body', schema, body)).toBe(message);
  });
});

describe('The message for a query', () => {
  const schema = Type.Object({ id: Type.Array(Int64()), petId: Int64() });

  test.each(['1,2', '1, 2', '-1,2,3'])('with the list %s in one parameter says how to send several', (id) => {
    expect(messageOf('querystring', schema, { id, petId: '1' })).toBe('id must be an integer. To ask for several, repeat it: id=1&id=2.');
  });

  test.each([
    [{ id: 'a,b', petId: '1' }, 'id must be an integer (int64); got "a,b".'],
    [{ id: '1', petId: '1,2' }, 'petId must be an integer (int64); got "1,2".'],
    [{ id: '1', petId: ['1', '2'] }, 'petId is given 2 times; give it once.'],
    [{ id: '1' }, 'The query parameter petId is required.'],
  ])('%j', (query, message) => {
    expect(messageOf('querystring', schema, query)).toBe(message);
  });
});

describe('The message for several faults', () => {
  const Adopter = Type.Object({ name: Type.String({ minLength: 1 }), email: Type.String({ minLength: 3 }) }, { $id: 'Adopter' });
  const ofAdopter = createValidatorCompiler([Adopter]);
  const order = Type.Object({
    petId: Int64(),
    adopter: Type.Unsafe({ $ref: 'Adopter#' }),
    types: Type.Optional(Type.Array(Type.String())),
    status: Type.Optional(Type.Unsafe({ type: 'string', enum: ['a', 'b'], default: 'a' })),
  });
  const ofOrder = (body: unknown) => (ofAdopter({ schema: order, ...route, httpPart: 'body' })(body) as { error?: Error }).error?.message;

  test.each([
    [{}, 'petId is required. adopter is required.'],
    [
      { petId: 'x', adopter: { name: '' } },
      'petId must be an integer (int64); got "x". adopter.name must be a string of at least 1 characters; got "". adopter.email is required.',
    ],
    [{ petId: 1, adopter: { name: 'Ada' }, status: 'c' }, 'adopter.email is required. status must be one of a, b; got "c".'],
    [{ petId: 1, adopter: 5, types: ['a', 1, 2] }, 'adopter must be an object; got 5. types[1] must be a string; got 1.'],
    [{ petId: 1, adopter: { name: 'Ada' } }, 'adopter.email is required.'],
    [{ petId: 1, adopter: { name: 'Ada', email: 'ada@example.org' }, types: [1, 2, 3] }, 'types[0] must be a string; got 1.'],
  ])('in the body %j lists every invalid field', (body, message) => {
    expect(ofOrder(body)).toBe(message);
  });

  test('shows the first five fields and counts the others', () => {
    const schema = Type.Object(Object.fromEntries('abcdefgh'.split('').map((name) => [name, Type.Integer()])));
    const five = 'a is required. b must be an integer; got "x". c is required. d is required. e is required.';
    expect(messageOf('body', schema, { b: 'x' })).toBe(`${five} And 3 more.`);
    expect(messageOf('body', schema, { b: 'x', f: 1, g: 1 })).toBe(`${five} And 1 more.`);
    expect(messageOf('body', schema, { b: 'x', f: 1, g: 1, h: 1 })).toBe(five);
  });

  test('names the rule for the body as a whole if no field is invalid', () => {
    const rule = { anyOf: [{ required: ['a'] }, { required: ['b'] }], 'x-must-be': 'an object with a or b' };
    const schema = Type.Object({ a: Type.Optional(Type.Integer()), b: Type.Optional(Type.Integer()) }, rule);
    expect(messageOf('body', schema, {})).toBe('The body must be an object with a or b; got {}.');
    expect(messageOf('body', schema, { a: 'x', b: 'y' })).toBe('a must be an integer; got "x". b must be an integer; got "y".');
  });

  const query = Type.Object(
    { limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })), id: Type.Optional(Type.Array(Int64())), petId: Int64() },
    { additionalProperties: false },
  );

  test.each([
    [
      { limit: '0', id: ['1', 'x', 'y'], petId: '1' },
      'limit must be an integer from 1 to 100; got 0. id must be an integer (int64); got "x".',
    ],
    [{ limit: ['1', '2'], petId: ['1', '2'] }, 'limit is given 2 times; give it once. petId is given 2 times; give it once.'],
    [
      { colour: 'red', limit: '0', size: '1' },
      'limit must be an integer from 1 to 100; got 0. The query parameter petId is required. Unknown query parameter "colour". Unknown query parameter "size". This operation takes limit, id, petId.',
    ],
    [{ petId: '1', x: '1' }, 'Unknown query parameter "x". This operation takes limit, id, petId.'],
  ])('in the query %j lists every parameter', (received, message) => {
    expect(messageOf('querystring', query, received)).toBe(message);
  });

  test('counts unknown parameters beyond the fifth', () => {
    const received = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`p${i}`, '']));
    const message = String(messageOf('querystring', query, { petId: '1', ...received }));
    expect(message).toMatch(/^(Unknown query parameter "p\d"\. ){5}And 995 more\. This operation takes limit, id, petId\.$/);
  });
});

describe('A hostile body', () => {
  const schema = Type.Object({
    types: Type.Array(Type.Object({ id: Int64() })),
    more: Type.Array(Type.String()),
    name: Type.String(),
  });

  test('is validated up to the first invalid item of each list', () => {
    let reads = 0;
    const listOf = (length: number) =>
      new Proxy(Array(length).fill(0), {
        get: (target, name) => {
          if (/^\d+$/.test(String(name))) reads += 1;
          return Reflect.get(target, name);
        },
      });
    expect(messageOf('body', schema, { types: listOf(500_000), more: listOf(500_000), name: 1 })).toBe(
      'types[0] must be an object; got 0. more[0] must be a string; got 0. name must be a string; got 1.',
    );
    expect(reads).toBeLessThan(20);
  });
});
