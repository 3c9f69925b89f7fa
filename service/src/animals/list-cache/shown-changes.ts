import { everything, type Footprint, type PetState, readState, stateText, touches, writeState } from './pet-changes.ts';
import { hasBits, readTermSet, type TermSet, writeTermSet } from './terms.ts';

/** Where a shelter is, in degrees. */
export interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

/** A change of what only listings show, as far as it decides which pages show it. */
export type ShownChange =
  /** A photo. No search asks for photos, so only pages that show the animal change. */
  | { readonly of: 'photos'; readonly petId: bigint }
  | AnimalChange
  /** `isMoved`: it has another place or address. */
  | { readonly of: 'shelter'; readonly shelterId: bigint; readonly isMoved: boolean };

/** Of a profile, or of which shelter an animal belongs to: another page may show the animal from now on. */
interface AnimalChange {
  readonly of: 'animal';
  readonly petId: bigint;
  /** Before and after the change. */
  readonly state: PetState;
  /** Of its shelter, before and after the change; null: it has none, so the animal is near no place. Undefined: not known. */
  readonly place: Place | null | undefined;
  /** All that its document has, before or after the change. Undefined: not known. */
  readonly terms: TermSet | undefined;
}

/** What a page of listings, or the counts of a search, depend on. */
export interface ListingFootprint {
  /** Changes of what every animal has: a page depends on the animals of each. */
  readonly animals: readonly Footprint[];
  readonly shown: ReadonlyArray<{ readonly petId: bigint; readonly shelterId: bigint }>;
  /** The page may show another animal after a change of its profile if all of this holds for it. */
  readonly found: {
    readonly by: Footprint;
    /** The bits of the terms that its document must have: all of one of these. */
    readonly bits: ReadonlyArray<readonly number[]>;
    /** Undefined: the search is not near a place. */
    readonly isNear: ((place: Place) => boolean) | undefined;
    /** It is near a place, or in a town. */
    readonly asksForPlace: boolean;
  };
}

/** Whether a page may look different after the change. */
export function touchesListing({ shown, found }: ListingFootprint, change: ShownChange): boolean {
  switch (change.of) {
    case 'photos':
      return shown.some(({ petId }) => petId === change.petId);
    case 'shelter':
      return (change.isMoved && found.asksForPlace) || shown.some(({ shelterId }) => shelterId === change.shelterId);
    case 'animal':
      return shown.some(({ petId }) => petId === change.petId) || mayFind(found, change);
  }
}

function mayFind({ by, bits, isNear }: ListingFootprint['found'], { petId, state, place, terms }: AnimalChange): boolean {
  if (!touches(by, { id: petId, before: state, after: state })) return false;
  if (isNear && place !== undefined && (place === null || !isNear(place))) return false;
  return terms === undefined || bits.some((all) => hasBits(terms, all));
}

/** As one word, which is how a log has it. */
export function writeShownChange(change: ShownChange): string {
  if (change.of === 'photos') return `photos:${change.petId}`;
  if (change.of === 'shelter') return `shelter:${change.shelterId}:${change.isMoved ? 'moved' : ''}`;
  const { petId, state, place, terms } = change;
  return `animal:${petId}:${writeState(state)}:${writePlace(place)}:${terms ? writeTermSet(terms) : ''}`;
}

/** Text that this release can't read may be of a later one, and counts as everything. */
export function readShownChanges(text: string): readonly ShownChange[] | typeof everything {
  if (text === '') return [];
  const changes = text.split(' ').map(readShownChange);
  return changes.every((change) => change !== undefined) ? changes : everything;
}

function readShownChange(text: string): ShownChange | undefined {
  const [, photosOf] = /^photos:(\d{1,19})$/.exec(text) ?? [];
  if (photosOf !== undefined) return { of: 'photos', petId: BigInt(photosOf) };
  const [, shelterId, moved] = /^shelter:(\d{1,19}):(moved)?$/.exec(text) ?? [];
  if (shelterId !== undefined) return { of: 'shelter', shelterId: BigInt(shelterId), isMoved: moved !== undefined };
  const [, petId, stateOf = '', placeOf = '', termsOf = ''] = animalText.exec(text) ?? [];
  const state = readState(stateOf);
  const terms = termsOf === '' ? undefined : readTermSet(termsOf);
  if (petId === undefined || state === undefined || (termsOf !== '' && !terms)) return undefined;
  return { of: 'animal', petId: BigInt(petId), state, place: readPlace(placeOf), terms };
}

const noPlace = 'none';
const degrees = '-?\\d+(?:\\.\\d+)?(?:e-?\\d+)?';
const animalText = new RegExp(`^animal:(\\d{1,19}):(${stateText}):((?:${degrees},${degrees}|${noPlace})?):([\\w-]*)$`);

function writePlace(place: Place | null | undefined): string {
  if (place === undefined) return '';
  return place === null ? noPlace : `${place.latitude},${place.longitude}`;
}

function readPlace(text: string): Place | null | undefined {
  if (text === '') return undefined;
  if (text === noPlace) return null;
  const [latitude = 0, longitude = 0] = text.split(',').map(Number);
  return { latitude, longitude };
}
