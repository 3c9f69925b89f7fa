// Events and endpoints for tests of the delivery's parts, without a database.
import { Endpoint } from '../../../src/changes/delivery/endpoint.ts';
import type { EndpointRow } from '../../../src/changes/delivery/endpoint-queries.ts';
import { FeedWindow } from '../../../src/changes/delivery/feed-reader.ts';
import type { EventRow } from '../../../src/changes/events/events.ts';

export const eventOf = (position: number, petId: number, more: Partial<EventRow> = {}): EventRow => ({
  position: BigInt(position),
  type: 'pet.updated',
  at: new Date(0),
  publishedAt: new Date(0),
  petId: BigInt(petId),
  clientId: null,
  shelterId: null,
  previousShelterId: null,
  categoryId: null,
  previousCategoryId: null,
  data: '{}',
  finalAt: null,
  undoes: null,
  ...more,
});

/** The events 1, 2, … of these animals. */
export const eventsOf = (...petIds: number[]): EventRow[] => petIds.map((petId, i) => eventOf(i + 1, petId));

/** A window that starts at 0 and contains these events. */
export function windowOf(events: readonly EventRow[]): FeedWindow {
  const window = new FeedWindow(0n);
  window.append(events, events.at(-1)?.position ?? 0n);
  return window;
}

let endpointCount = 0n;

export function endpointOf(row: Partial<EndpointRow> = {}): Endpoint {
  endpointCount += 1n;
  const defaults: EndpointRow = {
    id: endpointCount,
    clientId: 1n,
    shelterId: null,
    shard: 1n,
    revision: 1n,
    isServed: true,
    isVerified: true,
    url: 'https://example.org/hooks',
    types: [],
    shelterIds: [],
    categoryIds: [],
    mayReadPublic: true,
    mayReadPrivate: true,
    isFailing: false,
    position: null,
    skipped: '{}',
    replayPosition: null,
    replayUpTo: null,
    replayCreatedAt: null,
  };
  return new Endpoint({ ...defaults, ...row }, 0n);
}
