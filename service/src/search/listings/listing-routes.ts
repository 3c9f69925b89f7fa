import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf, operation, page, read, sendJson } from '../../access/admission/admission-hook.ts';
import { type ListPage, listPage, type PageCache, pageAgeMaxMs } from '../../animals/list-cache/page-cache.ts';
import type { ListingFootprint, ListingVersion } from '../../animals/list-cache/shown-changes.ts';
import type { PublicHold } from '../../animals/pets/pet-json.ts';
import { photoJson } from '../../animals/photos/photo-json.ts';
import { listedProfileJson } from '../../animals/profiles/profile-json.ts';
import { filterRows, withinKmDefault } from '../../domain/listing-filters.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import type { Searcher } from '../../platform/db/handles.ts';
import { parseDouble, parseInt64, parseReal } from '../../platform/db/int64.ts';
import { AppError, show } from '../../platform/errors.ts';
import {
  addLink,
  type Filters,
  isCursorOf,
  linkToNext,
  pathWith,
  readKeyCursor,
  sizeDefault,
  writeKeyCursor,
} from '../../platform/http/paging.ts';
import { compress, etagOf } from '../../platform/http/protocol/representations.ts';
import type { Api } from '../../platform/http/schemas.ts';
import { footprintOf, footprintOfCounts } from './listing-footprint.ts';
import { listingsJson } from './listing-json.ts';
import { FacetsSchema, type ListFacets, ListFacetsQuery, ListingSchema, type ListListings, ListListingsQuery } from './listing-schemas.ts';
import type { Found, ListingSearch, ListingSort, Near, Position } from './listing-search.ts';
import { countListings, type Listing, searchListings } from './listings.ts';
import { plainReading, type Reading } from './understanding.ts';

interface Parts {
  readonly db: Searcher;
  readonly pages: PageCache<ListingFootprint, ListingVersion>;
  readonly clock: Clock;
  readonly config: Pick<Config, 'photosUrl'>;
}

/** Of the body, before it is compressed. */
const pageBytesMax = 1_000_000;

export function listingRoutes(api: Api, { db, pages, clock, config: { photosUrl } }: Parts): void {
  /** Sends what is cached, or reads it. */
  const send = async (request: FastifyRequest, reply: FastifyReply, read: (db: Searcher) => Promise<ListPage<ListingFootprint>>) => {
    const { url, listVersion } = request;
    const page = await pages.read(url, listVersion ?? undefined, (onBegun) => read(watched(db, onBegun)), callerOf(request).clientId);
    reply.compressBody = (coding) => pages.readCompressed(url, page, coding, () => compress(page.body, coding, 'fast'));
    if (page.link) addLink(reply, page.link);
    if (page.contentLocation !== undefined) reply.header('content-location', page.contentLocation);
    if (page.searchNotes !== undefined) reply.header('search-notes', page.searchNotes);
    return sendJson(reply.header('etag', page.etag), page.body);
  };

  api.get(
    '/listings',
    operation({
      scope: 'pets:read',
      operationId: 'listListings',
      tags: ['Listings'],
      summary: 'Search for animals',
      description:
        'Returns a page of animals with their profiles, photos and shelters. A page has at most 1 MB, so it may have fewer animals than `limit` and still not be the last: follow the Link header to read all pages. A filter finds only animals that are known to match: what is not known of an animal never counts as a match.',
      'x-stability': 'experimental',
      querystring: ListListingsQuery,
      response: page('A page of listings.', ListingSchema),
      errors: ['too_many_searches'],
    }),
    async (request, reply) => {
      const { clientId } = callerOf(request);
      return send(request, reply, (watchedDb) => readListingPage({ db: watchedDb, clock, photosUrl }, request.query, clientId));
    },
  );

  api.get(
    '/listings/facets',
    operation({
      scope: 'pets:read',
      operationId: 'listListingFacets',
      tags: ['Listings'],
      summary: 'Count the animals of a search',
      description: 'Counts the animals that a search finds, by breed, age, size and sex. It takes the same filters.',
      'x-stability': 'experimental',
      querystring: ListFacetsQuery,
      response: read('The counts.', FacetsSchema),
      errors: ['too_many_searches'],
    }),
    async (request, reply) => {
      const { clientId } = callerOf(request);
      return send(request, reply, (watchedDb) => readFacets({ db: watchedDb, clock }, request.query, clientId));
    },
  );
}

