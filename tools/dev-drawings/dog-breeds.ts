import type { Breed, Variety } from './breed.ts';
import { type DogCoat, type DogShape, drawDog } from './dog-drawings.ts';

type Coats = ReadonlyArray<readonly [colours: readonly [string, ...string[]], coat: DogCoat]>;

const brown = '#a8703f';
const golden = { coat: '#dd9f5b', deep: '#b57434', pale: '#fbe8cd' };
const cream = { coat: '#f0dcb8', deep: '#d4b27f', pale: '#fffaf0' };
const black = { coat: '#4b4241', deep: '#2f2827', pale: '#ded6cf', iris: brown };
const chocolate = { coat: '#7d543b', deep: '#573725', pale: '#c99f7c', iris: '#c08a4e' };
const red = { coat: '#c46a35', deep: '#8f4520', pale: '#fbe3cb' };
const white = { coat: '#f5efe6', deep: '#cfc2b1', pale: '#fffdf8' };
const grey = { coat: '#98999d', deep: '#66686e', pale: '#f3f1ee' };

const dog = (given: Omit<Breed, 'varieties' | 'feeCents'>, shape: DogShape, [first, ...others]: Coats): Breed => {
  if (!first) throw new Error(`${given.name} has no coat`);
  const variety = ([colours, coat]: Coats[number]): Variety => ({ colours, draw: (age, worn) => drawDog(shape, coat, age, worn) });
  return { ...given, feeCents: 22_000, canBeMixed: true, varieties: [variety(first), ...others.map(variety)] };
};

