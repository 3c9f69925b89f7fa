import type { FastifyReply, FastifyRequest } from 'fastify';
import { filterRows, withinKmDefault } from '../../domain/listing-filters.ts';
import { callerOf } from '../../partners/admission/admission-hook.ts';
import { operation, page, read, sendJson } from '../../partners/admission/operation.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import { parseDouble, parseReal } from '../../platform/db/floats.ts';
import type { Searcher } from '../../platform/db/handles.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { AppError, show } from '../../platform/errors.ts';
import { compress } from '../../platform/http/content-coding.ts';
import { etagOf } from '../../platform/http/etags.ts';
import { addLink, type Filters, linkToNext, readKeyCursor, sizeDefault, writeKeyCursor } from '../../platform/http/paging.ts';
import type { Api } from '../../platform/http/type-provider.ts';
import type { ListingVersion } from '../list-cache/listing-changes.ts';
import { type ListPage, listPage, type PageCache } from '../list-cache/page-cache.ts';
import type { ListingFootprint } from '../list-cache/shown-changes.ts';
import { photoJson } from '../photos/photo-json.ts';
import { listedProfileJson } from '../profiles/profile-json.ts';
import { footprintOf, footprintOfCounts } from './listing-footprint.ts';
import { listingsJson } from './listing-json.ts';
import { FacetsSchema, type ListFacets, ListFacetsQuery, ListingSchema, type ListListings, ListListingsQuery } from './listing-schemas.ts';
import type { Asked, Found, ListingSearch, ListingSort, Near, Position } from './listing-search.ts';
import { countListings, type Listing, searchListings } from './listings.ts';

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
  search: (work, clientId, settings) =>
    db.search(
      (tx) => {
        onBegun();
        return work(tx);
      },
      clientId,
      settings,
    ),
});

async function readFacets(
  { db, clock }: Pick<Parts, 'db' | 'clock'>,
  query: ListFacets,
  clientId: bigint,
): Promise<ListPage<ListingFootprint>> {
  const search = searchOf(query, clock);
  const { found, asked } = await countListings(db, search, clientId);
  const body = JSON.stringify(found);
  return listPage(body, { link: undefined, etag: etagOf(body), footprint: footprintOfCounts(search, asked), ageMaxMs: ageMaxMsOf(asked) });
}

async function readListingPage(
  { db, clock, photosUrl }: Pick<Parts, 'db' | 'clock'> & { readonly photosUrl: string },
  query: ListListings,
  clientId: bigint,
): Promise<ListPage<ListingFootprint>> {
  const { limit = sizeDefault, cursor } = query;
  const search = searchOf(query, clock);
  const sort = sortOf(query);
  const filters = filtersOf(query, search.near);
  const after = cursor === undefined ? undefined : readPosition(cursor, filters, sort);
  const { found, asked } = await searchListings(db, search, { sort, after, limit: limit + 1 }, clientId);
  const { json, count } = bodyOf(found.slice(0, limit), search.today, photosUrl);
  const last = found[count - 1];
  const link =
    last && found.length > count
      ? linkToNext('/v1/listings', { limit, filters, cursor: writePosition(last.found, filters, sort) })
      : undefined;
  const footprint = footprintOf({ search, asked, sort, after, count }, found);
  return listPage(json, { link, etag: etagOf(json, link), footprint, ageMaxMs: ageMaxMsOf(asked) });
}

/** The worker counts a word within half a second: so it takes 2 s in all until a search is corrected to it. */
const correctedAgeMaxMs = 1_500;
const ageMaxMsOf = ({ words }: Asked) => (words?.areKnown === false ? correctedAgeMaxMs : undefined);

const bodyOf = (listings: readonly Listing[], today: string, photosUrl: string) =>
  listingsJson(
    listings.map(({ found, pet, shelter, profile, photos }) => ({
      pet,
      shelter,
      profile: listedProfileJson(profile, today),
      photos: photos.map((photo) => photoJson(photo, photosUrl)),
      distance: found.distance,
    })),
    pageBytesMax,
  );

const searchOf = (query: ListFacets, clock: Clock): ListingSearch => ({
  ...query,
  near: nearOf(query),
  today: new Date(clock.now()).toISOString().slice(0, 10),
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

function sortOf({ sort, q, near }: ListListings): ListingSort {
  if (sort === 'distance' && near === undefined) {
    throw new AppError('invalid_query', 'sort=distance needs near, the place that distances are measured from, such as near=48.2,16.37.');
  }
  if (sort === 'relevance' && q === undefined) {
    throw new AppError('invalid_query', 'sort=relevance needs q, the words that animals are searched by, such as q=labrador.');
  }
  if (sort) return sort;
  if (q !== undefined) return 'relevance';
  return near === undefined ? 'newest' : 'distance';
}

/** As they are in the link to the next page. */
function filtersOf(query: ListListings, near: Near | undefined): Filters {
  const values = { ...query, near: near && `${near.latitude},${near.longitude}` };
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
