// From the form that orders an animal to the end of the order.
import type { IncomingMessage } from 'node:http';
import { HomewardError, type Int64 } from '@homeward/sdk';
import type { AdoptionForm } from './adoption-form.ts';
import { showAnimal } from './animal-replies.ts';
import { showApplicationForm } from './application-replies.ts';
import { emptyForm } from './apply-page.ts';
import { confirmPage } from './confirm-page.ts';
import { attemptOf, readForm, typedIn } from './form-request.ts';
import { canBeCancelled, orderPage } from './order-page.ts';
import { referenceOf } from './page-reference.ts';
import { photoOrigins } from './photo.ts';
import { forAdopterAlone, notFound, type Reply, redirectTo, rejectOtherSites, type Site, sentBefore, unclear } from './site-replies.ts';
import { retryAfterSecondsOf } from './store-failure.ts';

export async function adopt(request: IncomingMessage, petId: Int64, site: Site): Promise<Reply> {
  const rejected = rejectOtherSites(request);
  if (rejected) return rejected;
  const sent = await readForm(request);
  const typed = { name: typedIn(sent, 'name'), email: typedIn(sent, 'email') };
  const attempt = attemptOf(sent);
  try {
    const order = await site.store.orders.place({ petId, adopter: typed }, { idempotencyKey: attempt });
    site.catalogue.invalidate('animal', petId);
    return redirectTo(addressOf(order.id, site));
  } catch (error) {
    return explainError(error, petId, site, { attempt, typed });
  }
}

async function explainError(error: unknown, petId: Int64, site: Site, form: AdoptionForm): Promise<Reply> {
  const code = error instanceof HomewardError ? error.code : undefined;
  if (code === 'pet_not_available') {
    site.catalogue.invalidate('animal', petId);
    const outcome = { title: 'Someone was faster', text: 'Another request came in a moment before yours. Nothing was sent in your name.' };
    return showAnimal(petId, site, { form, outcome }, { status: 409 });
  }
  if (code === 'orders_by_application') return askToApply(petId, site, form);
  if (code === 'open_order_limit') {
    const text =
      'As many requests are open as are possible at once: with this e-mail address, or through this site. Nothing was sent in your name. Cancel a request that you no longer want, or try again in a few days.';
    return showAnimal(petId, site, { form, outcome: { title: 'Too many requests are open', text } }, { status: 409 });
  }
  if (error instanceof HomewardError && code === 'invalid_body') {
    const wrong = error.message.startsWith('adopter.email') ? 'email' : 'name';
    return showAnimal(petId, site, { form: { ...form, wrong } }, { status: 400 });
  }
  if (code === 'idempotency_key_reused') return sentBefore();
  if (code === 'pet_not_found') return notFound('This animal is no longer at the shelter.');
  const retryAfterSeconds = retryAfterSecondsOf(error);
  if (retryAfterSeconds === undefined) throw error;
  const headers = { 'retry-after': String(retryAfterSeconds) };
  return showAnimal(petId, site, { form, outcome: unclear }, { status: 503, headers });
}

/** The animal has moved to a shelter that takes applications, or its shelter takes them since the page was opened. */
async function askToApply(petId: Int64, site: Site, { attempt, typed }: AdoptionForm): Promise<Reply> {
  site.catalogue.invalidate('animal', petId);
  const { value: listing } = await site.catalogue.findAnimal(petId);
  if (listing) site.catalogue.invalidate('shelter', listing.shelter.id);
  const text = 'This shelter chooses among those who apply. Nothing was sent so far: please tell it a little more.';
  const form = { ...emptyForm(attempt), typed: { phone: '', name: '', email: '', ...typed } };
  return showApplicationForm(petId, site, form, { status: 409, outcome: { title: 'One more step', text } });
}

export async function showOrder(id: Int64, { catalogue, key }: Site): Promise<Reply> {
  const { value: order, asOf } = await catalogue.order(id);
  const { value: listing } = await catalogue.findAnimal(order.petId);
  return {
    status: 200,
    page: orderPage({ order, listing, asOf, cancelAddress: `${addressOf(id, { key })}/cancel` }),
    photosFrom: photoOrigins(listing ? [listing] : []),
    headers: forAdopterAlone,
  };
}

/** Asks first: a link alone changes nothing. */
export async function askToCancel(id: Int64, { catalogue, key }: Site): Promise<Reply> {
  const { value: order } = await catalogue.order(id);
  const back = addressOf(id, { key });
  if (!canBeCancelled(order)) return redirectTo(back);
  const name = (await catalogue.findAnimal(order.petId)).value?.pet.name ?? 'this animal';
  const title = `Cancel your request for ${name}?`;
  const text = `${name} is then no longer reserved for you, and others can ask. You can’t take that back, but you can ask again.`;
  const page = confirmPage({ title, text, yes: 'Yes, cancel it', address: `${back}/cancel`, back });
  return { status: 200, page, headers: forAdopterAlone };
}

export async function cancelOrder(request: IncomingMessage, id: Int64, { store, catalogue, key }: Site): Promise<Reply> {
  const rejected = rejectOtherSites(request);
  if (rejected) return rejected;
  try {
    const { petId } = await store.orders.cancel(id);
    catalogue.invalidate('animal', petId);
  } catch (error) {
    // It has ended before: its page says how.
    if (!(error instanceof HomewardError && error.code === 'order_state_conflict')) throw error;
  }
  catalogue.invalidate('order', id);
  return redirectTo(addressOf(id, { key }));
}

const addressOf = (id: Int64, { key }: Pick<Site, 'key'>): string => `/adoptions/${referenceOf('order', id, key)}`;
