// From the form that orders an animal to the end of the order.
import type { IncomingMessage } from 'node:http';
import { HomewardError, type Int64, type Order } from '@homeward/sdk';
import type { AdoptionForm } from './adoption-form.ts';
import { showAnimal } from './animal-replies.ts';
import { showApplicationForm } from './application-replies.ts';
import { emptyForm } from './apply-page.ts';
import type { Seen } from './catalogue.ts';
import { confirmPage } from './confirm-page.ts';
import { attemptOf, readForm, typedIn } from './form-request.ts';
import { noLongerListed } from './lost-page.ts';
import { canBeCancelled, orderPage } from './order-page.ts';
import type { Outcome } from './outcome.ts';
import { addressOfRequest, cookieWith, listOpenRequests, readOwnRequests } from './own-requests.ts';
import { photoOrigins } from './photo.ts';
import { forAdopterAlone, notFound, type Reply, redirectTo, rejectOtherSites, type Site, sentBefore, unclear } from './site-replies.ts';
import { isClientFault, retryAfterSecondsOf } from './store-failure.ts';

const goneText = 'This request is no longer there. You can ask again.';

export async function adopt(request: IncomingMessage, petId: Int64, site: Site): Promise<Reply> {
  const rejected = rejectOtherSites(request);
  if (rejected) return rejected;
  const sent = await readForm(request);
  const typed = { name: typedIn(sent, 'name'), email: typedIn(sent, 'email') };
  const attempt = attemptOf(sent);
  try {
    const { id } = await site.store.orders.place({ petId, adopter: typed }, { idempotencyKey: attempt });
    site.catalogue.invalidate('animal', petId);
    return redirectTo(addressOf(id, site), cookieWith(request, site, { subject: 'order', petId, id }));
  } catch (error) {
    return explainError(error, request, petId, site, { attempt, typed });
  }
}

/** Each with the status 409 and what was typed. */
const outcomes: Readonly<Record<string, Outcome>> = {
  pet_not_available: { title: 'Someone was faster', text: 'Another request came in a moment before yours. Nothing was sent in your name.' },
  pet_on_hold: {
    title: 'Not ready yet',
    text: 'The shelter has taken this animal out of adoption for a while, a moment before your request. Nothing was sent in your name.',
  },
  open_order_limit: {
    title: 'Too many requests are open',
    text: 'As many requests are open as are possible at once: with this e-mail address, or through this site. Nothing was sent in your name. Cancel a request that you no longer want, on its own page, or try again in a few days.',
  },
};

/** A code that is newer than this site. */
const otherwise: Outcome = {
  title: 'That is not possible right now',
  text: 'The store did not accept this request, and nothing was sent in your name. Please ask the shelter: how to reach it is on this page.',
};

async function explainError(error: unknown, request: IncomingMessage, petId: Int64, site: Site, form: AdoptionForm): Promise<Reply> {
  const code = error instanceof HomewardError ? error.code : '';
  if (code === 'orders_by_application') return askToApply(petId, site, form);
  if (code === 'idempotency_key_reused') return sentBefore();
  if (code === 'pet_not_found') return noLongerListed(site);
  if (error instanceof HomewardError && code === 'invalid_body') {
    const wrong = error.message.startsWith('adopter.email') ? 'email' : 'name';
    return showAnimal(request, petId, site, { form: { ...form, wrong } }, { status: 400 });
  }
  const retryAfterSeconds = retryAfterSecondsOf(error);
  if (retryAfterSeconds !== undefined) {
    const headers = { 'retry-after': String(retryAfterSeconds) };
    return showAnimal(request, petId, site, { form, outcome: unclear }, { status: 503, headers });
  }
  if (!isClientFault(error)) throw error;
  const outcome = outcomes[code] ?? otherwise;
  if (outcome === otherwise) console.error(String(error));
  // The store has shown that the page is out of date.
  site.catalogue.invalidate('animal', petId);
  const more = code === 'open_order_limit' && (await listOpenRequests(readOwnRequests(request, site.key), site.catalogue));
  return showAnimal(request, petId, site, { form, outcome: { ...outcome, more } }, { status: 409 });
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

export async function showOrder(request: IncomingMessage, id: Int64, site: Site): Promise<Reply> {
  const seen = await findOrder(id, site);
  if (!seen) return notFound(goneText);
  const { value: order, asOf } = seen;
  const { value: listing } = await site.catalogue.findAnimal(order.petId);
  // The page is useful without.
  const terms = listing && (await site.catalogue.terms(listing.shelter.id).catch(() => undefined));
  return {
    status: 200,
    page: orderPage({
      order,
      listing,
      timezone: terms?.timezone ?? undefined,
      asOf,
      cancelAddress: `${addressOf(id, site)}/cancel`,
      isCancelledByVisitor: readOwnRequests(request, site.key).some((one) => one.subject === 'order' && one.id === id && one.isCancelled),
    }),
    photosFrom: photoOrigins(listing ? [listing] : []),
    headers: { ...forAdopterAlone, ...cookieWith(request, site, { subject: 'order', petId: order.petId, id }) },
  };
}

/** Asks first: a link alone changes nothing. */
export async function askToCancel(id: Int64, site: Site): Promise<Reply> {
  const order = (await findOrder(id, site))?.value;
  if (!order) return notFound(goneText);
  const back = addressOf(id, site);
  if (!canBeCancelled(order)) return redirectTo(back);
  const name = (await site.catalogue.findAnimal(order.petId)).value?.pet.name ?? 'this animal';
  const title = `Cancel your request for ${name}?`;
  const text = `${name} is then no longer reserved for you, and others can ask. You can’t take that back, but you can ask again.`;
  const page = confirmPage({ title, text, yes: 'Yes, cancel it', address: `${back}/cancel`, back });
  return { status: 200, page, headers: forAdopterAlone };
}

export async function cancelOrder(request: IncomingMessage, id: Int64, site: Site): Promise<Reply> {
  const { store, catalogue } = site;
  const rejected = rejectOtherSites(request);
  if (rejected) return rejected;
  let cookie: Reply['headers'];
  try {
    const { petId } = await store.orders.cancel(id);
    catalogue.invalidate('animal', petId);
    cookie = cookieWith(request, site, { subject: 'order', petId, id, isCancelled: true });
  } catch (error) {
    if (!(error instanceof HomewardError)) throw error;
    if (error.code === 'order_not_found') return notFound(goneText);
    // It has ended before: its page says how.
    if (error.code !== 'order_state_conflict') throw error;
  }
  catalogue.invalidate('order', id);
  return redirectTo(addressOf(id, site), cookie);
}

/** Undefined if it was deleted. */
async function findOrder(id: Int64, { catalogue }: Site): Promise<Seen<Order> | undefined> {
  try {
    return await catalogue.order(id);
  } catch (error) {
    if (error instanceof HomewardError && error.code === 'order_not_found') return undefined;
    throw error;
  }
}

const addressOf = (id: Int64, { key }: Pick<Site, 'key'>): string => addressOfRequest('order', id, key);
