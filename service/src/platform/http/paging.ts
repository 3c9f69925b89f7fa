import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { parseInt64 } from '../db/int64.ts';
import { AppError } from '../errors.ts';

export const sizeDefault = 20;
const sizeMax = 100;

/** The query parameters of a paginated list. */
export const pageQuery = (what: string) => ({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: sizeMax, default: sizeDefault, description: `Maximum number of ${what} returned.` }),
  ),
  cursor: Type.Optional(
    Type.String({ description: 'Where the page starts: taken from the Link header of the previous page. Use it with the same filters.' }),
  ),
});

/** The header of a page, for the documentation. */
export const nextLink = { Link: { type: 'string', description: 'The next page, as rel="next"; absent on the last page.' } };

/** The page to read, given by the end of the previous one. */
export interface Page {
  /** The last id of the previous page; undefined: this is the first page. */
  readonly afterId: bigint | undefined;
  /** For a list of two parts, each sorted by id: true if the last row of the previous page was in the second part. */
  readonly inSecondPart: boolean;
  readonly limit: number;
}

/**
 * Reads a page and builds the link to the next one. It fetches one row more than the limit to see whether there is one.
 *
 * `isInSecondPart` is for a list with two parts. The cursor stores which part its row was in: even if the row has moved to
 * the other part or is gone by the next request, the next page starts at the same place.
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

/** The filters of the query, as text; undefined: not given. */
export type Filters = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Opaque to callers: the last id of a page and a hash of its filters. */
export const writeCursor = (afterId: bigint, filters: Filters): string => writePosition({ afterId, inSecondPart: false }, filters);

export const readCursor = (cursor: string, filters: Filters): bigint => readPosition(cursor, filters, false).afterId;

/**
 * The same for a list that is not sorted by id alone: opaque to callers, the values that the last row of a page is sorted by, and a
 * hash of its filters.
 */
export const writeKeyCursor = (keys: readonly unknown[], filters: Filters): string => encodeCursor(keys, hashFilters(filters));

const encodeCursor = (keys: readonly unknown[], filtersHash: string): string =>
  Buffer.from(`${keys.join(',')}.${filtersHash}`).toString('base64url');

/** `readers` parse the keys that a cursor of this list has. Undefined: no such value is ever written, so the cursor is forged. */
export function readKeyCursor<Key>(cursor: string, filters: Filters, readers: ReadonlyArray<(text: string) => Key | undefined>): Key[] {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const end = text.lastIndexOf('.');
  const texts = text.slice(0, Math.max(end, 0)).split(',');
  const keys = readers.map((read, i) => read(texts[i] ?? '')).filter((key) => key !== undefined);
  if (keys.length !== readers.length || !hashText.test(text.slice(end + 1))) throw unknownCursor();
  const filtersHash = hashFilters(filters);
  if (text.slice(end + 1) !== filtersHash) throw otherFilters();
  // The same bytes can be encoded in several ways in Base64. Only the canonical one is valid.
  if (cursor !== encodeCursor(keys, filtersHash)) throw unknownCursor();
  return keys;
}

/** Whether a cursor was created for these filters. */
export const isCursorOf = (cursor: string, filters: Filters): boolean =>
  Buffer.from(cursor, 'base64url')
    .toString('latin1')
    .endsWith(`.${hashFilters(filters)}`);

const hashText = /^[\w-]{8}$/;

interface Position {
  readonly afterId: bigint;
  readonly inSecondPart: boolean;
}

const writePosition = ({ afterId, inSecondPart }: Position, filters: Filters): string =>
  writeKeyCursor([`${inSecondPart ? secondPart : ''}${afterId}`], filters);

const secondPart = '2:';

function readPosition(cursor: string, filters: Filters, hasParts: boolean): Position {
  const idOf = (text: string) => parseInt64(hasParts && text.startsWith(secondPart) ? text.slice(secondPart.length) : text);
  const [text = ''] = readKeyCursor(cursor, filters, [(one) => (idOf(one) === undefined ? undefined : one)]);
  return { afterId: idOf(text) ?? 0n, inSecondPart: text.startsWith(secondPart) };
}

const otherFilters = () =>
  new AppError('invalid_cursor', 'cursor was created for other filters. Start again without a cursor, or use the same filters.');

const unknownCursor = () =>
  new AppError(
    'invalid_cursor',
    'cursor was not created by this service. Follow the Link header of the previous page without changing it.',
  );

/** A relative link, so that it doesn't depend on the caller's Host header. */
export const linkToNext = (path: string, { limit, filters, cursor }: { limit: number; filters: Filters; cursor: string }): string =>
  `<${pathWith(path, { limit: String(limit), ...filters, cursor })}>; rel="next"`;

/** A relative URL. Names are those of parameters, so only values are encoded. */
export function pathWith(path: string, parameters: Filters): string {
  const texts = Object.entries(parameters).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => `${name}=${encodeURIComponent(one)}`),
  );
  return texts.length === 0 ? path : `${path}?${texts.join('&')}`;
}

export function addLink(reply: FastifyReply, link: string): void {
  const present = reply.getHeader('link');
  reply.header('link', present ? `${present}, ${link}` : link);
}

function hashFilters(filters: Filters): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  return hash('sha256', JSON.stringify(given.sort()), 'base64url').slice(0, 8);
}
