export type {
  Adopter,
  Applicant,
  Application,
  ApplicationEvent,
  ApplicationInEvent,
  ApplicationStatus,
  Category,
  Delivery,
  DeliveryAttempt,
  DeliveryWithAttempts,
  ErrorCode,
  Facet,
  Facets,
  Hold,
  Int64,
  NewAdopter,
  NewApplication,
  NewHold,
  NewOrder,
  NewPet,
  NewShelter,
  NewWebhook,
  Opening,
  OpeningHours,
  Order,
  OrderEvent,
  OrderInEvent,
  OrderStatus,
  Pet,
  PetChanges,
  PetEvent,
  PetListing,
  PetShelter,
  PetStatus,
  Photo,
  PhotoChanges,
  Profile,
  ProfileChanges,
  Question,
  Replay,
  Shelter,
  ShelterChanges,
  ShelterQuestions,
  SiteSettings,
  SiteSettingsChanges,
  Usage,
  Webhook,
  WebhookChanges,
  WebhookWithSecret,
} from './api-types.gen.ts';
export { ConnectionError, HomewardError } from './errors.ts';
export type { FeedEvent, FollowOptions } from './feed.ts';
export type { Correction, Listing, Page, Understood } from './listing.ts';
export { type OpeningState, openingState } from './opening-hours.ts';
export { placeholderColor } from './placeholder-color.ts';
export type { RateLimit } from './rate-limit.ts';
export { createStore, type Store } from './store.ts';
export type { StoreOptions } from './store-options.ts';
export type { CallOptions } from './transport.ts';
export { verifyWebhook, WebhookError, type WebhookEvent } from './webhooks.ts';
