import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { parseInt64 } from '../db/int64.ts';
import { AppError } from '../errors.ts';

export const sizeDefault = 20;
const sizeMax = 100;

/** The query parameters of everything that is listed in pages. */
export const pageQuery = (what: string) => ({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: sizeMax, default: sizeDefault, description: `Maximum number of ${what} returned.` }),
  ),
  cursor: Type.Optional(
    Type.String({ description: 'Where the page begins: from the Link header of the page before, with the same filters.' }),
  ),
});

/** The header that a page's response is documented with. */
export const nextLink = { Link: { type: 'string', description: 'The next page, as rel="next"; absent on the last.' } };

/** Where the page before ended. */
export interface Page {
  /** Its last id; undefined: this is the first page. */
  readonly afterId: bigint | undefined;
  /** Where a list has two parts, one after the other and each by id: whether its last row was in the second. */
  readonly inSecondPart: boolean;
  readonly limit: number;
}

/**
 * Reads a page, with the link to the next. One row more than asked for tells whether there is one.
 *
 * A list with two parts gives `isInSecondPart`. The cursor carries the part that its row was in when the page was read: the
 * row may have moved to the other part by the next page, or be gone, and the walk goes on from the same place.
 */
export async function readPage<T extends { id: bigint | string }>(
  path: string,
  query: { limit?: number; cursor?: string },
  filters: Filters,
  fetch: (page: Page) => Promise<T[]>,
  isInSecondPart?: (row: T) => boolean,
): Promise<{ rows: T[]; link: string | undefined }> {
  const { limit = sizeDefault, cursor } = query;
  const position = cursor === undefined ? undefined : readPosition(cursor, filters, isInSecondPart !== undefined);
  const found = await fetch({ afterId: position?.afterId, inSecondPart: position?.inSecondPart ?? false, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  if (found.length <= limit || !last) return { rows, link: undefined };
  const next = writePosition({ afterId: BigInt(last.id), inSecondPart: isInSecondPart?.(last) ?? false }, filters);
  return { rows, link: linkToNext(path, { limit, filters, cursor: next }) };
}

export function sendPage(reply: FastifyReply, { rows, link }: { rows: unknown[]; link: string | undefined }): FastifyReply {
  if (link) addLink(reply, link);
  return reply.send(rows);
}

/** A filter's value as it stands in the query; undefined: not given. */
export type Filters = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Opaque to callers: the last id of a page, and a mark of the filters that it was made under. */
export const writeCursor = (afterId: bigint, filters: Filters): string => writePosition({ afterId, inSecondPart: false }, filters);

export const readCursor = (cursor: string, filters: Filters): bigint => readPosition(cursor, filters, false).afterId;

interface Position {
  readonly afterId: bigint;
  readonly inSecondPart: boolean;
}

function writePosition({ afterId, inSecondPart }: Position, filters: Filters): string {
  return Buffer.from(`${inSecondPart ? secondPart : ''}${afterId}.${hashFilters(filters)}`).toString('base64url');
}

const secondPart = '2:';

function readPosition(cursor: string, filters: Filters, hasParts: boolean): Position {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const inSecondPart = hasParts && text.startsWith(secondPart);
  const [id = '', filtersHash = ''] = text.slice(inSecondPart ? secondPart.length : 0).split('.');
  const afterId = parseInt64(id);
  if (afterId === undefined || !/^[\w-]{8}$/.test(filtersHash)) throw unknownCursor();
  if (filtersHash !== hashFilters(filters)) {
    throw new AppError('invalid_cursor', 'cursor was made under other filters. Start again without a cursor, or keep the filters.');
  }
  // Base64 has several spellings of the same bytes; only ours is taken.
  if (cursor !== writePosition({ afterId, inSecondPart }, filters)) throw unknownCursor();
  return { afterId, inSecondPart };
}

const unknownCursor = () =>
  new AppError('invalid_cursor', 'cursor was not made by this service. Follow the Link header of the page before, unchanged.');

/** A relative reference: it is built from nothing that a caller's headers say. */
export function linkToNext(path: string, page: { limit: number; filters: Filters; cursor: string }): string {
  let query = `limit=${page.limit}`;
  for (const [name, value] of Object.entries(page.filters)) {
    for (const one of [value ?? []].flat()) query += `&${name}=${encodeURIComponent(one)}`;
  }
  return `<${path}?${query}&cursor=${page.cursor}>; rel="next"`;
}

export function addLink(reply: FastifyReply, link: string): void {
  const present = reply.getHeader('link');
  reply.header('link', present ? `${present}, ${link}` : link);
}

function hashFilters(filters: Filters): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  return hash('sha256', JSON.stringify(given.sort()), 'base64url').slice(0, 8);
}