/** Calls `onBegun` when a search has its turn. */
const watched = (db: Searcher, onBegun: () => void): Searcher => ({
  search: (work, owner, settings) =>
    db.search(
      (tx) => {
        onBegun();
        return work(tx);
      },
      owner,
      settings,
    ),
});

const [path, facetsPath] = ['/v1/listings', '/v1/listings/facets'];

async function readFacets(
  { db, clock }: Pick<Parts, 'db' | 'clock'>,
  query: ListFacets,
  clientId: bigint,
): Promise<ListPage<ListingFootprint>> {
  const search = searchOf(query, clock.now());
  const result = await countListings(db, search, clientId);
  const body = JSON.stringify(result.found);
  return listPage(body, {
    link: undefined,
    contentLocation: query.q === undefined ? undefined : pathWith(facetsPath, filtersOf(result.reading.search, query)),
    searchNotes: notesOf(result.reading),
    etag: etagOf(body),
    footprint: footprintOfCounts(search, result),
  });
}

async function readListingPage(
  { db, clock, photosUrl }: Pick<Parts, 'db' | 'clock'> & { readonly photosUrl: string },
  query: ListListings,
  clientId: bigint,
): Promise<ListPage<ListingFootprint>> {
  const { limit = sizeDefault, cursor, q } = query;
  const nowMs = clock.now();
  const search = searchOf(query, nowMs);
  const sort = sortOf(query);
  // What was understood has other filters, by which the order would be another one.
  const filtersOfReading = (read: ListingSearch) => filtersOf(read, q === undefined ? query : { ...query, sort });
  const resume = cursor === undefined ? undefined : resumeAt(cursor, { search, query, sort, filtersOfReading });
  const result = await searchListings(db, search, { sort, limit: limit + 1, resume }, clientId);
  const { found, after } = result;
  const { json, count } = bodyOf(found.slice(0, limit), search.today, photosUrl);
  const last = found[count - 1];
  const filters = filtersOfReading(result.reading.search);
  const link =
    last && found.length > count ? linkToNext(path, { limit, filters, cursor: writePosition(last.found, filters, sort) }) : undefined;
  const footprint = footprintOf({ ...result, search, sort, after, count }, found);
  const given = { limit: limit === sizeDefault ? undefined : limit.toString(), cursor };
  const contentLocation = q === undefined ? undefined : pathWith(path, { ...filters, ...given });
  const ageMaxMs = Math.min(pageAgeMaxMs, ...found.flatMap(({ hold }) => msUntilEnd(hold, nowMs)));
  return listPage(json, { link, contentLocation, searchNotes: notesOf(result.reading), etag: etagOf(json, link), footprint, ageMaxMs });
}

/** As a query: the words that were left out, and those that were corrected, each with what was searched for. */
function notesOf({ leftOut, corrections }: Reading): string | undefined {
  const notes = new URLSearchParams(leftOut.map((text): [string, string] => ['leftOut', text]));
  for (const { typed, searched } of corrections) {
    notes.append('misspelt', typed);
    notes.append('searched', searched);
  }
  return notes.size === 0 ? undefined : notes.toString();
}

interface Resumed {
  readonly search: ListingSearch;
  readonly query: ListListings;
  readonly sort: ListingSort;
  filtersOfReading(search: ListingSearch): Filters;
}

