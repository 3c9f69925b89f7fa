import { type EventType, eventsThatPassFilters } from './event-types.ts';

/** The animals whose events a reader wants: of any of these shelters, and of any of these categories. Empty: of all. */
export interface Interests {
  readonly shelterIds: readonly bigint[];
  readonly categoryIds: readonly bigint[];
}

export const interestsMax = 100;

/** What an event says of its animal; null: nothing. */
export interface EventSubject {
  readonly type: EventType;
  readonly shelterId: bigint | null;
  readonly previousShelterId: bigint | null;
  readonly categoryId: bigint | null;
  readonly previousCategoryId: bigint | null;
}

/** An event of an animal that has moved concerns both shelters, and one that has changed its category both categories. */
export const isOfInterest = (event: EventSubject, { shelterIds, categoryIds }: Interests): boolean =>
  eventsThatPassFilters.includes(event.type) ||
  (hasOneOf(shelterIds, event.shelterId, event.previousShelterId) && hasOneOf(categoryIds, event.categoryId, event.previousCategoryId));

const hasOneOf = (wanted: readonly bigint[], id: bigint | null, previousId: bigint | null): boolean =>
  wanted.length === 0 || (id !== null && wanted.includes(id)) || (previousId !== null && wanted.includes(previousId));

/** Whether every event is of interest. */
export const wantsAll = ({ shelterIds, categoryIds }: Interests): boolean => shelterIds.length === 0 && categoryIds.length === 0;
