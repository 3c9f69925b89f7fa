import type { Breed, Variety } from './breed.ts';
import { type CatCoat, type CatShape, drawCat } from './cat-drawings.ts';

type Coats = ReadonlyArray<readonly [colours: readonly [string, ...string[]], coat: CatCoat]>;

const ginger = { coat: '#eda264', deep: '#cb7233', pale: '#fff1de' };
const greyTabby = { coat: '#a7a29c', deep: '#6c6661', pale: '#f1eeea' };
const brownTabby = { coat: '#a98560', deep: '#6a4c33', pale: '#f3e4cd' };
const black = { coat: '#4a4242', deep: '#332c2c', pale: '#5d5453' };
const white = { coat: '#f6f0e8', deep: '#d6cabb', pale: '#fffdf8' };
const blue = { coat: '#9a9fa9', deep: '#6d727d', pale: '#c4c8cf' };
const cream = { coat: '#f1dfc0', deep: '#d8b98a', pale: '#fffaf0' };
const eyes = { green: '#bcd077', yellow: '#ecd06a', amber: '#e6a94a', blue: '#79bce8', sea: '#8fd0b4' };

const cat = (
  given: Pick<Breed, 'name' | 'coat'> & Partial<Pick<Breed, 'size' | 'grams'>>,
  shape: CatShape,
  [first, ...others]: Coats,
): Breed => {
  if (!first) throw new Error(`${given.name} has no coat`);
  const variety = ([colours, coat]: Coats[number]): Variety => ({ colours, draw: (age, worn) => drawCat(shape, coat, age, worn) });
  return { size: 'medium', grams: 4_300, feeCents: 9_000, ...given, varieties: [variety(first), ...others.map(variety)] };
};

/** Most cats of a shelter are of no breed, so two of these appear several times. */
export const catBreeds: readonly [Breed, ...Breed[]] = [
  cat({ name: 'Domestic Shorthair', coat: 'short' }, { head: 'round', ears: 'usual' }, [
    [['Ginger'], { ...ginger, marks: 'tabby', iris: eyes.green }],
    [['Grey'], { ...greyTabby, marks: 'tabby', iris: eyes.yellow }],
    [['Brown'], { ...brownTabby, marks: 'tabby', iris: eyes.green }],
    [['Cream'], { ...cream, marks: 'patch', iris: eyes.amber }],
  ]),
  cat({ name: 'Siamese', coat: 'short', grams: 3_900 }, { head: 'wedge', ears: 'large' }, [
    [
      ['Seal point'],
      { coat: '#f0e2cd', deep: '#6b4a38', pale: '#f0e2cd', marks: 'point', ear: '#6b4a38', muzzle: '#7c5947', iris: eyes.blue },
    ],
    [
      ['Lilac point'],
      { coat: '#f4ece4', deep: '#b9a5a0', pale: '#f4ece4', marks: 'point', ear: '#b9a5a0', muzzle: '#c6b4af', iris: eyes.blue },
    ],
  ]),
  cat({ name: 'Domestic Shorthair', coat: 'short' }, { head: 'round', ears: 'usual' }, [
    [['Black', 'White'], { ...black, pale: '#fffaf4', marks: 'tuxedo', iris: eyes.yellow }],
    [['Black'], { ...black, iris: eyes.amber }],
    [['Grey', 'White'], { ...blue, pale: '#fffaf4', marks: 'tuxedo', iris: eyes.green }],
    [['White'], { ...white, iris: eyes.blue, otherIris: eyes.amber }],
  ]),
  cat({ name: 'Maine Coon', coat: 'long', size: 'large', grams: 7_200 }, { head: 'round', ears: 'tufted', fur: 'long' }, [
    [['Brown'], { ...brownTabby, marks: 'tabby', iris: eyes.green }],
    [['Ginger'], { ...ginger, marks: 'tabby', iris: eyes.amber }],
    [['Silver'], { coat: '#d3d2d0', deep: '#8b8987', pale: '#fffdf9', marks: 'tabby', iris: eyes.sea }],
  ]),
  cat({ name: 'Domestic Shorthair', coat: 'short' }, { head: 'round', ears: 'usual' }, [
    [['Calico'], { ...white, deep: '#4a4242', marks: 'calico', iris: eyes.green }],
    [['Tortoiseshell'], { ...black, marks: 'tortoiseshell', iris: eyes.amber }],
    [['White', 'Ginger'], { ...ginger, pale: '#fffaf4', marks: 'van', iris: eyes.sea }],
  ]),
  cat({ name: 'British Shorthair', coat: 'short', grams: 5_500 }, { head: 'flat', ears: 'usual' }, [
    [['Blue'], { ...blue, iris: eyes.amber }],
    [['Chocolate'], { coat: '#91694c', deep: '#654530', pale: '#c9a384', iris: eyes.amber }],
  ]),
  cat({ name: 'Bengal', coat: 'short', grams: 5_000 }, { head: 'wedge', ears: 'usual' }, [
    [['Golden brown'], { coat: '#dba768', deep: '#6e4727', pale: '#fbeed8', marks: 'spots', iris: eyes.sea }],
    [['Snow'], { coat: '#f0e3d0', deep: '#a98a6c', pale: '#fffaf2', marks: 'spots', iris: eyes.blue }],
  ]),
  cat({ name: 'Persian', coat: 'long', grams: 4_500 }, { head: 'flat', ears: 'usual', fur: 'long' }, [
    [['Cream'], { ...cream, iris: eyes.amber }],
    [['Ginger'], { ...ginger, iris: eyes.sea }],
    [['Smoke'], { ...blue, iris: eyes.amber }],
  ]),
  cat({ name: 'Domestic Longhair', coat: 'long' }, { head: 'round', ears: 'usual', fur: 'long' }, [
    [['Black', 'White'], { ...black, pale: '#fffaf4', marks: 'tuxedo', iris: eyes.green }],
    [['Calico'], { ...white, deep: '#4a4242', marks: 'calico', iris: eyes.amber }],
    [['Black'], { ...black, iris: eyes.yellow }],
  ]),
  cat({ name: 'Scottish Fold', coat: 'short' }, { head: 'flat', ears: 'folded' }, [
    [['Grey'], { ...greyTabby, marks: 'tabby', iris: eyes.amber }],
    [['Cream'], { ...cream, marks: 'tabby', iris: eyes.yellow }],
  ]),
  cat({ name: 'Abyssinian', coat: 'short' }, { head: 'wedge', ears: 'large' }, [
    [['Ruddy'], { coat: '#c98149', deep: '#8f5328', pale: '#f4d9b8', iris: eyes.green }],
    [['Fawn'], { coat: '#dcbf9f', deep: '#b08e6b', pale: '#f7e9d8', iris: eyes.amber }],
  ]),
  cat({ name: 'Sphynx', coat: 'hairless', grams: 4_000 }, { head: 'wedge', ears: 'large', fur: 'none' }, [
    [['Pink'], { coat: '#ebc7b4', deep: '#c4917c', pale: '#f6dccf', iris: eyes.sea }],
    [['Grey'], { coat: '#b3a7a6', deep: '#857776', pale: '#cdc2c0', iris: eyes.yellow }],
  ]),
];
