import { type EventType, eventTypes, isPrivateEvent } from '../../domain/event-types.ts';
import type { Subscription } from '../events/events.ts';

/** An endpoint, and what its key may read. */
export interface Subscriber {
  readonly clientId: bigint;
  /** The shelter that its key manages; null: none. */
  readonly shelterId: bigint | null;
  /** Empty: every type. */
  readonly types: readonly EventType[];
  /** Empty: of every shelter, and of every category. */
  readonly shelterIds: readonly bigint[];
  readonly categoryIds: readonly bigint[];
  readonly mayReadPublic: boolean;
  readonly mayReadPrivate: boolean;
}

/** The events that an endpoint gets: those of its types that its key may read. */
export function subscriptionOf(subscriber: Subscriber): Subscription {
  const { clientId, shelterId, types, shelterIds, categoryIds, mayReadPublic, mayReadPrivate } = subscriber;
  const wanted = types.length > 0 ? types : eventTypes;
  return {
    clientId,
    shelterId,
    publicTypes: mayReadPublic ? wanted.filter((type) => !isPrivateEvent(type)) : [],
    privateTypes: mayReadPrivate ? wanted.filter(isPrivateEvent) : [],
    interests: { shelterIds, categoryIds },
  };
}

/** The positions after `after` up to `upTo`. */
export interface PositionRange {
  readonly after: bigint;
  readonly upTo: bigint;
}

/** Parses a multirange in PostgreSQL's canonical form, such as {[5,9),[12,13)}. */
export function parseRanges(text: string): PositionRange[] {
  return [...text.matchAll(/\[(\d+),(\d+)\)/g)].map(([, from = '', to = '']) => ({ after: BigInt(from) - 1n, upTo: BigInt(to) - 1n }));
}

/** What is left of a range without others, which are in order and apart from each other. */
export function rangesWithout({ after, upTo }: PositionRange, others: readonly PositionRange[]): PositionRange[] {
  const ends = [...others, { after: upTo, upTo }];
  const ranges = ends.map((other, i) => {
    const from = ends[i - 1]?.upTo ?? after;
    return { after: from > after ? from : after, upTo: other.after < upTo ? other.after : upTo };
  });
  return ranges.filter((range) => range.after < range.upTo);
}