/** Finds the reading that a cursor is of. Cursors of the release before are of the words as they were sent. */
function resumeAt(cursor: string, { search, query, sort, filtersOfReading }: Resumed) {
  return (readings: readonly Reading[], isLast: boolean) => {
    const asSent: Reading = { ...plainReading, search };
    const isSent = query.q !== undefined && isCursorOf(cursor, filtersOf(search, query));
    const own = readings.find((reading) => isCursorOf(cursor, filtersOfReading(reading.search)));
    if (!own && !isSent && !isLast) return undefined;
    const meant = own ?? (isSent ? asSent : (readings[0] ?? asSent));
    const filters = meant === asSent ? filtersOf(search, query) : filtersOfReading(meant.search);
    return { reading: meant, after: readPosition(cursor, filters, sort) };
  };
}

/** A page that shows a hold is not cached beyond its end. */
const msUntilEnd = (hold: PublicHold | undefined, nowMs: number): number[] => (hold?.until ? [hold.until.getTime() - nowMs] : []);

const bodyOf = (listings: readonly Listing[], today: string, photosUrl: string) =>
  listingsJson(
    listings.map(({ found, pet, shelter, profile, photos, hold }) => ({
      pet,
      shelter,
      profile: listedProfileJson(profile, today),
      photos: photos.map((photo) => photoJson(photo, photosUrl)),
      hold,
      distance: found.distance,
    })),
    pageBytesMax,
  );

const searchOf = (query: ListFacets, nowMs: number): ListingSearch => ({
  ...query,
  near: nearOf(query),
  today: new Date(nowMs).toISOString().slice(0, 10),
});

function nearOf({ near, withinKm }: ListFacets): Near | undefined {
  if (near === undefined) {
    if (withinKm === undefined) return undefined;
    throw new AppError('invalid_query', 'withinKm needs near, the place that distances are measured from, such as near=48.2,16.37.');
  }
  const [latitude = 0, longitude = 0] = near.split(',').map((degrees) => Math.round(Number(degrees) * 100) / 100);
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180) {
    throw new AppError(
      'invalid_query',
      `near must be a latitude from -90 to 90 and a longitude from -180 to 180, such as 48.2,16.37; got ${show(near)}.`,
    );
  }
  return { latitude, longitude, withinKm: withinKm ?? withinKmDefault };
}

function sortOf({ sort, q, name, orNamed, near }: ListListings): ListingSort {
  if (sort === 'distance' && near === undefined) {
    throw new AppError('invalid_query', 'sort=distance needs near, the place that distances are measured from, such as near=48.2,16.37.');
  }
  if (sort) return sort;
  if ((q ?? name ?? orNamed) !== undefined) return 'relevance';
  return near === undefined ? 'newest' : 'distance';
}

/** As they are in the link to the next page. */
function filtersOf(search: ListingSearch, { withinKm, sort }: Pick<ListListings, 'withinKm' | 'sort'>): Filters {
  const values = { ...search, near: search.near && `${search.near.latitude},${search.near.longitude}`, withinKm, sort };
  const texts = linkedNames.map((name) => {
    const value = values[name];
    return [name, Array.isArray(value) ? value.map(String) : value?.toString()];
  });
  return Object.fromEntries(texts);
}

const linkedNames = [...filterRows.map(([name]) => name), 'sort'] as const;

/** What each order is sorted by. */
const keysOf: Readonly<Record<ListingSort, ReadonlyArray<keyof Found>>> = {
  newest: ['id'],
  distance: ['distance', 'shelterId', 'id'],
  relevance: ['rank', 'id'],
};

const readers = { id: parseInt64, shelterId: parseInt64, distance: parseDouble, rank: parseReal } as const;

const writePosition = (found: Found, filters: Filters, sort: ListingSort) =>
  writeKeyCursor(
    keysOf[sort].map((key) => found[key]),
    filters,
  );

function readPosition(cursor: string, filters: Filters, sort: ListingSort): Position {
  const names = keysOf[sort];
  const keys = readKeyCursor<bigint | number>(
    cursor,
    filters,
    names.map((name) => readers[name]),
  );
  const given = Object.fromEntries(names.map((name, i) => [name, keys[i]])) as Partial<Position>;
  return { id: 0n, shelterId: 0n, distance: null, rank: null, ...given };
}
