import type { Breed, Variety } from './breed.ts';
import type { Age } from './drawing-parts.ts';
import { drawBird, drawCow, drawFish, drawHorse, drawTortoise } from './other-drawings.ts';
import { drawHedgehog, drawRabbit, drawRodent } from './small-drawings.ts';

type Breeds = readonly [Breed, ...Breed[]];
type Rows<Coat> = readonly [Row<Coat>, ...Array<Row<Coat>>];
type Row<Coat> = readonly [colours: readonly [string, ...string[]], coat: Coat];

/** A breed of a species whose animals are drawn by `draw`. */
const drawnBy =
  <Coat>(draw: (coat: Coat, age: Age, worn: string) => string) =>
  (given: Omit<Breed, 'varieties'>, [first, ...others]: Rows<Coat>): Breed => {
    const variety = ([colours, coat]: Row<Coat>): Variety => ({ colours, draw: (age, worn) => draw(coat, age, worn) });
    return { ...given, varieties: [variety(first), ...others.map(variety)] };
  };

const golden = { coat: '#d9a264', deep: '#ab7136', pale: '#fbe9d0' };
const grey = { coat: '#a3a1a3', deep: '#6f6d70', pale: '#f6f2ee' };
const white = { coat: '#f6f0e8', deep: '#8d8785', pale: '#fffdf8' };
const black = { coat: '#544a48', deep: '#37302f', pale: '#ded5ce', iris: '#a8703f' };
const brown = { coat: '#8f6245', deep: '#643f29', pale: '#eed8c2' };

const rabbit = drawnBy(drawRabbit);
export const rabbitBreeds: Breeds = [
  rabbit({ name: 'Dwarf Rabbit', size: 'small', coat: 'short', grams: 1_400, feeCents: 4_000 }, [
    [['Golden brown'], { ...golden, ears: 'upright' }],
    [['White', 'Black'], { ...white, deep: '#4b4241', ears: 'mixed', marks: 'spots', ear: '#4b4241' }],
    [['Black', 'White'], { ...black, pale: '#fffaf4', ears: 'upright', marks: 'dutch' }],
  ]),
  rabbit({ name: 'Holland Lop', size: 'small', coat: 'medium', grams: 1_700, feeCents: 4_500 }, [
    [['Grey', 'White'], { ...grey, pale: '#fffaf4', ears: 'lop', marks: 'dutch' }],
    [['Cream'], { coat: '#f0dcbd', deep: '#cfa876', pale: '#fffaf0', ears: 'lop', ear: '#dfbf93' }],
    [['Brown'], { ...brown, ears: 'mixed' }],
  ]),
  rabbit({ name: 'Angora', size: 'medium', coat: 'long', grams: 3_000, feeCents: 4_500 }, [
    [['White'], { ...white, deep: '#d6cabb', ears: 'upright', isFluffy: true }],
    [['Grey'], { ...grey, ears: 'upright', isFluffy: true }],
  ]),
  rabbit({ name: 'Himalayan', size: 'small', coat: 'short', grams: 1_500, feeCents: 4_000 }, [
    [['White', 'Chocolate'], { ...white, deep: '#6b4a38', ears: 'upright', marks: 'nose', ear: '#6b4a38', iris: '#d8707a' }],
    [['White', 'Grey'], { ...white, deep: '#8b8d92', ears: 'lop', marks: 'nose', ear: '#8b8d92', iris: '#d8707a' }],
  ]),
  rabbit({ name: 'Belgian Hare', size: 'large', coat: 'short', grams: 3_900, feeCents: 4_500 }, [
    [['Chestnut'], { coat: '#b9713e', deep: '#7f4825', pale: '#f4dcc0', ears: 'upright', ear: '#8f5429' }],
    [['Golden brown', 'White'], { ...white, deep: '#d29a58', ears: 'mixed', marks: 'patch', ear: '#d29a58' }],
  ]),
];

