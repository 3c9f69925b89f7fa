import type { EventRow } from './events.ts';

/** An event as it is read from the feed and sent to a webhook. Its data are JSON already, every digit of an int64 included. */
export const eventJson = ({ position, type, at, data }: EventRow): string =>
  `{"id":"${eventId(position)}","type":"${type}","createdAt":"${at.toISOString()}","data":${data}}`;

export const eventId = (position: bigint): string => `evt_${position}`;
