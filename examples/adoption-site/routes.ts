// The site's responses by path. Every function here returns a reply; none writes to the connection.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { HomewardError, type Int64, type PetStatus, type Store } from '@homeward/sdk';
import type { AdoptionForm } from './adoption-form.ts';
import { type AnimalPageParts, animalPage } from './animal-page.ts';
import type { Catalogue, Filter } from './catalogue.ts';
import { isFromThisSite, readForm } from './form-request.ts';
import type { Html } from './html.ts';
import { listPage } from './list-page.ts';
import { messagePage } from './message-page.ts';
import { orderPage } from './order-page.ts';
import { readReference, referenceOf } from './order-reference.ts';
import { retryAfterSecondsOf } from './store-failure.ts';
import { statusWords } from './words.ts';

export interface Site {
  readonly store: Store;
  readonly key: string;
  readonly catalogue: Catalogue;
}

export interface Reply {
  readonly status: number;
  readonly page?: Html;
  readonly headers?: Readonly<Record<string, string>>;
}

const cursorCharsMax = 200;
const similarMax = 4;

export async function replyTo(request: IncomingMessage, url: URL, site: Site): Promise<Reply> {
  const [, place, name, more] = url.pathname.split('/');
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const animalId = place === 'animals' && more === undefined ? readId(name) : undefined;
  if (animalId !== undefined && request.method === 'POST') return adopt(request, animalId, site);
  if (!isRead) return notAllowed(animalId === undefined ? 'GET, HEAD' : 'GET, HEAD, POST');
  if (url.pathname === '/') return showList(url.searchParams, site);
  if (animalId !== undefined) return showAnimal(animalId, site, { form: { attempt: randomUUID() } });
  const orderId = place === 'adoptions' && more === undefined ? readReference(name ?? '', site.key) : undefined;
  return orderId === undefined ? notFound() : showOrder(orderId, site);
}

async function showList(query: URLSearchParams, { catalogue }: Site): Promise<Reply> {
  const categories = await catalogue.categories();
  const [status, categoryText, cursor] = [query.get('status') ?? 'available', query.get('category'), query.get('cursor') ?? undefined];
  const category = categories.find(({ id }) => String(id) === categoryText);
  // Only filters that the page offers are passed to the store.
  if (!Object.hasOwn(statusWords, status) || (categoryText !== null && !category) || (cursor?.length ?? 0) > cursorCharsMax)
    return notFound();
  const filter: Filter = { status: status as PetStatus, categoryId: category?.id, cursor };
  try {
    return { status: 200, page: listPage(await catalogue.page(filter), filter, categories) };
  } catch (error) {
    if (error instanceof HomewardError && error.code === 'invalid_cursor') return { status: 303, headers: { location: '/' } };
    throw error;
  }
}

async function showAnimal(
  id: Int64,
  { catalogue }: Site,
  parts: Pick<AnimalPageParts, 'form' | 'outcome'>,
  reply?: Omit<Reply, 'page'>,
): Promise<Reply> {
  const [{ value: animal, asOf }, categories] = await Promise.all([catalogue.findAnimal(id), catalogue.categories()]);
  if (!animal) return notFound(`There is no animal ${id} here, or not any more.`);
  const others =
    animal.status === 'available' ? [] : (await catalogue.page({ status: 'available', categoryId: animal.categoryId })).value.items;
  const similar = others.filter((other) => other.id !== id).slice(0, similarMax);
  return { status: 200, ...reply, page: animalPage({ ...parts, animal, categories, similar, asOf }) };
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
  const { value: animal } = await catalogue.findAnimal(order.petId);
  return { status: 200, page: orderPage({ order, animal, asOf }), headers: { 'cache-control': 'no-store', 'x-robots-tag': 'noindex' } };
}

const readId = (text = ''): number | undefined => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined);

const notFound = (text = 'There is no such page here.'): Reply => ({ status: 404, page: messagePage('Not found', text) });

const notAllowed = (allow: string): Reply => ({
  status: 405,
  page: messagePage('That does not work here', 'This page can be read, but not sent to.'),
  headers: { allow },
});
