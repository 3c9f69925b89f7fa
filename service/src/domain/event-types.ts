import { type OrderStatus, orderStatuses } from './order-states.ts';

/** These change nothing that a list of animals shows. */
const describingEvents = ['pet.profile_changed', 'pet.photos_changed'] as const;
const petEvents = ['pet.created', 'pet.updated', 'pet.status_changed', 'pet.removed', ...describingEvents] as const;

/** An event of an order is named after the new status. order.adopter_erased does not change the status. */
const orderEvents = [...orderStatuses.map((status) => `order.${status}` as const), 'order.adopter_erased'] as const;

export type PetEventType = (typeof petEvents)[number];
export type OrderEventType = `order.${OrderStatus}` | 'order.adopter_erased';
export type EventType = PetEventType | OrderEventType;

/** The type of a test delivery, which is no event of the feed. */
export const testType = 'webhook.test';

export const isOrderEvent = (type: EventType): boolean => type.startsWith('order.');

/** Events about animals after which every cached list of animals is still valid. */
export const eventsThatKeepListsValid: readonly EventType[] = describingEvents;

export const eventTypes: readonly EventType[] = [...petEvents, ...orderEvents];

/** The meaning of each type, for the OpenAPI document and the guides. */
export const eventMeanings: Record<EventType, string> = {
  'pet.created': 'An animal was added.',
  'pet.updated': 'The name or category of an animal was changed.',
  'pet.status_changed': 'An animal became available, pending or sold.',
  'pet.removed': 'An animal was removed and is no longer listed.',
  'pet.profile_changed': 'The profile of an animal was changed.',
  'pet.photos_changed': 'A photo of an animal became ready, was described or moved, or was removed.',
  'order.placed': 'An order was placed.',
  'order.approved': 'The store approved the adoption.',
  'order.completed': 'The adoption was completed.',
  'order.cancelled': 'The order was cancelled.',
  'order.expired': 'The order was not approved in time.',
  'order.returned': 'The animal was returned to the store.',
  'order.adopter_erased': "The adopter's data was erased from the order. Erase your copy too.",
};
