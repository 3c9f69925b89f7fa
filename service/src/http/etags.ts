import { hash } from 'node:crypto';

/** A hash of the body, and of its Link header if it has one. */
export const etagOf = (payload: string, links = ''): string => `"${hash('sha256', payload + links, 'base64url').slice(0, 22)}"`;

/** True if an If-Match header contains the ETag. A strong comparison: a weak tag never matches. */
export const matchesEtag = (field: string, etag: string): boolean =>
  field.split(',').some((one) => one.trim() === '*' || one.trim() === etag);
