import { hash } from 'node:crypto';

/** A hash of what is sent: its bytes, and its links where it has some. */
export const etagOf = (payload: string, links = ''): string => `"${hash('sha256', payload + links, 'base64url').slice(0, 22)}"`;

/** Whether an If-Match field names the ETag: compared strongly, so that a weak tag never matches. */
export const matchesEtag = (field: string, etag: string): boolean =>
  field.split(',').some((one) => one.trim() === '*' || one.trim() === etag);
