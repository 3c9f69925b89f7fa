// What the seeded animals look like: the breed and its colours by how many of the species came before, so that those on one page differ;
// the age by the id.
import { devAnimals, mulberry32 } from './dev-animals.ts';
import type { Breed, Variety } from './dev-drawings/breed.ts';
import { catBreeds } from './dev-drawings/cat-breeds.ts';
import { dogBreeds } from './dev-drawings/dog-breeds.ts';
import { type Age, type Worn, worn } from './dev-drawings/drawing-parts.ts';
import {
  birdBreeds,
  cowBreeds,
  fishBreeds,
  hedgehogBreeds,
  horseBreeds,
  rabbitBreeds,
  rodentBreeds,
  tortoiseBreeds,
} from './dev-drawings/other-breeds.ts';

export interface Look {
  readonly breed: Breed;
  readonly variety: Variety;
  readonly years: number;
  readonly age: Age;
  readonly worn: Worn;
  readonly wornColour: string;
  /** Which of the scenes and backgrounds are behind the animal. */
  readonly scene: number;
  readonly categoryId: number;
}

interface Drawn {
  readonly id: number;
  readonly categoryId: number;
}

const hedgehogs = 10;
/** By the ids of the categories that every store starts with. Animals of others are drawn as the last of these. */
const breedsOfCategory: Readonly<Record<number, readonly [Breed, ...Breed[]]>> = {
  1: dogBreeds,
  2: catBreeds,
  3: rabbitBreeds,
  4: birdBreeds,
  5: rodentBreeds,
  6: tortoiseBreeds,
  7: fishBreeds,
  8: horseBreeds,
  9: cowBreeds,
  [hedgehogs]: hedgehogBreeds,
};

/** In years, by category, for animals that live for a shorter or a longer time than dogs and cats. */
const lifetimes: Readonly<Record<number, readonly [from: number, to: number]>> = {
  3: [0.2, 9],
  4: [0.3, 10],
  5: [0.1, 2.4],
  6: [4, 45],
  7: [0.5, 5],
  8: [16, 25],
  9: [0.5, 12],
  10: [0.3, 5],
};
const lifetimeOfDogs = 14;
/** In years of a dog: what share of animals is younger. */
const agesOfShare = [
  { share: 0.15, from: 0.15, to: 0.95, age: 'young' },
  { share: 0.45, from: 1, to: 3, age: 'grown' },
  { share: 0.8, from: 3, to: 8, age: 'grown' },
  { share: 1, from: 8, to: lifetimeOfDogs, age: 'old' },
] as const;

/** Only dogs and cats are dressed up. */
const wearing = [1, 2];
const outfits: readonly Worn[] = ['nothing', 'bandana', 'nothing', 'collar', 'nothing', 'bow', 'collar'];
const cloths = ['#c8452f', '#2f6f8f', '#e0a52c', '#5c8a4a', '#7a5aa6'];

export function lookOf({ id, categoryId }: Drawn): Look {
  const breeds = breedsOfCategory[categoryId] ?? hedgehogBreeds;
  const before = countBefore({ id, categoryId });
  const breed = breeds[before % breeds.length] ?? breeds[0];
  const variety = breed.varieties[Math.floor(before / breeds.length) % breed.varieties.length] ?? breed.varieties[0];
  const random = mulberry32(id * 15_485_863);
  return {
    breed,
    variety,
    ...lifeOf(categoryId, random(), random()),
    worn: (wearing.includes(categoryId) && outfits[before % outfits.length]) || 'nothing',
    wornColour: cloths[before % cloths.length] ?? '',
    scene: before,
    categoryId,
  };
}

/** Breeds of the same species, for one that is mixed. */
export const breedsLike = ({ categoryId }: Drawn): readonly Breed[] => breedsOfCategory[categoryId] ?? hedgehogBreeds;

/** In a box of 120 by 120. */
export const drawingOf = (look: Look): string => look.variety.draw(look.age, worn(look.worn, look.wornColour));

const seeded = devAnimals();

/** Of the same category. A store may have other animals than the seeded ones. */
function countBefore({ id, categoryId }: Drawn): number {
  const known = seeded.slice(0, id - 1).filter((one) => one.categoryId === categoryId).length;
  return known + Math.max(0, id - 1 - seeded.length);
}

function lifeOf(categoryId: number, share: number, within: number): Pick<Look, 'years' | 'age'> {
  const band = agesOfShare.find((one) => share < one.share) ?? agesOfShare[1];
  const dogYears = band.from + within * (band.to - band.from);
  const [from, to] = lifetimes[categoryId] ?? [0, lifetimeOfDogs];
  // Some species come to a shelter only when they are grown.
  const age = band.age === 'young' && from >= 1 ? 'grown' : band.age;
  return { years: from + (dogYears / lifetimeOfDogs) * (to - from), age };
}