const bird = drawnBy(drawBird);
export const birdBreeds: Breeds = [
  bird({ name: 'Budgerigar', size: 'small', grams: 40, feeCents: 1_500 }, [
    [['Green', 'Yellow'], { kind: 'budgerigar', coat: '#86c25f', deep: '#437f38', pale: '#b4de8a', face: '#f8e065' }],
    [['Blue', 'White'], { kind: 'budgerigar', coat: '#77b7e4', deep: '#3c72a8', pale: '#b3daf3', face: '#fffdf8' }],
    [['Yellow'], { kind: 'budgerigar', coat: '#f4d45b', deep: '#c99a2a', pale: '#fff0b5', face: '#fff6cf' }],
    [['Violet', 'White'], { kind: 'budgerigar', coat: '#9a8bd6', deep: '#5f4f9c', pale: '#c9c0ee', face: '#fffdf8' }],
  ]),
  bird({ name: 'Cockatiel', size: 'medium', grams: 95, feeCents: 4_500 }, [
    [['Grey', 'Yellow'], { kind: 'cockatiel', coat: '#aeaba8', deep: '#78746f', pale: '#dcd9d5', face: '#f7e583' }],
    [['White', 'Yellow'], { kind: 'cockatiel', coat: '#f7f1e4', deep: '#d9cdb6', pale: '#fffdf6', face: '#f9ec9f' }],
  ]),
  bird({ name: 'Canary', size: 'small', grams: 25, feeCents: 1_500 }, [
    [['Yellow'], { kind: 'canary', coat: '#f7d350', deep: '#d9a625', pale: '#fff2b8' }],
    [['Orange'], { kind: 'canary', coat: '#f08f54', deep: '#c9612c', pale: '#fbd0a8' }],
  ]),
  bird({ name: 'Lovebird', size: 'small', grams: 55, feeCents: 4_000 }, [
    [['Green', 'Peach'], { kind: 'lovebird', coat: '#74bd63', deep: '#3f834b', pale: '#abd98f', face: '#f28b66' }],
    [['Teal', 'White'], { kind: 'lovebird', coat: '#45aaa3', deep: '#267871', pale: '#9fd8d2', face: '#fbf4ea' }],
  ]),
  bird({ name: 'Zebra Finch', size: 'small', grams: 13, feeCents: 1_200 }, [
    [['Grey', 'Orange'], { kind: 'finch', coat: '#aca7a3', deep: '#7b746f', pale: '#f7f1e9' }],
    [['White'], { kind: 'finch', coat: '#f3ede3', deep: '#c9bfb1', pale: '#fffdf8' }],
  ]),
];

const rodent = drawnBy(drawRodent);
export const rodentBreeds: Breeds = [
  rodent({ name: 'Syrian Hamster', size: 'small', coat: 'short', grams: 150, feeCents: 1_000 }, [
    [['Golden brown', 'White'], { ...golden, marks: 'band' }],
    [['Cream'], { coat: '#efd9b6', deep: '#cfa46a', pale: '#fffaf0', marks: 'patch' }],
    [['Black'], { ...black, marks: 'none' }],
  ]),
  rodent({ name: 'Guinea Pig', size: 'small', coat: 'short', grams: 950, feeCents: 2_500 }, [
    [['Brown', 'White', 'Grey'], { coat: '#8d898a', deep: '#cf8c4d', pale: '#f8f1e6', isGuineaPig: true, marks: 'halves' }],
    [['Black', 'White'], { ...black, pale: '#fffaf4', isGuineaPig: true, marks: 'blaze' }],
  ]),
  rodent({ name: 'Roborovski Hamster', size: 'small', coat: 'short', grams: 30, feeCents: 1_000 }, [
    [['Sand', 'White'], { coat: '#cdac86', deep: '#9d7c57', pale: '#fffaf2', marks: 'brow' }],
  ]),
  rodent({ name: 'Abyssinian Guinea Pig', size: 'small', coat: 'long', grams: 1_000, feeCents: 2_500 }, [
    [['Ginger', 'White'], { coat: '#dc9450', deep: '#b16c2d', pale: '#fff1de', isGuineaPig: true, isFluffy: true, marks: 'blaze' }],
    [['Chocolate'], { ...brown, isGuineaPig: true, isFluffy: true }],
  ]),
  rodent({ name: 'Dwarf Hamster', size: 'small', coat: 'short', grams: 45, feeCents: 1_000 }, [
    [['Grey'], { ...grey, marks: 'blaze', deep: '#77757a' }],
    [['White'], { ...white, deep: '#d6cabb' }],
  ]),
];

