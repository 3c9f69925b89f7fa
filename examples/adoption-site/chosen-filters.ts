import type { PetListing } from '@homeward/sdk';
import type { Filter } from './filter.ts';
import type { Place } from './filter-form.ts';
import { ageWords, companionWords, sexWords, sizeWords } from './words.ts';

/** A filter that is on. */
export interface Chosen {
  readonly text: string;
  /** The search without it. */
  readonly without: Filter;
}

/** Apart from kind and status. `found` names the shelter that is looked in. */
export function chosenOf(filter: Filter, found: readonly PetListing[], places: readonly Place[]): readonly Chosen[] {
  const { words, age, sex, size, goodWith, near, withinKm, shelterId } = filter;
  const all: ReadonlyArray<readonly [text: string | false | undefined, without: Filter]> = [
    [words !== undefined && `“${words}”`, { ...filter, words: undefined }],
    [near !== undefined && `Within ${withinKm} km of ${nameOf(near, places)}`, anywhere(filter)],
    [age && ageWords[age], { ...filter, age: undefined }],
    [sex && sexWords[sex], { ...filter, sex: undefined }],
    [size && sizeWords[size], { ...filter, size: undefined }],
    ...goodWith.map(
      (who) => [`Good with ${companionWords[who].toLowerCase()}`, { ...filter, goodWith: goodWith.filter((one) => one !== who) }] as const,
    ),
    [shelterId !== undefined && (found[0]?.shelter.name ?? `Shelter ${shelterId}`), { ...filter, shelterId: undefined }],
  ];
  return all.flatMap(([text, without]) => (text ? [{ text, without }] : []));
}

/** The name of a place that the form offers, or that of the visitor. */
export const nameOf = (near: string, places: readonly Place[]): string => places.find((one) => one.near === near)?.name ?? 'where you are';

export const anywhere = (filter: Filter): Filter => ({ ...filter, near: undefined, withinKm: undefined, sort: undefined });
