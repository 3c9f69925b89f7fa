import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { roundsOf } from '../../../../testkit/rounds.ts';
import {
  everything,
  type Footprint,
  type PetState,
  readChanges,
  touches,
  writeChanges,
} from '../../../src/animals/list-cache/shown-changes.ts';
import { petStatuses } from '../../../src/domain/pet-statuses.ts';

const state = fc.record({ categoryId: fc.bigInt({ min: 1n, max: 3n }), status: fc.constantFrom(...petStatuses) });
const maybeState = fc.option(state, { nil: undefined });
const idMax = 12;
const petId = fc.bigInt({ min: 1n, max: BigInt(idMax) });

interface Query {
  readonly categoryId: bigint | undefined;
  readonly status: PetState['status'] | undefined;
  readonly ids: ReadonlySet<bigint> | undefined;
  readonly after: bigint;
  readonly limit: number;
}

const query: fc.Arbitrary<Query> = fc.record({
  categoryId: fc.option(fc.bigInt({ min: 1n, max: 3n }), { nil: undefined }),
  status: fc.option(fc.constantFrom(...petStatuses), { nil: undefined }),
  ids: fc.option(
    fc.array(petId, { maxLength: 5 }).map((ids) => new Set(ids)),
    { nil: undefined },
  ),
  after: fc.bigInt({ min: 0n, max: BigInt(idMax) }),
  limit: fc.integer({ min: 1, max: 4 }),
});

interface Row extends PetState {
  readonly id: bigint;
  readonly name: string;
}

/** The page as a query would read it, and what it depends on. */
function readPage(rows: ReadonlyMap<bigint, Row>, { limit, ...query }: Query): { shown: string; footprint: Footprint } {
  const found = [...rows.values()]
    .filter(({ id }) => id > query.after && (query.ids?.has(id) ?? true))
    .filter(({ categoryId, status }) => categoryId === (query.categoryId ?? categoryId) && status === (query.status ?? status))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .slice(0, limit + 1);
  const last = found.length > limit ? found.at(-1)?.id : undefined;
  const shown = found.slice(0, limit).map(({ id, name, categoryId, status }) => `${id} ${name} ${categoryId} ${status}`);
  return { shown: `${shown.join()} ${last !== undefined}`, footprint: { ...query, last } };
}

const rowOf = (id: bigint, at: PetState | undefined, name: string): Array<[bigint, Row]> => (at ? [[id, { id, name, ...at }]] : []);

describe('The footprint of a page', () => {
  test('is touched by every change after which the page looks different', () => {
    fc.assert(
      fc.property(fc.array(maybeState, { minLength: idMax, maxLength: idMax }), query, petId, maybeState, (states, asked, id, after) => {
        const before = new Map(states.flatMap((at, i) => rowOf(BigInt(i + 1), at, 'Rex')));
        const page = readPage(before, asked);
        const changed = new Map([...before].filter(([other]) => other !== id).concat(rowOf(id, after, 'Renamed')));
        if (readPage(changed, asked).shown === page.shown) return;
        expect(touches(page.footprint, { id, before: before.get(id), after })).toBe(true);
      }),
      { numRuns: roundsOf(5_000, 20_000) },
    );
  });

  const page: Footprint = { categoryId: 1n, status: 'available', ids: undefined, after: 10n, last: 20n };
  const here: PetState = { categoryId: 1n, status: 'available' };
  test.each([
    ['an animal before it', page, { id: 10n, before: here, after: undefined }],
    ['an animal behind it', page, { id: 21n, before: undefined, after: here }],
    ['an animal of another category', page, { id: 15n, before: undefined, after: { ...here, categoryId: 2n } }],
    ['an animal that neither had nor gets its status', page, { id: 15n, before: { ...here, status: 'pending' }, after: undefined }],
    ['an animal that was not asked for', { ...page, ids: new Set([11n]) }, { id: 15n, before: here, after: undefined }],
  ] as const)('is not touched by %s', (_, footprint, change) => {
    expect(touches(footprint, change)).toBe(false);
  });

  test('of the last page is touched by an animal that is added later, with any higher id', () => {
    expect(touches({ ...page, last: undefined }, { id: 2n ** 63n - 1n, before: undefined, after: here })).toBe(true);
  });

  test('is touched by an animal that is added late with a lower id than others', () => {
    expect(touches(page, { id: 11n, before: undefined, after: here })).toBe(true);
  });
});

describe('Changes as text', () => {
  const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  const anyState = fc.option(fc.record({ categoryId: int64, status: fc.constantFrom(...petStatuses) }), { nil: undefined });
  const change = fc.record({ id: fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }), before: anyState, after: anyState });

  test('are read as they were written', () => {
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        expect(readChanges(writeChanges(changes))).toEqual(changes);
      }),
    );
    expect(readChanges(writeChanges(everything))).toBe(everything);
  });

  test('that a later release has written count as everything', () => {
    for (const text of ['1:1/lost:', '1:1/available', 'x:1/available:', '1:1/available: 2', '1:1/available:2/sold:3']) {
      expect(readChanges(text)).toBe(everything);
    }
  });
});
