import type { Category, PetListing } from '@homeward/sdk';
import type { Filter } from './filter.ts';
import type { Place } from './filter-form.ts';
import { meantParts, withName, wordParts } from './understood-words.ts';
import { ageWords, companionWords, sexWords, sizeWords } from './words.ts';

/** A filter that is on. */
export interface Chosen {
  readonly text: string;
  /** The search without it. */
  readonly without: Filter;
}

export interface ChosenParts {
  /** As the visitor has asked. */
  readonly typed: Filter;
  /** As the store has understood it. */
  readonly understood: Filter;
  /** They name the shelter that is looked in. */
  readonly found: readonly PetListing[];
  readonly categories: readonly Category[];
  readonly places: readonly Place[];
}

/** Apart from the status, and from a kind that was chosen. Without one of them, the others mean the same. */
export function chosenOf({ typed, understood, found, categories, places }: ChosenParts): readonly Chosen[] {
  const { words, age, sex, size, goodWith, near, withinKm, shelterId, categoryId } = understood;
  const kind = categoryId !== typed.categoryId && categories.find(({ id }) => id === categoryId)?.name;
  const all: ReadonlyArray<readonly [text: string | false | undefined, without: Filter]> = [
    [kind, { ...understood, categoryId: undefined }],
    ...wordParts(words).map(([text, rest]) => [`“${text}”`, { ...understood, words: rest }] as const),
    [near !== undefined && `Within ${withinKm} km of ${nameOf(near, places)}`, anywhere(understood)],
    [age && ageWords[age], { ...understood, age: undefined }],
    [sex && sexWords[sex], { ...understood, sex: undefined }],
    [size && sizeWords[size], { ...understood, size: undefined }],
    ...goodWith.map(
      (who) =>
        [`Good with ${companionWords[who].toLowerCase()}`, { ...understood, goodWith: goodWith.filter((one) => one !== who) }] as const,
    ),
    ...meantParts(understood, categories).map(([text, without]) => [capitalised(text), without] as const),
    [shelterId !== undefined && (found[0]?.shelter.name ?? `Shelter ${shelterId}`), { ...understood, shelterId: undefined }],
  ];
  return all.flatMap(([text, without]) => (text ? [{ text, without: withName(without) }] : []));
}

const capitalised = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** The name of a place that the form offers, or that of the visitor. */
export const nameOf = (near: string, places: readonly Place[]): string => places.find((one) => one.near === near)?.name ?? 'where you are';

export const anywhere = (filter: Filter): Filter => ({ ...filter, near: undefined, withinKm: undefined, sort: undefined });
