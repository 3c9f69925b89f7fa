import type { NewEvent } from '../../changes/events/events.ts';
import type { PublicEventType } from '../../domain/event-types.ts';
import { type ShownHold, textOfHold } from '../../domain/holds.ts';
import type { PetStatus } from '../../domain/pet-statuses.ts';
import { etagOf } from '../../platform/http/protocol/representations.ts';
import type { PetText } from './pet-queries.ts';
import { type Pet, petFields } from './pet-schemas.ts';

/**
 * One animal as the bytes that every response and event carries: a number is JSON as it is, everything else is a string. A field without
 * a value is left out. The first field, the id, always has one.
 */
export const petJson = (pet: Pet): string => petTextJson(petFields.map(({ name }) => pet[name]?.toString() ?? null));

const starts = petFields.map(({ name }, i) => `${i === 0 ? '' : ','}"${name}":`);
const numbers = petFields.map(({ isNumber }) => isNumber);

/** The same bytes, from PostgreSQL's text. */
export function petTextJson(pet: PetText): string {
  let json = '{';
  for (let i = 0; i < pet.length; i += 1) {
    const value = pet[i];
    if (value !== null && value !== undefined) json += `${starts[i]}${numbers[i] ? value : JSON.stringify(value)}`;
  }
  return `${json}}`;
}

/** A hash of the serialized animal. The same in every operation that returns a single animal, so that it works as If-Match. */
export const petEtag = (pet: Pet): string => etagOf(petJson(pet));

/** The event for a changed status. The caller records it together with the other events of the change. */
export const petStatusChanged = (pet: Pet, previous: PetStatus): NewEvent =>
  petEvent('pet.status_changed', pet, `,"previousStatus":"${previous}"`);

/** The event for a change of an animal. The caller records it while it holds the animal's lock. */
export const petEvent = (type: PublicEventType, pet: Pet, more = ''): NewEvent => ({
  type,
  petId: pet.id,
  clientId: null,
  data: `{"pet":${petJson(pet)}${more}}`,
});

/** A hold as everybody sees it. */
export interface PublicHold {
  readonly shown: ShownHold;
  readonly until: Date | null;
}

export const shownHoldJson = ({ shown, until }: PublicHold): string =>
  JSON.stringify({ reason: shown, text: textOfHold(shown), ...(until && { until }) });