const tortoise = drawnBy(drawTortoise);
const skin = { coat: '#9aa45c', deep: '#5b4a2a', pale: '#d3bd66' };
export const tortoiseBreeds: Breeds = [
  tortoise({ name: 'Hermann’s Tortoise', size: 'medium', grams: 1_200, feeCents: 12_000 }, [
    [['Olive', 'Yellow'], { ...skin, shell: '#7a5c36', pattern: 'plates' }],
    [['Yellow'], { ...skin, shell: '#b3904a', pale: '#6f5628', pattern: 'plates' }],
  ]),
  tortoise({ name: 'Pond Slider', size: 'small', grams: 900, feeCents: 6_000 }, [
    [['Green'], { coat: '#6f9150', deep: '#2f4a2c', pale: '#bccc60', shell: '#486640', pattern: 'stripe' }],
  ]),
  tortoise({ name: 'Leopard Tortoise', size: 'medium', grams: 4_500, feeCents: 15_000 }, [
    [['Sand', 'Brown'], { coat: '#bfa96d', deep: '#6f5628', pale: '#e6d596', shell: '#8a6f3f', pattern: 'rings' }],
  ]),
  tortoise({ name: 'Indian Star Tortoise', size: 'small', grams: 1_400, feeCents: 15_000 }, [
    [['Black', 'Yellow'], { coat: '#ab9a6e', deep: '#2f2318', pale: '#ecd48e', shell: '#4d3b29', pattern: 'stars' }],
  ]),
];

const fish = drawnBy(drawFish);
export const fishBreeds: Breeds = [
  fish({ name: 'Goldfish', size: 'small', grams: 60, feeCents: 500 }, [
    [['Orange'], { coat: '#f2913f', deep: '#c9611d', pale: '#fff1e0', pattern: 'plain' }],
    [['White', 'Orange'], { coat: '#f8f0e6', deep: '#e8863c', pale: '#ef9447', pattern: 'spots' }],
  ]),
  fish({ name: 'Betta', size: 'small', grams: 4, feeCents: 600 }, [
    [['Blue'], { coat: '#6676d9', deep: '#3f42a8', pale: '#93a6f2', pattern: 'plain', fins: 'veil' }],
    [['Red'], { coat: '#d9534a', deep: '#a32c34', pale: '#f29084', pattern: 'plain', fins: 'veil' }],
  ]),
  fish({ name: 'Convict Cichlid', size: 'small', grams: 30, feeCents: 500 }, [
    [['Grey', 'Black'], { coat: '#9bbcd0', deep: '#5d819b', pale: '#2f4a5c', pattern: 'stripes' }],
  ]),
  fish({ name: 'Angelfish', size: 'small', grams: 20, feeCents: 500 }, [
    [['Yellow', 'White'], { coat: '#f3b843', deep: '#e08d22', pale: '#fffaf2', pattern: 'halves', fins: 'veil' }],
    [['Silver', 'Black'], { coat: '#e6e9eb', deep: '#9aa3ab', pale: '#3f474d', pattern: 'spots', fins: 'veil' }],
  ]),
];

