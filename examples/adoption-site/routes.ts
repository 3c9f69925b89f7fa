// The site's responses by path. Every function here returns a reply; none writes to the connection.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { HomewardError, type Int64, type Store } from '@homeward/sdk';
import type { AdoptionForm } from './adoption-form.ts';
import { type AnimalPageParts, animalPage } from './animal-page.ts';
import { atomFeed } from './atom-feed.ts';
import type { Catalogue } from './catalogue.ts';
import { addressOf, readFilter, readId } from './filter.ts';
import { isFromThisSite, readForm } from './form-request.ts';
import type { Html } from './html.ts';
import { listPage } from './list-page.ts';
import { messagePage } from './message-page.ts';
import { orderPage } from './order-page.ts';
import { readReference, referenceOf } from './order-reference.ts';
import { photoOrigins } from './photo.ts';
import { robots, sitemap } from './sitemap.ts';
import { retryAfterSecondsOf } from './store-failure.ts';

export interface Site {
  readonly store: Store;
  readonly key: string;
  readonly catalogue: Catalogue;
  /** The address under which visitors reach the site. */
  readonly publicUrl: string;
  readonly startedAt: Date;
}

export interface Reply {
  readonly status: number;
  readonly page?: Html;
  /** The origins from which the page loads photos. */
  readonly photosFrom?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

const similarMax = 4;
const forAnHour = 'public, max-age=3600';

export async function replyTo(request: IncomingMessage, url: URL, site: Site): Promise<Reply> {
  const [, place, name, more] = url.pathname.split('/');
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const animalId = place === 'animals' && more === undefined ? readId(name) : undefined;
  if (animalId !== undefined && request.method === 'POST') return adopt(request, animalId, site);
  if (!isRead) return notAllowed(animalId === undefined ? 'GET, HEAD' : 'GET, HEAD, POST');
  if (url.pathname === '/') return showList(url.searchParams, site);
  if (url.pathname === '/feed.xml') return showFeed(site);
  if (url.pathname === '/sitemap.xml') return showSitemap(site);
  if (url.pathname === '/robots.txt') return textFile('text/plain', robots(site.publicUrl), forAnHour);
  if (animalId !== undefined) return showAnimal(animalId, site, { form: { attempt: randomUUID() } });
  const orderId = place === 'adoptions' && more === undefined ? readReference(name ?? '', site.key) : undefined;
  return orderId === undefined ? notFound() : showOrder(orderId, site);
}

async function showList(query: URLSearchParams, { catalogue, publicUrl }: Site): Promise<Reply> {
  const categories = await catalogue.categories();
  const filter = readFilter(query, categories);
  if (!filter) return notFound();
  try {
    const [seen, places, facets] = await Promise.all([catalogue.page(filter), catalogue.places(), catalogue.facets(filter)]);
    const page = listPage({ seen, filter, categories, places, facets, publicUrl });
    return { status: 200, page, photosFrom: photoOrigins(seen.value.items) };
  } catch (error) {
    if (error instanceof HomewardError && error.code === 'invalid_cursor')
      return { status: 303, headers: { location: addressOf({ ...filter, cursor: undefined }) } };
    throw error;
  }
}

async function showAnimal(
  id: Int64,
  { catalogue, publicUrl }: Site,
  parts: Pick<AnimalPageParts, 'form' | 'outcome'>,
  reply?: Omit<Reply, 'page'>,
): Promise<Reply> {
  const [{ value: listing, asOf }, categories] = await Promise.all([catalogue.findAnimal(id), catalogue.categories()]);
  if (!listing) return notFound(`There is no animal ${id} here, or not any more.`);
  const { status, categoryId } = listing.pet;
  const others = status === 'available' ? [] : (await catalogue.page({ status: 'available', categoryId, goodWith: [] })).value.items;
  const similar = others.filter(({ pet }) => pet.id !== id).slice(0, similarMax);
  const page = animalPage({ ...parts, listing, categories, similar, asOf, publicUrl });
  return { status: 200, ...reply, page, photosFrom: photoOrigins([listing, ...similar]) };
}

async function showFeed({ catalogue, publicUrl, startedAt }: Site): Promise<Reply> {
  return textFile('application/atom+xml', atomFeed(await catalogue.newest(), publicUrl, startedAt), 'public, max-age=60');
}

async function showSitemap({ catalogue, publicUrl }: Site): Promise<Reply> {
  const [categories, animalIds] = await Promise.all([catalogue.categories(), catalogue.sitemap()]);
  return textFile('application/xml', sitemap(categories, animalIds, publicUrl), forAnHour);
}

async function adopt(request: IncomingMessage, petId: Int64, site: Site): Promise<Reply> {
  if (!isFromThisSite(request))
    return { status: 403, page: messagePage('That did not come from here', 'Please send the form from this site.') };
  const sent = await readForm(request);
  const typed = { name: (sent.get('name') ?? '').trim(), email: (sent.get('email') ?? '').trim() };
  const attempt = /^[\w-]{36}$/.exec(sent.get('attempt') ?? '')?.[0] ?? randomUUID();
  try {
    const order = await site.store.orders.place({ petId, adopter: typed }, { idempotencyKey: attempt });
    site.catalogue.invalidateAnimal(petId);
    return { status: 303, headers: { location: `/adoptions/${referenceOf(order.id, site.key)}` } };
  } catch (error) {
    return explainError(error, petId, site, { attempt, typed });
  }
}

async function explainError(error: unknown, petId: Int64, site: Site, form: AdoptionForm): Promise<Reply> {
  const code = error instanceof HomewardError ? error.code : undefined;
  if (code === 'pet_not_available') {
    site.catalogue.invalidateAnimal(petId);
    const outcome = { title: 'Someone was faster', text: 'Another request came in a moment before yours. Nothing was sent in your name.' };
    return showAnimal(petId, site, { form, outcome }, { status: 409 });
  }
  if (error instanceof HomewardError && code === 'invalid_body') {
    const wrong = error.message.startsWith('adopter.email') ? 'email' : 'name';
    return showAnimal(petId, site, { form: { ...form, wrong } }, { status: 400 });
  }
  if (code === 'idempotency_key_reused') {
    const text = 'You have sent this form before, with other details. That first request still counts; its page shows the status.';
    return { status: 409, page: messagePage('This form was sent already', text) };
  }
  if (code === 'pet_not_found') return notFound('This animal is no longer at the shelter.');
  const retryAfterSeconds = retryAfterSecondsOf(error);
  if (retryAfterSeconds === undefined) throw error;
  // It is unknown whether the order was placed. Sending the same form again reuses the idempotency key, so it can't place a second one.
  const text = 'We could not confirm that your request arrived. Please send the form once more in a moment: it counts only once.';
  const outcome = { title: 'Please try again', text };
  return showAnimal(petId, site, { form, outcome }, { status: 503, headers: { 'retry-after': String(retryAfterSeconds) } });
}

async function showOrder(id: Int64, { catalogue }: Site): Promise<Reply> {
  const { value: order, asOf } = await catalogue.order(id);
  const { value: listing } = await catalogue.findAnimal(order.petId);
  return {
    status: 200,
    page: orderPage({ order, listing, asOf }),
    photosFrom: photoOrigins(listing ? [listing] : []),
    headers: { 'cache-control': 'no-store', 'x-robots-tag': 'noindex' },
  };
}

const textFile = (type: string, page: Html, caching: string): Reply => ({
  status: 200,
  page,
  headers: { 'content-type': `${type}; charset=utf-8`, 'cache-control': caching },
});

const notFound = (text = 'There is no such page here.'): Reply => ({ status: 404, page: messagePage('Not found', text) });

const notAllowed = (allow: string): Reply => ({
  status: 405,
  page: messagePage('That does not work here', 'This page can be read, but not sent to.'),
  headers: { allow },
});
