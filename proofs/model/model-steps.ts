// Generators for fast-check: what a client may do, valid or hostile.
import fc from 'fast-check';
import { hostileAnimal, type NewAnimal, validAnimal } from './model-animals.ts';

export type Caller =
  | { readonly kind: 'client'; readonly client: 'roomy' | 'small' | 'daily' | 'reader' | 'spare'; readonly key: number }
  | {
      readonly kind: 'stranger';
      readonly as: 'nobody' | 'another-scheme' | 'mistyped' | 'invented' | 'staging' | 'revoked' | 'expired';
      readonly key: number;
    };

/** A literal text, or a value that only the model can fill in when the step runs: a known id, or a known cursor plus a suffix. */
export type Drawn = { readonly text: string } | { readonly knownId: number } | { readonly knownCursor: number; readonly suffix: string };

export type Action =
  | {
      readonly kind: 'list';
      readonly path: '/pets' | '/store/orders';
      readonly head: boolean;
      readonly query: ReadonlyArray<readonly [string, Drawn]>;
    }
  | { readonly kind: 'follow'; readonly head: boolean; readonly link: number }
  | { readonly kind: 'get'; readonly head: boolean; readonly id: Drawn; readonly query: string }
  | { readonly kind: 'place'; readonly id: Drawn }
  | { readonly kind: 'cancel'; readonly order: number }
  | { readonly kind: 'create'; readonly animal: NewAnimal; readonly mediaType: string }
  | { readonly kind: 'method'; readonly method: string; readonly path: string; readonly allow: string }
  | { readonly kind: 'nowhere'; readonly method: string; readonly path: string }
  | { readonly kind: 'preflight'; readonly path: string }
  | { readonly kind: 'revoke'; readonly key: number };

export interface Step {
  readonly process: number;
  readonly caller: Caller;
  readonly action: Action;
  /** If-None-Match: the last ETag of this URL (also as a weak one), an unknown ETag, `*`, or none. */
  readonly condition: 'none' | 'known' | 'weak' | 'other' | 'any';
}

const index = fc.nat(1_000_000);
const often = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });
const text = (...texts: string[]) => fc.constantFrom(...texts).map((one) => ({ text: one }));
const rarely = fc.integer({ min: 0, max: 9 }).map((n) => n === 0);

const caller: fc.Arbitrary<Caller> = fc.oneof(
  often(14, fc.record({ kind: fc.constant('client' as const), client: fc.constant('roomy' as const), key: index })),
  often(
    4,
    fc.record({ kind: fc.constant('client' as const), client: fc.constantFrom('small' as const, 'daily', 'reader', 'spare'), key: index }),
  ),
  often(
    2,
    fc.record({
      kind: fc.constant('stranger' as const),
      as: fc.constantFrom('nobody' as const, 'another-scheme', 'mistyped', 'invented', 'staging', 'revoked', 'expired'),
      key: index,
    }),
  ),
);

const limit = fc.oneof(
  often(
    8,
    fc.integer({ min: 1, max: 100 }).map((n) => ({ text: String(n) })),
  ),
  often(1, text('0', '101', '-1', '1.0', '1e1', '', ' 5', '05', '+5', 'all', '9999999999999999999999')),
);
const status = fc.oneof(often(8, text('available', 'pending', 'sold')), often(1, text('gone', 'Sold', '', 'sold,pending', 'available ')));
const id = fc.oneof(
  often(
    8,
    index.map((n) => ({ knownId: n })),
  ),
  often(2, text('0', '-1', '999999999', '9223372036854775807', '-9223372036854775808')),
  often(1, text('9223372036854775808', '1.0', '01', 'one', '', '1e2', '0x1', "1' or '1'='1", '１')),
);
const categoryId = fc.oneof(often(8, text('1', '2', '3', '100', '-5')), often(1, text('', 'dogs', '1.0', '9223372036854775808')));
const cursor = index.chain((n) =>
  fc.oneof(
    often(6, fc.constant({ knownCursor: n, suffix: '' })),
    often(
      1,
      fc.constantFrom('=', 'A', ' ', '.', '%00').map((suffix) => ({ knownCursor: n, suffix })),
    ),
    often(1, text('', 'bm90IG91cnM', '1', 'MC4', '../..', 'MQ.AAAAAAAA')),
  ),
);
const foreign = fc
  .constantFrom('offset', 'page', 'Limit', '__proto__', 'constructor', 'status[]', 'id[0]', 'limit ', '', 'petId')
  .map((name) => [name, { text: '1' }] as const);

