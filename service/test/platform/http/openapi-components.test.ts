import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findComponent, type InlineDocument, inlineComponents, shareComponents } from '../../../src/platform/http/openapi-components.ts';

const limit = { schema: { type: 'integer' }, description: 'The limit.' };
const error = (...codes: string[]) => ({
  description: codes.join(' or '),
  headers: { 'X-Limit': limit },
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/Error' },
      examples: Object.fromEntries(codes.map((code) => [code, { value: { code } }])),
    },
  },
});
const pet = { description: 'The animal.', content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } };
const pets = { description: 'All animals.' };
const petId = { name: 'petId', in: 'path', required: true };

const documentOf = (...operations: ReadonlyArray<InlineDocument['paths'][string][string]>): InlineDocument => ({
  paths: Object.fromEntries(operations.map((operation, i) => [`/${i}`, { get: operation }])),
  components: { schemas: { Error: { type: 'object' }, Pet: { type: 'object' } } },
});

interface Shared {
  readonly paths: Readonly<Record<string, { get: { parameters?: unknown[]; responses: Record<string, unknown> } }>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}
const share = (document: InlineDocument) => shareComponents(document) as Shared;

describe('shareComponents', () => {
  test('moves a repeated parameter, response, header and example into components, and leaves references', () => {
    const { paths, components } = share(
      documentOf(
        { parameters: [petId], responses: { 401: error('no_key'), 404: error('no_pet') } },
        { parameters: [petId], responses: { 401: error('no_key'), 404: error('no_pet', 'no_order') } },
      ),
    );
    expect(paths['/0']?.get).toMatchObject({
      parameters: [{ $ref: '#/components/parameters/petId' }],
      responses: { 401: { $ref: '#/components/responses/Unauthorized' } },
    });
    expect(components).toEqual({
      schemas: { Error: { type: 'object' }, Pet: { type: 'object' } },
      parameters: { petId },
      responses: { Unauthorized: { ...error('no_key'), headers: { 'X-Limit': { $ref: '#/components/headers/X-Limit' } } } },
      headers: { 'X-Limit': limit },
      examples: { no_pet: { value: { code: 'no_pet' } } },
    });
  });

  test('names responses of one status after their error codes, or after their schema', () => {
    const { components } = share(
      documentOf(
        { responses: { 200: pet, 404: error('pet_not_found') } },
        { responses: { 200: pet, 404: error('pet_not_found') } },
        { responses: { 200: pets, 404: error('pet_not_found', 'order_not_found') } },
        { responses: { 404: error('pet_not_found', 'order_not_found') } },
      ),
    );
    expect(Object.keys(components['responses'] ?? {})).toEqual(['Pet', 'PetNotFound', 'PetNotFoundOrOrderNotFound']);
  });

  test('leaves what occurs once, or differs in a word, inline', () => {
    const [optionalId, samePet] = [
      { ...petId, required: false },
      { ...pet, description: 'This animal.' },
    ];
    const document = documentOf(
      { parameters: [petId], responses: { 200: pet } },
      { parameters: [optionalId], responses: { 200: samePet } },
    );
    expect(share(document)).toEqual({
      ...document,
      components: { ...document.components, parameters: {}, responses: {}, headers: {}, examples: {} },
    });
  });

  test('leaves a value inline if its name is taken', () => {
    const inQuery = { ...petId, in: 'query' };
    const { paths, components } = share(
      documentOf(...[petId, petId, inQuery, inQuery].map((one) => ({ parameters: [one], responses: {} }))),
    );
    expect(components['parameters']).toEqual({ petId });
    expect(paths['/2']?.get.parameters).toEqual([inQuery]);
  });
});

describe('inlineComponents', () => {
  test('restores any document that was shared', () => {
    const responses = fc.dictionary(
      fc.constantFrom('200', '400', '404'),
      fc.constantFrom(pet, error('a'), error('b'), error('a', 'b'), {}),
    );
    const parameters = fc.array(fc.constantFrom(petId, { ...petId, in: 'query' }, { name: 'cursor' }), { maxLength: 3 });
    const operations = fc.array(fc.record({ parameters, responses }), { maxLength: 6 });
    fc.assert(
      fc.property(operations, (list) => {
        const document = documentOf(...list);
        const shared = share(document);
        expect(inlineComponents(shared, shared.paths)).toEqual(document.paths);
      }),
    );
  });

  test('throws on a reference to a missing component, and names it', () => {
    expect(() => inlineComponents({ components: {} }, [{ $ref: '#/components/responses/Gone' }])).toThrow('#/components/responses/Gone');
    expect(() => findComponent({}, '#/components/schemas/Gone')).toThrow('#/components/schemas/Gone');
  });
});
