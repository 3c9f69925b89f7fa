import { type ConfirmedStatus, confirmedStatuses, eventOf } from './application-states.ts';
import { holdChanges } from './holds.ts';
import { type OrderStatus, orderActions, orderStates, orderStatuses, placing } from './order-states.ts';
import { hasOne, type Scope, scopesThat } from './scopes.ts';

/**
 * The types of events: what each means, who may read it, and whether cached lists and listings of animals stay valid. The feed, streams, webhooks,
 * the publisher and the documents all use this table.
 */
const aboutPet = { audience: 'public', data: 'pet', keepsListsValid: false } as const;

const petEvents = {
  'pet.created': { meaning: 'An animal was added, or is listed again after it had been removed.', ...aboutPet },
  'pet.updated': { meaning: 'The name or category of an animal was changed.', ...aboutPet },
  'pet.moved': { meaning: 'An animal was moved to another shelter.', ...aboutPet },
  'pet.status_changed': { meaning: 'An animal became available, pending or sold.', ...aboutPet },
  [holdChanges.begin.event]: { meaning: holdChanges.begin.meaning, ...aboutPet },
  [holdChanges.end.event]: { meaning: holdChanges.end.meaning, ...aboutPet },
  'pet.removed': { meaning: 'An animal was removed and is no longer listed.', ...aboutPet },
  'pet.profile_changed': { meaning: 'The profile of an animal was changed.', ...aboutPet },
  'pet.photos_changed': { meaning: 'A photo of an animal became ready, was described or moved, or was removed.', ...aboutPet },
} as const satisfies Record<string, EventTypeRow>;

const aboutOrder = { audience: 'private', data: 'order' } as const;

/** No list shows an order. Its animal changes with it in the same transaction, except at a return if it has changed since. */
const leavesPet = (status: OrderStatus) => ![placing, ...Object.values(orderActions)].some(({ to, pet }) => to === status && pet);

/** An event of an order is named after the new status. order.adopter_erased does not change the status. */
const orderEvents = {
  ...(Object.fromEntries(
    orderStatuses.map((status) => [
      `order.${status}`,
      { meaning: orderStates[status].event, ...aboutOrder, keepsListsValid: leavesPet(status) },
    ]),
  ) as Record<`order.${OrderStatus}`, { meaning: string; keepsListsValid: boolean } & typeof aboutOrder>),
  'order.adopter_erased': {
    meaning: "The adopter's data was erased from the order. Erase your copy too.",
    ...aboutOrder,
    keepsListsValid: true,
    passesFilters: true,
  },
} as const satisfies Record<string, EventTypeRow>;

const aboutApplication = { audience: 'private', data: 'application', keepsListsValid: true } as const;

/** An event of an application is named after the new status. There is none while it is unconfirmed. */
const applicationEvents = {
  ...(Object.fromEntries(
    confirmedStatuses.map((status) => [`application.${status}`, { meaning: eventOf(status), ...aboutApplication }]),
  ) as Record<`application.${ConfirmedStatus}`, { meaning: string } & typeof aboutApplication>),
  'application.adopter_erased': {
    meaning:
      "The adopter's data was erased from the application or, after an adoption, all but name and e-mail address. Read it, and erase the same.",
    ...aboutApplication,
    passesFilters: true,
  },
} as const satisfies Record<string, EventTypeRow>;

const table = { ...petEvents, ...orderEvents, ...applicationEvents };

export interface EventTypeRow {
  /** For the OpenAPI document and the guides. */
  readonly meaning: string;
  readonly audience: Audience;
  /** What the event contains. */
  readonly data: 'pet' | 'order' | 'application';
  /** Whether every list and listing of animals that was cached before is still valid. If not, the event is published after they show its change. */
  readonly keepsListsValid: boolean;
  /** Readers get it whichever shelters and categories they want: the animal may have moved since they got the order. */
  readonly passesFilters?: true;
}

/** Private events have a client. Only this client, the staff of the animal's shelter and those of the store get them. */
type Audience = 'public' | 'private';

type Table = typeof table;
export type EventType = keyof Table;
export type PrivateEventType = { [Type in EventType]: Table[Type]['audience'] extends 'public' ? never : Type }[EventType];
export type PublicEventType = Exclude<EventType, PrivateEventType>;

export const eventTable: Readonly<Record<EventType, EventTypeRow>> = table;
export const eventTypes = Object.keys(table) as EventType[];

const publicTypes: ReadonlySet<string> = new Set(eventTypes.filter((type) => eventTable[type].audience === 'public'));

/** A type that this release doesn't know is private. */
export const isPrivateEvent = (type: EventType): type is PrivateEventType => !publicTypes.has(type);

/** Events after which every cached list and listing of animals is still valid. */
export const eventsThatKeepListsValid = eventTypes.filter((type) => eventTable[type].keepsListsValid);

/** Events that readers get whichever animals they want. */
export const eventsThatPassFilters = eventTypes.filter((type) => eventTable[type].passesFilters);

/** A key needs one of these to read events, of those that are visible to it. */
export const audienceScopes: Readonly<Record<Audience, readonly Scope[]>> = { public: ['pets:read'], private: scopesThat('seeOrders') };
export const scopesToRead = (type: EventType): readonly Scope[] => audienceScopes[isPrivateEvent(type) ? 'private' : 'public'];
export const mayReadPrivateEvents = (scopes: readonly Scope[]): boolean => hasOne(scopes, audienceScopes.private);

/** The type of a test delivery, which is no event of the feed. */
export const testType = 'webhook.test';

/** The animals whose events a reader wants: of any of these shelters, and of any of these categories. Empty: of all. */
export interface Interests {
  readonly shelterIds: readonly bigint[];
  readonly categoryIds: readonly bigint[];
}

export const interestsMax = 100;

/** What an event says of its animal; null: nothing. */
export interface EventSubject {
  readonly type: EventType;
  readonly shelterId: bigint | null;
  readonly previousShelterId: bigint | null;
  readonly categoryId: bigint | null;
  readonly previousCategoryId: bigint | null;
}

/** An event of an animal that has moved concerns both shelters, and one that has changed its category both categories. */
export const isOfInterest = (event: EventSubject, { shelterIds, categoryIds }: Interests): boolean =>
  eventsThatPassFilters.includes(event.type) ||
  (hasOneOf(shelterIds, event.shelterId, event.previousShelterId) && hasOneOf(categoryIds, event.categoryId, event.previousCategoryId));

const hasOneOf = (wanted: readonly bigint[], id: bigint | null, previousId: bigint | null): boolean =>
  wanted.length === 0 || (id !== null && wanted.includes(id)) || (previousId !== null && wanted.includes(previousId));

/** Whether every event is of interest. */
export const wantsAll = ({ shelterIds, categoryIds }: Interests): boolean => shelterIds.length === 0 && categoryIds.length === 0;
