import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { Int64 } from '../../src/http/schemas.ts';
import { createValidatorCompiler } from '../../src/http/validation.ts';

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