const horse = drawnBy(drawHorse);
export const horseBreeds: Breeds = [
  horse({ name: 'Connemara Pony', size: 'large', coat: 'short', grams: 330_000, feeCents: 90_000 }, [
    [['Grey'], { coat: '#d9d5d0', deep: '#a39d97', pale: '#fff', mane: '#f6f2ec', face: 'none' }],
    [['Dun'], { coat: '#d2ad7c', deep: '#8f6c43', pale: '#fff', mane: '#4f3a2a', face: 'snip' }],
  ]),
  horse({ name: 'Irish Draught', size: 'extra_large', coat: 'short', grams: 600_000, feeCents: 120_000 }, [
    [['Bay'], { coat: '#a3633b', deep: '#6f4026', pale: '#fff', mane: '#33251e', face: 'blaze' }],
    [['Black'], { coat: '#51423b', deep: '#352a25', pale: '#fff', mane: '#2a211d', face: 'star', iris: '#a8703f' }],
  ]),
  horse({ name: 'Irish Cob', size: 'large', coat: 'long', grams: 500_000, feeCents: 100_000 }, [
    [['Piebald'], { coat: '#4f4541', deep: '#352d2a', pale: '#fffaf2', mane: '#fff4e2', face: 'none', isPatched: true, iris: '#a8703f' }],
    [['Skewbald'], { coat: '#94633f', deep: '#653f26', pale: '#fffaf2', mane: '#fff1dc', face: 'none', isPatched: true }],
  ]),
  horse({ name: 'Haflinger', size: 'large', coat: 'short', grams: 450_000, feeCents: 100_000 }, [
    [['Chestnut'], { coat: '#cf8c4d', deep: '#9c602c', pale: '#fff', mane: '#fbe8c4', face: 'blaze' }],
  ]),
];

const cow = drawnBy(drawCow);
export const cowBreeds: Breeds = [
  cow({ name: 'Friesian', size: 'extra_large', coat: 'short', grams: 600_000, feeCents: 60_000 }, [
    [['White', 'Black'], { coat: '#fff8ee', deep: '#3d3534', pale: '#f4c9ba', pattern: 'patches', hasHorns: false }],
    [['White', 'Red'], { coat: '#fff8ee', deep: '#b5673a', pale: '#f4c9ba', pattern: 'patches', hasHorns: false }],
  ]),
  cow({ name: 'Highland', size: 'large', coat: 'long', grams: 480_000, feeCents: 70_000 }, [
    [['Red'], { coat: '#bd6c3b', deep: '#8f4a24', pale: '#f0d6bd', pattern: 'plain', hasHorns: true, isShaggy: true }],
    [['Cream'], { coat: '#ecd6b1', deep: '#cba973', pale: '#fff4e2', pattern: 'plain', hasHorns: true, isShaggy: true }],
  ]),
  cow({ name: 'Jersey', size: 'large', coat: 'short', grams: 430_000, feeCents: 60_000 }, [
    [['Fawn'], { coat: '#cc945f', deep: '#8f623c', pale: '#fbeedd', pattern: 'plain', hasHorns: false }],
  ]),
  cow({ name: 'Dexter', size: 'large', coat: 'short', grams: 320_000, feeCents: 60_000 }, [
    [['Black'], { coat: '#4b413f', deep: '#2f2725', pale: '#d9c6b6', pattern: 'plain', hasHorns: true, iris: '#a8703f' }],
    [['Dun', 'White'], { coat: '#8f6a4c', deep: '#5f432d', pale: '#f3e4d3', pattern: 'belt', hasHorns: true }],
  ]),
];

const hedgehog = drawnBy(drawHedgehog);
export const hedgehogBreeds: Breeds = [
  hedgehog({ name: 'African Pygmy Hedgehog', size: 'small', grams: 400, feeCents: 5_000 }, [
    [['Brown'], { coat: '#ab8a6d', deep: '#735843', pale: '#f4e5d2' }],
    [['Cream'], { coat: '#e3d1bc', deep: '#b8a088', pale: '#fff8ec' }],
    [['Grey'], { coat: '#9c9898', deep: '#5f5b5c', pale: '#efeae5' }],
    [['Chocolate'], { coat: '#7f5b45', deep: '#4f372a', pale: '#ecd5c0' }],
  ]),
];