const named = <N extends string>(name: N, value: fc.Arbitrary<Drawn>) => value.map((one) => [name, one] as const);
const maybe = (probability: number, parameter: fc.Arbitrary<readonly [string, Drawn]>) =>
  fc.tuple(fc.integer({ min: 1, max: 100 }), parameter).map(([chance, one]) => (chance <= probability ? [one] : []));

const petQuery = fc
  .tuple(
    maybe(60, named('limit', limit)),
    maybe(50, named('status', status)),
    maybe(15, named('categoryId', categoryId)),
    fc.oneof(
      often(6, fc.constant([])),
      often(3, fc.array(named('id', id), { maxLength: 5 })),
      often(1, fc.array(named('id', id), { minLength: 99, maxLength: 102 })),
    ),
    maybe(20, named('cursor', cursor)),
    maybe(4, foreign),
    maybe(2, named('limit', limit)),
    maybe(2, named('status', status)),
  )
  .map((parts) => parts.flat());
const orderQuery = fc
  .tuple(
    maybe(50, named('limit', limit)),
    maybe(30, named('status', text('placed', 'cancelled', 'expired', 'sold', ''))),
    maybe(20, named('petId', id)),
    maybe(10, named('cursor', text('', 'abc'))),
    maybe(10, foreign),
  )
  .map((parts) => parts.flat());

const mediaType = fc.oneof(
  often(8, fc.constantFrom('application/json', 'application/json; charset=utf-8', 'Application/JSON', 'application/json;charset="utf-8"')),
  often(
    1,
    fc.constantFrom(
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/jsonx',
      'application/vnd.api+json',
      'multipart/form-data; boundary=x',
      'x',
    ),
  ),
);

const wrongMethod = fc.oneof(
  fc.record({
    kind: fc.constant('method' as const),
    method: fc.constantFrom('PUT', 'PATCH', 'DELETE', 'PROPFIND'),
    path: fc.constant('/pets'),
    allow: fc.constant('GET, HEAD, OPTIONS, POST'),
  }),
  fc.record({
    kind: fc.constant('method' as const),
    method: fc.constantFrom('PUT', 'DELETE', 'REPORT'),
    path: fc.constant('/store/orders'),
    allow: fc.constant('GET, HEAD, OPTIONS, POST'),
  }),
  fc.record({
    kind: fc.constant('method' as const),
    method: fc.constantFrom('POST', 'PUT', 'REPORT'),
    path: fc.constantFrom('/pets/1', '/pets/x'),
    allow: fc.constant('DELETE, GET, HEAD, OPTIONS, PATCH'),
  }),
  fc.record({
    kind: fc.constant('method' as const),
    method: fc.constantFrom('GET', 'DELETE', 'PATCH'),
    path: fc.constantFrom('/store/orders/1/cancel', '/store/orders/x/approve'),
    allow: fc.constant('OPTIONS, POST'),
  }),
);

const action: fc.Arbitrary<Action> = fc.oneof(
  often(10, fc.record({ kind: fc.constant('list' as const), path: fc.constant('/pets' as const), head: rarely, query: petQuery })),
  often(5, fc.record({ kind: fc.constant('follow' as const), head: rarely, link: index })),
  often(5, fc.record({ kind: fc.constant('get' as const), head: rarely, id, query: rarely.map((stray) => (stray ? '?fields=name' : '')) })),
  often(3, fc.record({ kind: fc.constant('place' as const), id })),
  often(1, fc.record({ kind: fc.constant('cancel' as const), order: index })),
  often(6, fc.record({ kind: fc.constant('create' as const), animal: validAnimal, mediaType })),
  often(4, fc.record({ kind: fc.constant('create' as const), animal: hostileAnimal, mediaType })),
  often(3, fc.record({ kind: fc.constant('list' as const), path: fc.constant('/store/orders' as const), head: rarely, query: orderQuery })),
  often(2, wrongMethod),
  often(
    1,
    fc.record({
      kind: fc.constant('nowhere' as const),
      method: fc.constantFrom('GET', 'POST', 'DELETE', 'HEAD'),
      path: fc.constantFrom(
        '',
        '/',
        '/pet',
        '/pets/',
        '/store/orders/',
        '/PETS',
        '/pets/1/vets',
        '/store',
        '/store/orders/x/y',
        '/pets%2f1',
        '/v1/pets',
      ),
    }),
  ),
  often(1, fc.record({ kind: fc.constant('preflight' as const), path: fc.constantFrom('/pets', '/pets/1', '/nothing') })),
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('revoke' as const), key: index }) },
);

export const step: fc.Arbitrary<Step> = fc.record({
  process: index,
  caller,
  action,
  condition: fc.oneof(
    often(6, fc.constant('none' as const)),
    often(3, fc.constantFrom('known' as const, 'weak')),
    often(1, fc.constantFrom('other' as const, 'any')),
  ),
});
