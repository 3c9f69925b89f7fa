// Which animals this visitor has asked for, so that theirs does not read as promised to someone else. A cookie has the references of the
// last requests until the browser is closed. It works without JavaScript, and no script can read it.
import type { IncomingMessage } from 'node:http';
import type { Application, Int64, Order, PetListing } from '@homeward/sdk';
import type { Catalogue } from './catalogue.ts';
import { type Html, html } from './html.ts';
import { readReference, referenceOf, type Subject } from './page-reference.ts';

const cookieName = 'requests';
/** The newest first. Each has some 50 bytes. */
const requestsMax = 8;

interface OwnRequest {
  readonly subject: Subject;
  readonly petId: string;
  readonly id: number;
  readonly reference: string;
  /** By the visitor, in this browser. The store doesn't say who has cancelled an order. */
  readonly isCancelled: boolean;
}

/** What the visitor's request has come to. */
export interface OwnState {
  /** Of the page of the request. */
  readonly address: string;
  /** On the badge of the animal. */
  readonly words: string;
  /** On the page of the animal. */
  readonly text: string;
  /** Whether it ends by a decision that is still to come, so that the visitor can take it back. */
  readonly isOpen: boolean;
}

const places: Readonly<Record<Subject, string>> = { order: 'adoptions', application: 'applications' };

export const addressOfRequest = (subject: Subject, id: Int64, key: string): string =>
  `/${places[subject]}/${referenceOf(subject, id, key)}`;

export function readOwnRequests({ headers }: IncomingMessage, key: string): OwnRequest[] {
  const [, value = ''] = new RegExp(`(?:^|; )${cookieName}=([\\w.:-]*)`).exec(headers.cookie ?? '') ?? [];
  const requests = value.split('.', requestsMax).map((entry) => {
    const [kind, petId = '', reference = ''] = entry.split(':');
    const subject: Subject = kind === 'a' ? 'application' : 'order';
    const id = readReference(subject, reference, key);
    return id === undefined ? undefined : { subject, petId, id, reference, isCancelled: kind === 'c' };
  });
  return requests.filter((request) => request !== undefined);
}

/** The header that puts a request first among those that the browser has; undefined if that changes nothing. */
export function cookieWith(
  request: IncomingMessage,
  { key, publicUrl }: { readonly key: string; readonly publicUrl: string },
  { subject, petId, id, ...now }: { readonly subject: Subject; readonly petId: Int64; readonly id: Int64; readonly isCancelled?: true },
): { 'set-cookie': string } | undefined {
  const reference = referenceOf(subject, id, key);
  const known = readOwnRequests(request, key);
  const before = known.find((one) => one.reference === reference);
  const isCancelled = now.isCancelled ?? before?.isCancelled ?? false;
  if (before && before === known[0] && before.isCancelled === isCancelled) return undefined;
  const others = known.filter((one) => one.reference !== reference);
  const entries = [{ subject, petId: String(petId), reference, isCancelled }, ...others].slice(0, requestsMax);
  const value = entries.map((one) => `${letterOf(one)}:${one.petId}:${one.reference}`).join('.');
  const isSecure = publicUrl.startsWith('https:');
  return { 'set-cookie': `${cookieName}=${value}; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}` };
}

const letterOf = ({ subject, isCancelled }: Pick<OwnRequest, 'subject' | 'isCancelled'>): string => {
  if (subject === 'application') return 'a';
  return isCancelled ? 'c' : 'o';
};

/** By the ids of the animals. Only of these listings, so that a page costs no requests that it does not show. */
export async function findOwnStates(
  own: readonly OwnRequest[],
  listings: readonly PetListing[],
  catalogue: Catalogue,
): Promise<ReadonlyMap<string, OwnState>> {
  const names = new Map(listings.map(({ pet }) => [String(pet.id), pet.name]));
  const shown = own.filter(({ petId }) => names.has(petId));
  const states = await Promise.all(
    shown.map(async (one) => [one.petId, await stateOf(one, names.get(one.petId) ?? '', catalogue)] as const),
  );
  // The newest request for an animal counts, and comes first.
  return new Map(states.toReversed().flatMap(([petId, state]) => (state ? [[petId, state] as const] : [])));
}

/** The visitor's open requests, to end one of them. */
export async function listOpenRequests(own: readonly OwnRequest[], catalogue: Catalogue): Promise<Html | false> {
  const found = await Promise.all(
    own.map(async (one) => {
      const listing = await catalogue.findAnimal(Number(one.petId)).catch(() => undefined);
      const name = listing?.value?.pet.name ?? `animal ${one.petId}`;
      return { name, state: await stateOf(one, name, catalogue) };
    }),
  );
  const open = found.flatMap(({ name, state }) =>
    state?.isOpen ? [html`<li><a href="${state.address}">${name}: ${state.words}</a></li>`] : [],
  );
  return open.length > 0 && html`<p>Sent from this browser:</p><ul>${open}</ul>`;
}

/** Undefined if the request has ended, or can't be read now. */
async function stateOf({ subject, id, reference }: OwnRequest, name: string, catalogue: Catalogue): Promise<OwnState | undefined> {
  const address = `/${places[subject]}/${reference}`;
  try {
    const words =
      subject === 'order'
        ? orderWords[(await catalogue.order(id)).value.status]
        : applicationWords[(await catalogue.application(id)).value.status];
    return words && { address, words: words.badge, text: words.textOf(name), isOpen: words.isOpen };
  } catch {
    return undefined;
  }
}

interface OwnWords {
  readonly badge: string;
  readonly isOpen: boolean;
  textOf(name: string): string;
}

const asked: OwnWords = {
  badge: 'Reserved for you',
  isOpen: true,
  textOf: (name) => `You have asked for ${name}, and ${name} is reserved for you.`,
};
const adopted: OwnWords = { badge: 'Adopted by you', isOpen: false, textOf: (name) => `You have adopted ${name}.` };
const applied: OwnWords = { badge: 'You have applied', isOpen: true, textOf: (name) => `You have applied for ${name}.` };

const orderWords: Partial<Record<Order['status'], OwnWords>> = { placed: asked, approved: asked, completed: adopted };

const applicationWords: Partial<Record<Application['status'], OwnWords>> = {
  unconfirmed: { ...applied, textOf: (name) => `You have applied for ${name}. Please confirm your e-mail address.` },
  submitted: applied,
  reviewing: applied,
  accepted: { ...asked, textOf: (name) => `Your application was accepted: ${name} is reserved for you.` },
  completed: adopted,
};
