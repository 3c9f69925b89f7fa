import type { NewEvent } from '../../changes/events/events.ts';
import type { PublicEventType } from '../../domain/event-types.ts';
import type { PetStatus } from '../../domain/pet-statuses.ts';
import { petJson } from './pet-json.ts';
import type { Pet } from './pet-schemas.ts';

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
