// The indexes by which an event finds the endpoints that get it.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Endpoint } from '../../../src/changes/delivery/endpoint.ts';
import { Endpoints } from '../../../src/changes/delivery/endpoints.ts';
import type { EventRow } from '../../../src/changes/events/events.ts';
import type { EventType } from '../../../src/domain/event-types.ts';
import { endpointOf, eventOf } from './delivery-parts.ts';

const id = fc.bigInt({ min: 1n, max: 4n });
const idOrNull = fc.option(id, { nil: null });
const types: EventType[] = ['pet.created', 'pet.updated', 'pet.moved', 'order.placed'];
const settings = fc.record({
  clientId: id,
  shelterId: idOrNull,
  types: fc.subarray(types),
  shelterIds: fc.uniqueArray(id, { maxLength: 2 }),
  categoryIds: fc.uniqueArray(id, { maxLength: 2 }),
  mayReadPublic: fc.boolean(),
});
const event = fc
  .record({
    type: fc.constantFrom(...types),
    clientId: id,
    shelterId: idOrNull,
    previousShelterId: idOrNull,
    categoryId: idOrNull,
    previousCategoryId: idOrNull,
  })
  .map((fields) => eventOf(1, 1, { ...fields, clientId: fields.type === 'order.placed' ? fields.clientId : null }));

const idsOf = (endpoints: Iterable<Endpoint>) => [...new Set(endpoints)].map((endpoint) => Number(endpoint.id)).sort((a, b) => a - b);

function expectSame(endpoints: Endpoints, all: readonly Endpoint[], events: readonly EventRow[]): void {
  for (const one of events) expect(idsOf(endpoints.matching(one))).toEqual(idsOf(all.filter((endpoint) => endpoint.isWanted(one))));
}

describe('Endpoints.matching', () => {
  test('finds every endpoint that wants an event and no other, also after changes and removals', () => {
    const outcome = fc.check(
      fc.property(fc.array(settings, { maxLength: 12 }), fc.array(settings, { maxLength: 6 }), fc.array(event), (before, after, events) => {
        const endpoints = new Endpoints();
        const all = before.map((row) => endpointOf(row));
        for (const endpoint of all) endpoints.add(endpoint);
        expectSame(endpoints, all, events);
        for (const [i, { clientId: _, ...row }] of after.entries()) {
          const endpoint = all[i];
          if (!endpoint) continue;
          endpoint.update({ ...endpoint.settings, ...row }, 0n);
          endpoints.reindex(endpoint);
        }
        expectSame(endpoints, all, events);
        for (const endpoint of all.splice(0, 3)) endpoints.remove(endpoint);
        expectSame(endpoints, all, events);
      }),
      { numRuns: 200, seed: 1 },
    );
    expect(fc.defaultReportMessage(outcome)).toBeUndefined();
  });

  test('looks only at the endpoints of the shelters that an event is about', () => {
    const endpoints = new Endpoints();
    const all = Array.from({ length: 3_000 }, (_, i) =>
      endpointOf({ clientId: BigInt(i), shelterIds: [BigInt(i % 1_000)], categoryIds: [1n] }),
    );
    let asked = 0;
    for (const endpoint of all) {
      const { isWanted } = endpoint;
      endpoint.isWanted = (one) => {
        asked += 1;
        return isWanted.call(endpoint, one);
      };
      endpoints.add(endpoint);
    }
    const moved = eventOf(1, 1, { type: 'pet.moved', shelterId: 7n, previousShelterId: 9n, categoryId: 1n });
    expect([...endpoints.matching(moved)]).toHaveLength(6);
    expect(asked).toBe(6);
  });
});
