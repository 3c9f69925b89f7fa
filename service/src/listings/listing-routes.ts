import { Type } from 'typebox';
import { callerOf } from '../admission/admission-hook.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { parseInt64 } from '../db/int64.ts';
import type { Pool } from '../db/pool.ts';
import { AppError, show } from '../errors.ts';
import { compress } from '../http/content-coding.ts';
import { etagOf } from '../http/etags.ts';
import { addLink, type Filters, linkToNext, nextLink, readKeyCursor, sizeDefault, writeKeyCursor } from '../http/paging.ts';
import { errorResponses, etagHeader, jsonResponse, notModified, Ref } from '../http/schemas.ts';
import type { Api } from '../http/type-provider.ts';
import { alreadySerialized } from '../idempotency/idempotent-route.ts';
import { type ListPage, listPage, type PageCache } from '../pets/page-cache.ts';
import { photoJson } from '../photos/photo-json.ts';
import { listedProfileJson } from '../profiles/profile-json.ts';
import { footprintOf, type ListingFootprint } from './listing-footprint.ts';
import { listingsJson } from './listing-json.ts';
import {
  FacetsSchema,
  type ListFacets,
  ListFacetsQuery,
  ListingSchema,
  type ListListings,
  ListListingsQuery,
  withinKmDefault,
} from './listing-schemas.ts';
import type { Found, ListingSearch, ListingSort, Near, Position } from './listing-search.ts';
import { countListings, type Listing, searchListings } from './listings.ts';

interface Parts {
  readonly db: Pick<Pool, 'snapshot'>;
  readonly pages: PageCache<ListingFootprint>;
  readonly clock: Clock;
  readonly config: Pick<Config, 'photosUrl'>;
}

export function listingRoutes(api: Api, { db, pages, clock, config: { photosUrl } }: Parts): void {
  api.get(
    '/listings',
    {
      config: { scope: 'pets:read' },
      schema: {
        operationId: 'listListings',
        tags: ['Listings'],
        summary: 'Search for animals',
        description:
          'Returns a page of animals with their profiles, photos and shelters. Follow the Link header to read all pages. A filter finds only animals that are known to match: what is not known of an animal never counts as a match.',
        'x-stability': 'experimental',
        querystring: ListListingsQuery,
        response: {
          200: jsonResponse('A page of listings.', Type.Array(Ref(ListingSchema)), { ...nextLink, ...etagHeader }),
          304: notModified,
          ...errorResponses('invalid_query', 'invalid_cursor'),
        },
      },
    },
    async (request, reply) => {
      const { url, listVersion, query } = request;
      const read = () => readListingPage({ db, clock, photosUrl }, query, callerOf(request).clientId);
      const page = await pages.read(url, listVersion ?? undefined, read);
      reply.compressBody = (coding) => pages.readCompressed(url, page, coding, () => compress(page.body, coding, 'fast'));
      if (page.link) addLink(reply, page.link);
      return reply.header('etag', page.etag).type('application/json; charset=utf-8').serializer(alreadySerialized).send(page.body);
    },
  );

  api.get(
    '/listings/facets',
    {
      config: { scope: 'pets:read' },
      schema: {
        operationId: 'listListingFacets',
        tags: ['Listings'],
        summary: 'Count the animals of a search',
        description: 'Counts the animals that a search finds, by breed, age, size and sex. It takes the same filters.',
        'x-stability': 'experimental',
        querystring: ListFacetsQuery,
        response: {
          200: jsonResponse('The counts.', Ref(FacetsSchema), etagHeader),
          304: notModified,
          ...errorResponses('invalid_query'),
        },
      },
    },
    (request) => countListings(db, searchOf(request.query, clock), callerOf(request).clientId),
  );
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
  const found = await searchListings(db, search, { sort, after, limit: limit + 1 }, clientId);
  const listings = found.slice(0, limit);
  const last = listings.at(-1);
  const link =
    last && found.length > limit
      ? linkToNext('/v1/listings', { limit, filters, cursor: writePosition(last.found, filters, sort) })
      : undefined;
  const body = bodyOf(listings, search.today, photosUrl);
  return listPage(body, { link, etag: etagOf(body, link), footprint: footprintOf(search, { sort, after, limit }, found) });
}

const bodyOf = (listings: readonly Listing[], today: string, photosUrl: string) =>
  listingsJson(
    listings.map(({ found, pet, shelter, profile, photos }) => ({
      pet,
      shelter,
      profile: listedProfileJson(profile, today),
      photos: photos.map((photo) => photoJson(photo, photosUrl)),
      distance: found.distance,
    })),
  );

function searchOf(query: ListFacets, clock: Clock): ListingSearch {
  const { status, categoryId, shelterId, id, q, breed, age, sex, size, coat, goodWith } = query;
  const today = new Date(clock.now()).toISOString().slice(0, 10);
  return { status, categoryId, shelterId, ids: id, words: q, breed, age, sex, size, coat, goodWith, near: nearOf(query), today };
}

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
  const { status, categoryId, shelterId, id, q, breed, age, sex, size, coat, goodWith, withinKm, sort } = query;
  return {
    status,
    categoryId: categoryId?.toString(),
    shelterId: shelterId?.toString(),
    id: id?.map(String),
    q,
    breed,
    age,
    sex,
    size,
    coat,
    goodWith,
    near: near && `${near.latitude},${near.longitude}`,
    withinKm: withinKm?.toString(),
    sort,
  };
}

/** What each order is sorted by. */
const keysOf: Readonly<Record<ListingSort, ReadonlyArray<keyof Found>>> = {
  newest: ['id'],
  distance: ['distance', 'shelterId', 'id'],
  relevance: ['rank', 'id'],
};

const writePosition = (found: Found, filters: Filters, sort: ListingSort) =>
  writeKeyCursor(
    keysOf[sort].map((key) => String(found[key])),
    filters,
  );

function readPosition(cursor: string, filters: Filters, sort: ListingSort): Position {
  const names = keysOf[sort];
  const keys = readKeyCursor(cursor, filters, names.length);
  const textOf = (name: keyof Found) => keys[names.indexOf(name)];
  const idOf = (name: 'id' | 'shelterId') => parseInt64(textOf(name) ?? '0') ?? 0n;
  const numberOf = (name: 'distance' | 'rank') => (textOf(name) === undefined ? null : Number(textOf(name)));
  return { id: idOf('id'), shelterId: idOf('shelterId'), distance: numberOf('distance'), rank: numberOf('rank') };
}
