import { hash } from 'node:crypto';
import { type PetStatus, petStatuses } from '../../domain/pet-statuses.ts';
import type { ChangeLog } from './change-log.ts';

/** What the filters of a list compare. */
export interface PetState {
  readonly categoryId: bigint;
  readonly status: PetStatus;
}

/** A change of one animal, as far as it decides which lists show it. */
export interface PetChange {
  readonly id: bigint;
  /** Undefined: the animal is new. */
  readonly before: PetState | undefined;
  /** Undefined: the animal is removed. */
  readonly after: PetState | undefined;
}

/** `everything`: some change is not known, so any list may have changed. */
export type AnnouncedPetChanges = readonly PetChange[] | typeof everything;
export const everything = 'everything';

/**
 * The rows that a page depends on: those that match its filters, with ids in its range. Rows before the range were on earlier
 * pages, and rows behind it can't move into the page, since it is already full.
 */
export interface Footprint {
  readonly categoryId: bigint | undefined;
  readonly status: PetStatus | undefined;
  readonly ids: ReadonlySet<bigint> | undefined;
  /** The last id of the page before; 0: this is the first page. */
  readonly after: bigint;
  /** The id that shows that another page follows; undefined: none follows, so the page depends on every later id. */
  readonly last: bigint | undefined;
}

/** Whether a page may look different after the change. */
export function touches({ categoryId, status, ids, after, last }: Footprint, change: PetChange): boolean {
  const { id } = change;
  if (id <= after || (last !== undefined && id > last) || (ids && !ids.has(id))) return false;
  const matches = (state: PetState | undefined) =>
    state !== undefined &&
    (categoryId === undefined || state.categoryId === categoryId) &&
    (status === undefined || state.status === status);
  return matches(change.before) || matches(change.after);
}

export const everythingText = '*';

export function writeChanges(changes: AnnouncedPetChanges): string {
  if (changes === everything) return everythingText;
  return changes.map(({ id, before, after }) => `${id}:${writeState(before)}:${writeState(after)}`).join(' ');
}

/** Text that this release can't read may be of a later one, and counts as everything. */
export function readChanges(text: string): AnnouncedPetChanges {
  if (text === '') return [];
  const changes: PetChange[] = [];
  for (const part of text.split(' ')) {
    const [, id, before = '', after = ''] = changeText.exec(part) ?? [];
    if (id === undefined) return everything;
    changes.push({ id: BigInt(id), before: readState(before), after: readState(after) });
  }
  return changes;
}

/** Of a regular expression. */
const stateText = `(?:-?\\d{1,19}/(?:${petStatuses.join('|')}))?`;
const changeText = new RegExp(`^(\\d{1,19}):(${stateText}):(${stateText})$`);

export const writeState = (state: PetState | undefined) => (state ? `${state.categoryId}/${state.status}` : '');

export function readState(text: string): PetState | undefined {
  const [categoryId = '', status = ''] = text.split('/');
  return text === '' ? undefined : { categoryId: BigInt(categoryId), status: status as PetStatus };
}

/** Where a shelter is, in degrees. */
export interface Coordinates {
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
  readonly place: Coordinates | null | undefined;
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
    readonly isNear: ((place: Coordinates) => boolean) | undefined;
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

function writePlace(place: Coordinates | null | undefined): string {
  if (place === undefined) return '';
  return place === null ? noPlace : `${place.latitude},${place.longitude}`;
}

function readPlace(text: string): Coordinates | null | undefined {
  if (text === '') return undefined;
  if (text === noPlace) return null;
  const [latitude = 0, longitude = 0] = text.split(',').map(Number);
  return { latitude, longitude };
}

/** How many changes of animals a process has read, and how many of what only listings show. */
export type ListingVersion = readonly [pets: number, shown: number];

/** The changes that cached pages of listings depend on: those of animals, and those of what only listings show. */
export class ListingChanges {
  readonly #pets: Pick<ChangeLog<PetChange, Footprint>, 'version' | 'hasTouched'>;
  readonly #shown: Pick<ChangeLog<ShownChange, ListingFootprint>, 'version' | 'hasTouched'>;

  constructor(
    pets: Pick<ChangeLog<PetChange, Footprint>, 'version' | 'hasTouched'>,
    shown: Pick<ChangeLog<ShownChange, ListingFootprint>, 'version' | 'hasTouched'>,
  ) {
    this.#pets = pets;
    this.#shown = shown;
  }

  get version(): ListingVersion {
    return [this.#pets.version, this.#shown.version];
  }

  hasTouched(footprint: ListingFootprint, [pets, shown]: ListingVersion): boolean {
    return footprint.animals.some((animals) => this.#pets.hasTouched(animals, pets)) || this.#shown.hasTouched(footprint, shown);
  }
}

/**
 * A set of terms in a fixed number of bytes, as a Bloom filter: each term sets some bits. It has every term that was added. It may seem
 * to have others too, the more the longer the text was that its terms are from. A term is a word, or a filter such as `sex=female`, as the
 * document of an animal has them.
 */
export type TermSet = Buffer;

const setBytes = 256;
/** The bits of a term. With 200 terms in a set, it seems to have one in sixty others. */
const bitsOfTerm = 3;

export function termSetOf(terms: Iterable<string>): TermSet {
  const set = Buffer.alloc(setBytes);
  for (const term of new Set(terms)) {
    for (const bit of bitsOf(term)) set[bit >> 3] = (set[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
  return set;
}

/** The bits that a set with all the terms has. */
export const bitsOfAll = (terms: Iterable<string>): readonly number[] => [...terms].flatMap(bitsOf);

export const hasBits = (set: TermSet, bits: readonly number[]): boolean =>
  bits.every((bit) => ((set[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0);

export const writeTermSet = (set: TermSet): string => set.toString('base64url');

/** Undefined: it is none of this release. */
export function readTermSet(text: string): TermSet | undefined {
  const set = Buffer.from(text, 'base64url');
  return set.length === setBytes ? set : undefined;
}

/** The same in every process and release: sets are exchanged. */
function bitsOf(term: string): number[] {
  const digest = hash('sha256', term, 'buffer');
  return Array.from({ length: bitsOfTerm }, (_, i) => digest.readUInt16BE(2 * i) % (setBytes * 8));
}
