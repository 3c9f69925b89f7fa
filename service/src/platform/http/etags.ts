import { hash } from 'node:crypto';
import { type Coding, codings } from './content-coding.ts';

/** A hash of the body, and of its Link header if it has one. */
export const etagOf = (payload: string, links = ''): string => `"${hash('sha256', payload + links, 'base64url').slice(0, 22)}"`;

/** A strong ETag identifies the bytes that are sent, so each coding has its own: `"hash"`, `"hash-gzip"` and `"hash-br"`. */
export const codedEtag = (etag: string, coding: Coding | undefined): string => (coding ? `${etag.slice(0, -1)}-${coding}"` : etag);

/** True if an If-Match header contains the ETag, with any coding. A strong comparison: a weak tag never matches. */
export function matchesEtag(field: string, etag: string): boolean {
  const accepted = ['*', etag, ...codings.map((coding) => codedEtag(etag, coding))];
  return field.split(',').some((one) => accepted.includes(one.trim()));
}

/** True if If-None-Match contains the ETag, with any coding. A weak comparison, as RFC 9110 requires. */
export const isUnmodified = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined && matchesEtag(ifNoneMatch.replaceAll('W/', ''), etag);