export const dogBreeds: readonly [Breed, ...Breed[]] = [
  dog({ name: 'Labrador Retriever', size: 'large', coat: 'short', grams: 30_000 }, { head: 'broad', ears: 'floppy' }, [
    [['Yellow'], cream],
    [['Black'], { ...black, pale: '#6a5f5c' }],
    [['Chocolate'], chocolate],
  ]),
  dog({ name: 'Border Collie', size: 'medium', coat: 'medium', grams: 18_000 }, { head: 'wedge', ears: 'folded', fur: 'fluffy' }, [
    [['Black', 'White'], { ...black, pale: '#fffaf2', marks: 'blaze' }],
    [
      ['Blue merle', 'White'],
      { ...grey, coat: '#b3bac4', deep: '#5d6673', pale: '#fff', marks: 'merle', iris: '#8cc4ea', otherIris: brown },
    ],
    [['Red', 'White'], { ...red, pale: '#fffaf2', marks: 'blaze' }],
  ]),
  dog({ name: 'Dachshund', size: 'small', coat: 'short', grams: 8_500 }, { head: 'narrow', ears: 'long' }, [
    [['Red'], red],
    [['Black', 'Tan'], { ...black, pale: '#d79b5b', marks: 'tan' }],
    [['Cream'], { ...cream, ear: '#c99a63' }],
  ]),
  dog({ name: 'Siberian Husky', size: 'large', coat: 'medium', grams: 23_000 }, { head: 'wedge', ears: 'pricked', fur: 'fluffy' }, [
    [['Grey', 'White'], { ...grey, pale: '#fff', marks: 'cap', iris: '#8cc4ea' }],
    [['Red', 'White'], { ...red, pale: '#fff', marks: 'cap', iris: '#a9d4e8', otherIris: brown }],
    [['Black', 'White'], { ...black, pale: '#fff', marks: 'cap', iris: '#8cc4ea' }],
  ]),
  dog({ name: 'Beagle', size: 'medium', coat: 'short', grams: 11_000 }, { head: 'round', ears: 'long' }, [
    [['Tricolour'], { coat: '#d58f4c', deep: '#8c5428', pale: '#fffaf2', marks: 'blaze' }],
    [['Lemon', 'White'], { ...white, deep: '#e0b473', marks: 'saddle', ear: '#dba860' }],
  ]),
  dog({ name: 'Poodle', size: 'medium', coat: 'curly', grams: 20_000 }, { head: 'round', ears: 'curly', fur: 'curly' }, [
    [['White'], { ...white, deep: '#ddd2c4' }],
    [['Apricot'], { coat: '#e6b07c', deep: '#cf8f56', pale: '#f9dcbd' }],
    [['Black'], { ...black, deep: '#3a3231', pale: '#6f6562' }],
  ]),
  dog({ name: 'Jack Russell Terrier', size: 'small', coat: 'wire', grams: 6_500 }, { head: 'round', ears: 'folded', fur: 'wiry' }, [
    [['White', 'Tan'], { ...white, deep: '#b9743c', marks: 'patch' }],
    [['White', 'Black'], { ...white, deep: '#4b4241', marks: 'patch' }],
  ]),
  dog({ name: 'German Shepherd', size: 'large', coat: 'medium', grams: 33_000 }, { head: 'wedge', ears: 'pricked' }, [
    [['Black', 'Tan'], { coat: '#c68a4e', deep: '#4a3d35', pale: '#5a4940', marks: 'mask', muzzle: '#4a3d35' }],
    [['Sable'], { coat: '#9b7a58', deep: '#5b4632', pale: '#c9a77f', marks: 'saddle', muzzle: '#6b5340' }],
  ]),
  dog({ name: 'French Bulldog', size: 'small', coat: 'short', grams: 12_000 }, { head: 'broad', ears: 'bat', isFlat: true }, [
    [['Blue'], grey],
    [['Fawn'], { coat: '#dcb583', deep: '#b98c58', pale: '#f9ead3', marks: 'mask', muzzle: '#5a4a40' }],
    [['Pied'], { ...white, deep: '#4b4241', marks: 'patch' }],
  ]),
  dog({ name: 'Cocker Spaniel', size: 'medium', coat: 'long', grams: 13_500 }, { head: 'round', ears: 'shaggy' }, [
    [['Golden'], golden],
    [['Liver', 'White'], { coat: '#8d5a3c', deep: '#6b412a', pale: '#fffaf2', marks: 'blaze', iris: '#c08a4e' }],
    [['Black'], { ...black, deep: '#3a3231', pale: '#756a67' }],
  ]),
  dog({ name: 'Dalmatian', size: 'large', coat: 'short', grams: 26_000 }, { head: 'broad', ears: 'floppy' }, [
    [['White', 'Black'], { ...white, marks: 'spots', ear: '#3f3736' }],
    [['White', 'Liver'], { ...white, marks: 'spots', ear: '#7d543b', iris: '#c08a4e' }],
  ]),
  dog({ name: 'Welsh Corgi', size: 'small', coat: 'medium', grams: 12_000 }, { head: 'wedge', ears: 'bat' }, [
    [['Red', 'White'], { coat: '#de9a58', deep: '#c47f3d', pale: '#fffaf2', marks: 'blaze' }],
    [['Black', 'Tan', 'White'], { ...black, pale: '#fffaf2', marks: 'blaze', ear: '#c07c3f' }],
  ]),
  dog({ name: 'Greyhound', size: 'large', coat: 'short', grams: 30_000 }, { head: 'narrow', ears: 'swept' }, [
    [['Blue'], { ...grey, pale: '#b9babd' }],
    [['Fawn', 'White'], { coat: '#d8ab78', deep: '#ae7f4c', pale: '#fffaf2', marks: 'blaze' }],
    [['Black'], { ...black, pale: '#6f6562' }],
  ]),
  dog(
    { name: 'Bernese Mountain Dog', size: 'extra_large', coat: 'long', grams: 44_000 },
    { head: 'broad', ears: 'floppy', fur: 'fluffy' },
    [[['Black', 'White', 'Rust'], { ...black, pale: '#fffaf2', marks: 'rust', muzzle: '#fffaf2' }]],
  ),
  dog({ name: 'Pug', size: 'small', coat: 'short', grams: 7_500 }, { head: 'flat', ears: 'folded', isFlat: true }, [
    [['Fawn', 'Black'], { coat: '#e3c08f', deep: '#bf9762', pale: '#f6e3c4', marks: 'mask', muzzle: '#4c3f38', ear: '#4c3f38' }],
    [['Black'], { ...black, pale: '#5c5250', muzzle: '#3a3231' }],
  ]),
  dog({ name: 'Irish Terrier', size: 'medium', coat: 'wire', grams: 12_000 }, { head: 'narrow', ears: 'folded', fur: 'wiry' }, [
    [['Red'], { coat: '#c5743c', deep: '#99522a', pale: '#e2a46d' }],
    [['Grey'], { ...grey, pale: '#d9dadb' }],
  ]),
  dog({ name: 'Golden Retriever', size: 'large', coat: 'long', grams: 31_000 }, { head: 'broad', ears: 'floppy', fur: 'fluffy' }, [
    [['Golden'], { ...golden, coat: '#e0a862' }],
    [['Cream'], { ...cream, coat: '#f3e4c9' }],
  ]),
  dog({ name: 'Staffordshire Bull Terrier', size: 'medium', coat: 'short', grams: 15_000 }, { head: 'flat', ears: 'folded' }, [
    [['Brindle'], { coat: '#7a5a43', deep: '#4f382a', pale: '#fffaf2', marks: 'blaze', iris: '#c08a4e' }],
    [['White', 'Grey'], { ...white, deep: '#8b8d92', marks: 'patch' }],
    [['Blue'], { ...grey, pale: '#fffaf2', marks: 'blaze' }],
  ]),
  dog({ name: 'Newfoundland', size: 'extra_large', coat: 'long', grams: 58_000 }, { head: 'broad', ears: 'shaggy', fur: 'fluffy' }, [
    [['Black'], { ...black, deep: '#393130', pale: '#625856' }],
    [['White', 'Black'], { ...black, pale: '#fffaf2', marks: 'apart', muzzle: '#fffaf2' }],
    [['Brown'], { ...chocolate, pale: '#a97c5a' }],
  ]),
];
