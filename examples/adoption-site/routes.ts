// The site's responses by path. Every function here returns a reply; none writes to the connection.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { HomewardError } from '@homeward/sdk';
import { aboutPage, coloursSheet } from './about-page.ts';
import { showAnimal } from './animal-replies.ts';
import { apply, askToWithdraw, showApplication, showApplicationForm, withdraw } from './application-replies.ts';
import { emptyForm } from './apply-page.ts';
import { atomFeed } from './atom-feed.ts';
import { showFavourites } from './favourites-page.ts';
import { addressOf, readFilter, readId } from './filter.ts';
import type { Html } from './html.ts';
import { listPage } from './list-page.ts';
import { showLost } from './lost-page.ts';
import { adopt, askToCancel, cancelOrder, showOrder } from './order-replies.ts';
import { findOwnStates, readOwnRequests } from './own-requests.ts';
import { readReference } from './page-reference.ts';
import { photoOrigins } from './photo.ts';
import { notAllowed, type Reply, redirectTo, type Site } from './site-replies.ts';
import { robots, sitemap } from './sitemap.ts';
import { areFew, findOthers } from './ways-on.ts';

/** What can be done at an address. Undefined: nothing, so it is not found. */
interface Place {
  read(): Promise<Reply> | Reply;
  readonly send?: () => Promise<Reply>;
}

const forAnHour = 'public, max-age=3600';

export async function replyTo(request: IncomingMessage, url: URL, site: Site): Promise<Reply> {
  const place = findPlace(request, url, site);
  if (request.method === 'POST' && place?.send) return place.send();
  if (request.method !== 'GET' && request.method !== 'HEAD') return notAllowed(place?.send ? 'GET, HEAD, POST' : 'GET, HEAD');
  return place ? place.read() : showLost(site);
}

function findPlace(request: IncomingMessage, url: URL, site: Site): Place | undefined {
  const [, kind, name, step, more] = url.pathname.split('/');
  if (more !== undefined) return undefined;
  if (url.pathname === '/') return { read: () => showList(request, url.searchParams, site) };
  if (url.pathname === '/favourites') return { read: () => showFavourites(request, url.searchParams, site) };
  if (url.pathname === '/feed.xml') return { read: () => showFeed(site) };
  if (url.pathname === '/about') return { read: async () => ({ status: 200, page: aboutPage(await site.catalogue.settings()) }) };
  if (url.pathname === '/colours.css')
    return { read: async () => textFile('text/css', coloursSheet(await site.catalogue.settings()), 'public, max-age=300') };
  if (url.pathname === '/sitemap.xml') return { read: () => showSitemap(site) };
  if (url.pathname === '/robots.txt') return { read: () => textFile('text/plain', robots(site.publicUrl), forAnHour) };
  const at = `${kind}${step === undefined ? '' : `/${step}`}`;
  const animalId = readId(name);
  if (animalId !== undefined && at === 'animals')
    return {
      read: () => showAnimal(request, animalId, site, { form: { attempt: randomUUID() } }),
      send: () => adopt(request, animalId, site),
    };
  if (animalId !== undefined && at === 'animals/apply')
    return { read: () => showApplicationForm(animalId, site, emptyForm(randomUUID())), send: () => apply(request, animalId, site) };
  const orderId = kind === 'adoptions' ? readReference('order', name ?? '', site.key) : undefined;
  if (orderId !== undefined && at === 'adoptions') return { read: () => showOrder(request, orderId, site) };
  if (orderId !== undefined && at === 'adoptions/cancel')
    return { read: () => askToCancel(orderId, site), send: () => cancelOrder(request, orderId, site) };
  const applicationId = kind === 'applications' ? readReference('application', name ?? '', site.key) : undefined;
  if (applicationId !== undefined && at === 'applications') return { read: () => showApplication(request, applicationId, site) };
  if (applicationId !== undefined && at === 'applications/withdraw')
    return { read: () => askToWithdraw(applicationId, site), send: () => withdraw(request, applicationId, site) };
  return undefined;
}

async function showList(request: IncomingMessage, query: URLSearchParams, site: Site): Promise<Reply> {
  const { catalogue, publicUrl, key } = site;
  const categories = await catalogue.categories();
  const filter = readFilter(query, categories);
  if (!filter) return showLost(site);
  try {
    const [seen, places, facets] = await Promise.all([catalogue.page(filter), catalogue.places(), catalogue.facets(filter)]);
    const { items } = seen.value;
    const own = await findOwnStates(readOwnRequests(request, key), items, catalogue);
    const others = areFew(filter, seen.value) ? await findOthers(filter, seen.value, catalogue) : [];
    const page = listPage({ seen, filter, categories, places, facets, others, own, publicUrl });
    return { status: 200, page, photosFrom: photoOrigins([...items, ...others]) };
  } catch (error) {
    const code = error instanceof HomewardError ? error.code : '';
    if (code === 'invalid_cursor') return redirectTo(addressOf({ ...filter, cursor: undefined }));
    if (code === 'invalid_query') return showLost(site);
    throw error;
  }
}

async function showFeed({ catalogue, publicUrl, startedAt }: Site): Promise<Reply> {
  return textFile('application/atom+xml', atomFeed(await catalogue.newest(), publicUrl, startedAt), 'public, max-age=60');
}

async function showSitemap({ catalogue, publicUrl }: Site): Promise<Reply> {
  const [categories, animalIds] = await Promise.all([catalogue.categories(), catalogue.sitemap()]);
  return textFile('application/xml', sitemap(categories, animalIds, publicUrl), forAnHour);
}

const textFile = (type: string, page: Html, caching: string): Reply => ({
  status: 200,
  page,
  headers: { 'content-type': `${type}; charset=utf-8`, 'cache-control': caching },
});
