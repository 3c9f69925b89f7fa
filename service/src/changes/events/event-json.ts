import type { EventRow } from './events.ts';

/** Serializes an event for the feed and for webhooks. Its data is JSON text already, so that int64 values stay exact. */
export const eventJson = ({ position, type, at, data }: EventRow): string =>
  `{"id":"${eventId(position)}","type":"${type}","createdAt":"${at.toISOString()}","data":${data}}`;

export const eventId = (position: bigint): string => `evt_${position}`;
