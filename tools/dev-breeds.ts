// The breeds and colours of the seeded animals, by how they are drawn.
import type { Kind, Look } from '../examples/adoption-site/drawings.ts';

export interface Breed {
  readonly name: string;
  readonly size: 'small' | 'medium' | 'large' | 'extra_large';
  readonly coat?: 'short' | 'medium' | 'long' | 'wire' | 'curly';
  /** When grown. */
  readonly grams: number;
  readonly feeCents: number;
  readonly canBeMixed?: boolean;
  /** The coats of drawings that this breed can have; any, if there is no such list. */
  readonly coats?: readonly number[];
}

const dog = { feeCents: 22_000, canBeMixed: true } as const;
const cat = { feeCents: 9_000, size: 'medium', grams: 4_300 } as const;

const breeds: Readonly<Record<Kind, readonly [Breed, ...Breed[]]>> = {
  dog: [
    { ...dog, name: 'Labrador Retriever', size: 'large', coat: 'short', grams: 30_000, coats: [0, 2, 3, 5] },
    { ...dog, name: 'Cocker Spaniel', size: 'medium', coat: 'medium', grams: 13_500 },
    { ...dog, name: 'Golden Retriever', size: 'large', coat: 'long', grams: 31_000, coats: [0, 2, 4] },
    { ...dog, name: 'Beagle', size: 'medium', coat: 'short', grams: 11_000, coats: [0, 4, 5] },
    { ...dog, name: 'Dachshund', size: 'small', coat: 'wire', grams: 8_500, coats: [0, 3, 4, 5] },
    { ...dog, name: 'Poodle', size: 'medium', coat: 'curly', grams: 20_000 },
    { ...dog, name: 'Newfoundland', size: 'extra_large', coat: 'long', grams: 58_000, coats: [1, 3, 5] },
    { ...dog, name: 'Weimaraner', size: 'large', coat: 'short', grams: 32_000, coats: [1] },
  ],
  shepherd: [
    { ...dog, name: 'Border Collie', size: 'medium', coat: 'medium', grams: 18_000 },
    { ...dog, name: 'German Shepherd', size: 'large', coat: 'medium', grams: 33_000, coats: [0, 3, 5] },
    { ...dog, name: 'Welsh Corgi', size: 'small', coat: 'medium', grams: 12_000, coats: [0, 2, 4] },
    { ...dog, name: 'Jack Russell Terrier', size: 'small', coat: 'wire', grams: 6_500, coats: [0, 2, 4, 5] },
    { ...dog, name: 'Siberian Husky', size: 'large', coat: 'medium', grams: 23_000, coats: [1, 3] },
    { ...dog, name: 'Kelpie', size: 'medium', coat: 'short', grams: 17_000 },
  ],
  cat: [
    { ...cat, name: 'Domestic Shorthair', coat: 'short' },
    { ...cat, name: 'Domestic Longhair', coat: 'long' },
    { ...cat, name: 'British Shorthair', coat: 'short', grams: 5_500, coats: [1, 2, 3] },
    { ...cat, name: 'Maine Coon', coat: 'long', size: 'large', grams: 7_200 },
    { ...cat, name: 'Abyssinian', coat: 'short', coats: [0, 4, 5] },
  ],
  tuxedo: [
    { ...cat, name: 'Domestic Shorthair', coat: 'short' },
    { ...cat, name: 'Domestic Longhair', coat: 'long' },
    { ...cat, name: 'Norwegian Forest Cat', coat: 'long', size: 'large', grams: 6_300 },
  ],
  rabbit: [
    { name: 'Dwarf Rabbit', size: 'small', coat: 'short', grams: 1_400, feeCents: 4_000 },
    { name: 'Rex', size: 'medium', coat: 'short', grams: 3_400, feeCents: 4_000 },
    { name: 'Belgian Hare', size: 'large', coat: 'short', grams: 3_900, feeCents: 4_500 },
  ],
  bird: [
    { name: 'Budgerigar', size: 'small', grams: 40, feeCents: 1_500 },
    { name: 'Canary', size: 'small', grams: 25, feeCents: 1_500 },
    { name: 'Cockatiel', size: 'medium', grams: 95, feeCents: 4_500 },
  ],
  hamster: [
    { name: 'Syrian Hamster', size: 'small', coat: 'short', grams: 150, feeCents: 1_000 },
    { name: 'Roborovski Hamster', size: 'small', coat: 'short', grams: 30, feeCents: 1_000 },
  ],
  turtle: [
    { name: 'Hermann’s Tortoise', size: 'medium', grams: 1_200, feeCents: 12_000 },
    { name: 'Spur-thighed Tortoise', size: 'medium', grams: 1_500, feeCents: 12_000 },
    { name: 'Pond Slider', size: 'small', grams: 900, feeCents: 6_000 },
  ],
  fish: [
    { name: 'Angelfish', size: 'small', grams: 20, feeCents: 500 },
    { name: 'Convict Cichlid', size: 'small', grams: 30, feeCents: 500 },
  ],
  horse: [
    { name: 'Connemara Pony', size: 'large', coat: 'short', grams: 330_000, feeCents: 90_000 },
    { name: 'Irish Draught', size: 'extra_large', coat: 'short', grams: 600_000, feeCents: 120_000 },
  ],
  cow: [
    { name: 'Dexter', size: 'large', coat: 'short', grams: 320_000, feeCents: 60_000 },
    { name: 'Jersey', size: 'extra_large', coat: 'short', grams: 430_000, feeCents: 60_000 },
  ],
  hedgehog: [{ name: 'African Pygmy Hedgehog', size: 'small', grams: 400, feeCents: 5_000 }],
  paw: [{ name: 'Mixed', size: 'medium', grams: 5_000, feeCents: 5_000 }],
};

// By the number of the coat in the style sheet, which has other colours for feathers and scales, and for shells.
const furs = ['Golden brown', 'Grey', 'Cream', 'Black', 'Ginger', 'Chocolate'];
const plumes = ['Teal', 'Orange', 'Yellow', 'Blue', 'Pink', 'Violet'];
const shells = ['Green', 'Olive', 'Sea green', 'Yellow-green', 'Green', 'Moss green'];

export function breedsOf({ kind, coat }: Look): readonly Breed[] {
  return breeds[kind].filter(({ coats }) => coats?.includes(coat) ?? true);
}

/** The main one first. */
export function colorsOf({ kind, coat, isPatched }: Look): string[] {
  const names = kind === 'bird' || kind === 'fish' ? plumes : kind === 'turtle' ? shells : furs;
  const main = names[coat] ?? '';
  if (kind === 'tuxedo' || kind === 'shepherd') return [main, 'White'];
  return isPatched && names === furs && kind !== 'hedgehog' ? [main, `Dark ${main.toLowerCase()}`] : [main];
}
