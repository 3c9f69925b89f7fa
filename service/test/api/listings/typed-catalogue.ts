// The animals among which people search in typed-searches.ts. They have what misleads a search: a dog that is called Kitten, a cat that
// is called Puppy, a black cat that is called Ginger, descriptions that speak of other animals and other towns, and profiles that say little.

import type { Companion, ProfileChanges } from '../../../src/domain/profile-fields.ts';

export const categories = { dog: 1, cat: 2, rabbit: 3, bird: 4, smallAnimal: 5, reptile: 6, fish: 7, horse: 8, farmAnimal: 9 } as const;
export type Category = keyof typeof categories;

export const shelters = {
  dublin: { name: 'Liffey House', town: 'Dublin', postcode: 'D08 X2Y4', country: 'IE' },
  cork: { name: 'Lee Valley Rescue', town: 'Cork', postcode: 'T12 W8KP', country: 'IE' },
  galway: { name: 'Corrib Animal Home', town: 'Galway', postcode: 'H91 E2K3', country: 'IE' },
  bath: { name: 'Avon Cats and Dogs', town: 'Bath', postcode: 'BA1 1LZ', country: 'GB' },
  reading: { name: 'Thames Pet Centre', town: 'Reading', postcode: 'RG1 2AG', country: 'GB' },
  paris: { name: 'Refuge du Canal', town: 'Paris', postcode: '75011', country: 'FR' },
  vienna: { name: 'Danube Shelter', town: 'Vienna', postcode: '1020', country: 'AT' },
  newYork: { name: 'Hudson Second Chance', town: 'New York', postcode: '10001', country: 'US' },
} as const;
export type ShelterKey = keyof typeof shelters;

export interface Animal {
  /** Its name, with its category where two animals have one name. */
  readonly key: string;
  readonly name: string;
  readonly category: Category;
  readonly shelter: ShelterKey;
  /** Undefined: its birth date is not known. */
  readonly months: number | undefined;
  readonly profile: ProfileChanges;
}

type Description = Omit<ProfileChanges, 'birthDate' | 'goodWith' | 'description' | 'breeds'> & {
  readonly breed?: string;
  readonly secondBreed?: string;
  readonly months?: number;
  readonly years?: number;
  /** What it gets along with, and what it does not. The rest is unknown. */
  readonly likes?: readonly Companion[];
  readonly hates?: readonly Companion[];
  readonly text?: string;
};

const everyone: readonly Companion[] = ['children', 'dogs', 'cats'];

const entry = (category: Category, key: string, shelter: ShelterKey, description: Description = {}): Animal => {
  const { breed, secondBreed, months, years, likes = [], hates = [], text, ...rest } = description;
  return {
    key,
    name: key.replace(/ \(.*\)$/, ''),
    category,
    shelter,
    months: months ?? (years === undefined ? undefined : Math.round(years * 12)),
    profile: {
      ...rest,
      ...(text !== undefined && { description: text }),
      ...(breed !== undefined && {
        breeds: { primary: breed, ...(secondBreed !== undefined && { secondary: secondBreed, mixed: 'yes' as const }) },
      }),
      goodWith: Object.fromEntries([...likes.map((who) => [who, 'yes']), ...hates.map((who) => [who, 'no'])]),
    },
  };
};

type Row = readonly [key: string, shelter: ShelterKey, description?: Description];
const all = (category: Category, rows: readonly Row[]): Animal[] => rows.map((row) => entry(category, ...row));

const dogs = all('dog', [
  [
    'Biscuit',
    'dublin',
    {
      breed: 'Labrador Retriever',
      colors: ['yellow'],
      sex: 'male',
      size: 'large',
      coat: 'short',
      years: 5,
      likes: ['children', 'dogs'],
      hates: ['cats'],
      text: 'Loves long walks and swimming in the Liffey. Chases cats.',
    },
  ],
  [
    'Bruno',
    'cork',
    {
      breed: 'Labrador Retriever',
      colors: ['black'],
      sex: 'male',
      size: 'large',
      coat: 'short',
      years: 4,
      likes: everyone,
      text: 'A wonderful family dog who greets everybody.',
    },
  ],
  [
    'Nell',
    'dublin',
    {
      breed: 'Labrador Retriever',
      colors: ['black'],
      sex: 'female',
      size: 'large',
      coat: 'short',
      months: 7,
      likes: ['children', 'dogs'],
      text: 'Still learns to walk on a lead.',
    },
  ],
  [
    'Mocha',
    'galway',
    {
      breed: 'Labrador Retriever',
      colors: ['chocolate'],
      sex: 'female',
      size: 'large',
      coat: 'short',
      years: 2,
      likes: ['dogs'],
      text: 'Would eat all day.',
    },
  ],
  [
    'Coal',
    'paris',
    {
      breed: 'Labrador Retriever',
      colors: ['black'],
      sex: 'male',
      size: 'large',
      coat: 'short',
      years: 10,
      likes: ['cats'],
      hates: ['children'],
      text: 'A calm old gentleman with stiff hips.',
    },
  ],
  [
    'Sunny',
    'dublin',
    {
      breed: 'Golden Retriever',
      colors: ['golden'],
      sex: 'male',
      size: 'large',
      coat: 'long',
      months: 4,
      likes: ['children', 'dogs'],
      text: 'Chews shoes. Will grow big.',
    },
  ],
  [
    'Honey',
    'cork',
    {
      breed: 'Golden Retriever',
      colors: ['cream'],
      sex: 'female',
      size: 'large',
      coat: 'long',
      months: 5,
      likes: everyone,
      text: 'Grew up in a house with kittens.',
    },
  ],
  [
    'Walter',
    'bath',
    {
      breed: 'Golden Retriever',
      colors: ['golden'],
      sex: 'male',
      size: 'large',
      coat: 'long',
      years: 11,
      likes: everyone,
      text: 'Sleeps most of the day.',
    },
  ],
  [
    'Poppy',
    'paris',
    {
      breed: 'Toy Poodle',
      colors: ['white'],
      sex: 'female',
      size: 'small',
      coat: 'curly',
      years: 4,
      likes: ['cats', 'dogs'],
      hates: ['children'],
      text: 'Happy in a flat.',
    },
  ],
  [
    'Pixie',
    'dublin',
    {
      breed: 'Chihuahua',
      colors: ['tan'],
      sex: 'female',
      size: 'small',
      coat: 'short',
      years: 6,
      hates: ['children', 'dogs'],
      text: 'A flat and a sofa are all she asks for. Not good with kids.',
    },
  ],
  [
    'Nacho',
    'newYork',
    {
      breed: 'Chihuahua',
      secondBreed: 'Dachshund',
      colors: ['brown'],
      sex: 'male',
      size: 'small',
      coat: 'short',
      years: 2,
      likes: ['children', 'cats'],
    },
  ],
  [
    'Paris',
    'cork',
    {
      breed: 'Greyhound',
      colors: ['grey'],
      sex: 'female',
      size: 'large',
      coat: 'short',
      years: 3.5,
      likes: ['children', 'dogs'],
      hates: ['cats'],
      text: 'Retired from racing. Would chase a rabbit or a cat.',
    },
  ],
  [
    'Olive',
    'dublin',
    {
      breed: 'Greyhound',
      colors: ['black'],
      sex: 'female',
      size: 'large',
      coat: 'short',
      years: 5,
      likes: ['cats', 'dogs'],
      text: 'Lives with two cats in her foster home.',
    },
  ],
  [
    'Bear',
    'galway',
    {
      breed: 'Newfoundland',
      colors: ['black'],
      sex: 'male',
      size: 'extra_large',
      coat: 'long',
      years: 4,
      likes: everyone,
      text: 'A gentle giant, careful with kittens.',
    },
  ],
  [
    'Ghost',
    'vienna',
    {
      breed: 'Siberian Husky',
      colors: ['grey', 'white'],
      sex: 'male',
      size: 'large',
      coat: 'medium',
      years: 2,
      likes: ['dogs'],
      hates: ['cats'],
      text: 'Needs hours of running a day.',
    },
  ],
  [
    'Rex',
    'dublin',
    {
      breed: 'German Shepherd',
      colors: ['black', 'tan'],
      sex: 'male',
      size: 'large',
      coat: 'medium',
      years: 5,
      hates: ['dogs'],
      text: 'For an experienced owner.',
    },
  ],
  [
    'Heidi',
    'vienna',
    {
      breed: 'German Shepherd',
      colors: ['black', 'tan'],
      sex: 'female',
      size: 'large',
      coat: 'medium',
      months: 6,
      likes: ['dogs', 'children'],
    },
  ],
  [
    'Shadow',
    'cork',
    {
      breed: 'Collie',
      secondBreed: 'Labrador Retriever',
      colors: ['black'],
      sex: 'male',
      size: 'medium',
      coat: 'medium',
      years: 10,
      likes: ['dogs', 'cats'],
      text: 'Quiet. Born in Dublin, where his first owner still lives.',
    },
  ],
  [
    'Jess',
    'bath',
    {
      breed: 'Border Collie',
      colors: ['black', 'white'],
      sex: 'female',
      size: 'medium',
      coat: 'medium',
      years: 2,
      likes: ['dogs'],
      hates: ['children'],
      tags: ['energetic', 'clever'],
    },
  ],
  [
    'Teddy',
    'dublin',
    {
      breed: 'Cavapoo',
      colors: ['apricot'],
      sex: 'male',
      size: 'small',
      coat: 'curly',
      months: 3,
      likes: ['children', 'dogs'],
      text: 'Small enough for a handbag.',
    },
  ],
  [
    'Daisy',
    'newYork',
    { breed: 'Beagle', colors: ['tricolour'], sex: 'female', size: 'medium', coat: 'short', years: 4, likes: ['children', 'dogs'] },
  ],
  [
    'Copper',
    'dublin',
    { breed: 'Beagle', colors: ['brown', 'white'], sex: 'male', size: 'medium', coat: 'short', years: 10, likes: ['dogs', 'cats'] },
  ],
  [
    'Winston',
    'bath',
    { breed: 'Bulldog', colors: ['white'], sex: 'male', size: 'medium', coat: 'short', years: 6, likes: ['children'], text: 'Snores.' },
  ],
  [
    'Frankie',
    'paris',
    { breed: 'French Bulldog', colors: ['fawn'], sex: 'male', size: 'small', coat: 'short', years: 2, likes: ['cats', 'children'] },
  ],
  [
    'Peanut',
    'dublin',
    {
      breed: 'Dachshund',
      colors: ['brown'],
      sex: 'male',
      size: 'small',
      coat: 'short',
      years: 5,
      likes: ['cats'],
      text: 'Shy with strangers, a clown with friends.',
    },
  ],
  ['Luna (dog)', 'cork', { colors: ['brown', 'white'], sex: 'female', size: 'medium', coat: 'short', years: 1.5, tags: ['shy'] }],
  [
    'Rocky',
    'galway',
    { breed: 'Boxer', colors: ['brindle'], sex: 'male', size: 'large', coat: 'short', years: 4, likes: ['children'], hates: ['cats'] },
  ],
  [
    'Tara',
    'dublin',
    {
      breed: 'Irish Setter',
      colors: ['red'],
      sex: 'female',
      size: 'large',
      coat: 'long',
      years: 12,
      likes: everyone,
      text: 'Still runs like a young dog.',
    },
  ],
  [
    'Finn',
    'galway',
    {
      breed: 'Irish Wolfhound',
      colors: ['grey'],
      sex: 'male',
      size: 'extra_large',
      coat: 'wire',
      years: 2,
      likes: ['children', 'dogs'],
      hates: ['cats'],
    },
  ],
  [
    'Scruff',
    'bath',
    {
      breed: 'Border Terrier',
      colors: ['tan'],
      sex: 'male',
      size: 'small',
      coat: 'wire',
      years: 7,
      hates: ['cats'],
      text: 'Digs. Would hunt anything small.',
    },
  ],
  [
    'Milo',
    'dublin',
    {
      breed: 'Jack Russell Terrier',
      colors: ['white', 'brown'],
      sex: 'male',
      size: 'small',
      coat: 'short',
      months: 8,
      likes: ['dogs'],
      hates: ['cats'],
      text: 'Busy from morning to night.',
    },
  ],
  [
    'Stella',
    'newYork',
    { breed: 'Rottweiler', colors: ['black', 'tan'], sex: 'female', size: 'large', coat: 'short', years: 3.5, likes: ['dogs'] },
  ],
  [
    'Kitten',
    'newYork',
    {
      breed: 'Yorkshire Terrier',
      colors: ['grey', 'tan'],
      sex: 'female',
      size: 'small',
      coat: 'long',
      years: 9,
      likes: ['cats'],
      hates: ['children'],
      text: 'Named by a child who wanted a cat.',
    },
  ],
  ['Boots', 'vienna', { sex: 'male', years: 4, text: 'Found at a station. We do not know him well yet.' }],
  [
    'Bella (dog)',
    'cork',
    {
      breed: 'Cocker Spaniel',
      colors: ['golden'],
      sex: 'female',
      size: 'medium',
      coat: 'long',
      years: 5,
      likes: ['children', 'cats'],
      specialNeeds: 'yes',
      text: 'She is deaf and follows hand signs.',
    },
  ],
  [
    'Max',
    'dublin',
    {
      colors: ['brown'],
      sex: 'male',
      size: 'large',
      coat: 'short',
      years: 6,
      hates: ['children', 'cats'],
      text: 'Not good with kids or cats. Best in a home of adults.',
    },
  ],
  [
    'Pudding',
    'galway',
    { breed: 'Shih Tzu', colors: ['white'], sex: 'female', size: 'small', coat: 'long', years: 13, likes: ['cats'], text: 'A lap dog.' },
  ],
  [
    'Duke',
    'newYork',
    {
      breed: 'Great Dane',
      colors: ['blue'],
      sex: 'male',
      size: 'extra_large',
      coat: 'short',
      years: 5,
      likes: ['children', 'dogs'],
      text: 'Thinks that he is small.',
    },
  ],
  ['Snoopy', 'cork', { colors: ['black', 'white'], sex: 'male', months: 2, likes: ['children', 'dogs'], text: 'One of a litter of six.' }],
  [
    'Arrow',
    'reading',
    { breed: 'Whippet', colors: ['brindle'], sex: 'male', size: 'medium', coat: 'short', years: 3.5, hates: ['cats'], likes: ['dogs'] },
  ],
  [
    'Pip',
    'reading',
    { breed: 'Pug', colors: ['fawn'], sex: 'female', size: 'small', coat: 'short', months: 8, likes: ['children', 'cats'] },
  ],
  [
    'Rusty',
    'dublin',
    {
      breed: 'Irish Terrier',
      colors: ['red'],
      sex: 'male',
      size: 'medium',
      coat: 'wire',
      years: 7,
      likes: ['children'],
      text: 'A stray from Cork. Often taken for a fox, never for a black lab.',
    },
  ],
]);

const cats = all('cat', [
  [
    'Ginger',
    'dublin',
    {
      breed: 'Domestic Shorthair',
      colors: ['black'],
      sex: 'female',
      coat: 'short',
      years: 6,
      likes: ['children'],
      text: 'Named for her temper.',
    },
  ],
  [
    'Marmalade',
    'dublin',
    {
      breed: 'Domestic Shorthair',
      colors: ['ginger'],
      sex: 'male',
      coat: 'short',
      years: 3.5,
      likes: ['children', 'cats'],
      hates: ['dogs'],
    },
  ],
  ['Oscar', 'cork', { breed: 'Domestic Longhair', colors: ['orange'], sex: 'male', coat: 'long', years: 12, likes: ['cats'] }],
  [
    'Pumpkin',
    'galway',
    { breed: 'Domestic Shorthair', colors: ['ginger'], sex: 'male', coat: 'short', months: 4, likes: ['children', 'cats', 'dogs'] },
  ],
  ['Smokey', 'galway', { breed: 'British Shorthair', colors: ['grey'], sex: 'male', coat: 'short', years: 5, likes: ['children'] }],
  [
    'Misty',
    'newYork',
    { breed: 'Domestic Shorthair', colors: ['gray'], sex: 'female', coat: 'short', years: 2, hates: ['children'], tags: ['shy'] },
  ],
  [
    'Salem',
    'dublin',
    {
      breed: 'Domestic Shorthair',
      colors: ['black'],
      sex: 'male',
      coat: 'short',
      years: 4,
      likes: ['children', 'dogs'],
      text: 'Follows the dog of his foster home everywhere.',
    },
  ],
  ['Jinx', 'cork', { breed: 'Domestic Shorthair', colors: ['black'], sex: 'female', coat: 'short', months: 5, likes: ['cats'] }],
  [
    'Felix',
    'dublin',
    {
      breed: 'Domestic Shorthair',
      colors: ['black', 'white'],
      sex: 'male',
      coat: 'short',
      years: 7,
      hates: ['cats'],
      text: 'Must be the only animal at home.',
    },
  ],
  [
    'Snowball',
    'paris',
    { breed: 'Persian', colors: ['white'], sex: 'female', coat: 'long', years: 9, specialNeeds: 'yes', text: 'Deaf, and loud.' },
  ],
  ['Mia', 'vienna', { breed: 'Siamese', colors: ['cream'], sex: 'female', coat: 'short', years: 4, likes: ['cats'] }],
  [
    'Simba',
    'bath',
    { breed: 'Maine Coon', colors: ['brown', 'tabby'], sex: 'male', size: 'large', coat: 'long', years: 3.5, likes: everyone },
  ],
  [
    'Cleo',
    'paris',
    { breed: 'Sphynx', sex: 'female', coat: 'hairless', years: 2, likes: ['children', 'dogs'], text: 'Needs a warm home.' },
  ],
  ['Patch', 'dublin', { breed: 'Domestic Shorthair', colors: ['tortoiseshell'], sex: 'female', coat: 'short', months: 3, likes: ['cats'] }],
  ['Tiger', 'dublin', { breed: 'Domestic Shorthair', colors: ['tabby'], sex: 'male', coat: 'short', months: 4, likes: ['children'] }],
  [
    'Minnie',
    'bath',
    { breed: 'Domestic Shorthair', colors: ['tabby'], sex: 'female', size: 'small', coat: 'short', months: 5, hates: ['dogs'] },
  ],
  [
    'Duchess',
    'cork',
    { breed: 'Domestic Longhair', colors: ['tortoiseshell'], sex: 'female', coat: 'long', years: 16, text: 'A quiet lap cat.' },
  ],
  [
    'Puppy',
    'dublin',
    {
      breed: 'Domestic Shorthair',
      colors: ['white', 'brown'],
      sex: 'male',
      coat: 'short',
      years: 6,
      likes: ['dogs'],
      text: 'Fetches balls, hence his name.',
    },
  ],
  ['Rani', 'reading', { breed: 'Bengal', colors: ['brown'], sex: 'female', coat: 'short', years: 2, likes: ['dogs'], hates: ['cats'] }],
  [
    'Cloud',
    'newYork',
    { breed: 'Ragdoll', colors: ['cream'], sex: 'male', coat: 'long', years: 5, likes: ['children'], text: 'Very fluffy.' },
  ],
  ['Whiskers', 'vienna'],
  [
    'Luna (cat)',
    'vienna',
    { breed: 'Domestic Shorthair', colors: ['black'], sex: 'female', coat: 'short', years: 1.5, likes: ['cats'], text: 'Shy at first.' },
  ],
  [
    'Bella (cat)',
    'dublin',
    { breed: 'Domestic Shorthair', colors: ['tabby'], sex: 'female', coat: 'short', years: 9, hates: ['children'] },
  ],
  ['Angus', 'galway', { breed: 'Scottish Fold', colors: ['grey'], sex: 'male', coat: 'short', years: 3.5, likes: ['children'] }],
  [
    'Nera',
    'vienna',
    {
      breed: 'Domestic Shorthair',
      colors: ['black'],
      sex: 'female',
      coat: 'short',
      years: 11,
      text: 'Shy. Hides under the bed when a dog barks.',
    },
  ],
  [
    'Tom',
    'galway',
    { colors: ['tabby', 'white'], sex: 'male', coat: 'short', years: 5, hates: ['children'], text: 'A barn cat, better than any terrier.' },
  ],
  [
    'Paws',
    'newYork',
    {
      breed: 'Domestic Shorthair',
      colors: ['white'],
      sex: 'male',
      coat: 'short',
      years: 4,
      specialNeeds: 'yes',
      text: 'An indoor cat, FIV positive.',
    },
  ],
  [
    'Romeo',
    'reading',
    {
      breed: 'Domestic Shorthair',
      colors: ['ginger', 'white'],
      sex: 'male',
      coat: 'short',
      years: 5,
      likes: ['cats', 'children'],
      tags: ['bonded pair'],
      text: 'Only together with Juliet.',
    },
  ],
  [
    'Juliet',
    'reading',
    {
      breed: 'Domestic Shorthair',
      colors: ['white'],
      sex: 'female',
      coat: 'short',
      years: 5,
      likes: ['cats', 'children'],
      tags: ['bonded pair'],
      text: 'Only together with Romeo.',
    },
  ],
  [
    'Hazel',
    'newYork',
    { breed: 'Domestic Shorthair', colors: ['brown', 'tabby'], sex: 'female', coat: 'short', months: 2, likes: ['cats', 'dogs'] },
  ],
]);

const rabbits = all('rabbit', [
  ['Thumper', 'dublin', { breed: 'Rex', colors: ['brown'], sex: 'male', coat: 'short', years: 2, likes: ['children'] }],
  ['Snowdrop', 'cork', { breed: 'New Zealand White', colors: ['white'], sex: 'female', coat: 'short', years: 1.5 }],
  ['Clover', 'galway', { breed: 'Mini Lop', colors: ['grey'], sex: 'female', size: 'small', months: 5, likes: ['children'] }],
  ['Hopscotch', 'bath', { breed: 'Lionhead', colors: ['brown'], sex: 'male', coat: 'long', years: 4 }],
  [
    'Oreo',
    'newYork',
    { breed: 'Dutch', colors: ['black', 'white'], sex: 'male', years: 3.5, text: 'Lives indoors and uses a litter tray like a cat.' },
  ],
  [
    'Hercules',
    'dublin',
    { breed: 'Flemish Giant', colors: ['grey'], sex: 'male', size: 'large', years: 6, text: 'As heavy as a small dog.' },
  ],
  ['Willow', 'dublin', { breed: 'Holland Lop', colors: ['white'], sex: 'female', size: 'small', months: 3, likes: ['children'] }],
]);

const birds = all('bird', [
  ['Kiwi', 'dublin', { breed: 'Budgerigar', colors: ['green'], sex: 'male', years: 2, text: 'A tame budgie.' }],
  ['Sky', 'cork', { breed: 'Budgerigar', colors: ['blue'], sex: 'female', years: 1.5 }],
  ['Rio', 'newYork', { breed: 'African Grey Parrot', colors: ['grey'], sex: 'male', years: 15, text: 'Talks, and barks like a dog.' }],
  [
    'Captain',
    'paris',
    { breed: 'Green-winged Macaw', colors: ['red'], sex: 'male', years: 20, text: 'A large parrot for somebody with experience.' },
  ],
  ['Mango', 'vienna', { breed: 'Cockatiel', colors: ['yellow'], sex: 'female', years: 4 }],
  ['Beep', 'galway', { breed: 'Canary', colors: ['yellow'], sex: 'male', years: 2 }],
]);

const smallAnimals = all('smallAnimal', [
  ['Nibbles', 'dublin', { breed: 'Guinea Pig', colors: ['brown', 'white'], sex: 'male', years: 1.5, likes: ['children'] }],
  ['Squeak', 'cork', { breed: 'Guinea Pig', colors: ['black'], sex: 'female', months: 4 }],
  ['Hammy', 'dublin', { breed: 'Syrian Hamster', colors: ['golden'], sex: 'female', months: 8 }],
  ['Chip', 'newYork', { breed: 'Dwarf Hamster', colors: ['grey'], sex: 'male', months: 10, hates: ['children'] }],
  ['Remy', 'paris', { breed: 'Rat', colors: ['grey'], sex: 'male', years: 1.2, text: 'Clever, and tame like a puppy.' }],
  ['Ziggy', 'bath', { breed: 'Ferret', colors: ['brown'], sex: 'male', years: 3.5 }],
  ['Dusty', 'galway', { breed: 'Chinchilla', colors: ['grey'], sex: 'female', years: 5 }],
  ['Jerry', 'reading', { breed: 'Gerbil', colors: ['brown'], sex: 'male', years: 1.5 }],
]);

const reptiles = all('reptile', [
  ['Spike', 'newYork', { breed: 'Bearded Dragon', colors: ['yellow'], sex: 'male', years: 3.5, likes: ['children'] }],
  ['Monty', 'dublin', { breed: 'Royal Python', colors: ['brown'], sex: 'male', years: 4, text: 'A calm snake.' }],
  ['Shelly', 'vienna', { breed: 'Hermann’s Tortoise', colors: ['brown'], sex: 'female', years: 40 }],
  ['Freckle', 'cork', { breed: 'Leopard Gecko', colors: ['yellow'], sex: 'female', years: 2 }],
  ['Leonardo', 'bath', { breed: 'Red-eared Slider', colors: ['green'], sex: 'male', years: 6, text: 'A turtle with a tank of his own.' }],
]);

const horses = all('horse', [
  ['Star', 'galway', { breed: 'Connemara Pony', colors: ['grey'], sex: 'female', years: 9, likes: ['children'] }],
  ['Thunder', 'cork', { breed: 'Thoroughbred', colors: ['bay'], sex: 'male', years: 6, text: 'A retired racehorse.' }],
  ['Sprout', 'galway', { breed: 'Irish Cob', colors: ['black', 'white'], sex: 'male', months: 6 }],
  ['Buttercup', 'bath', { breed: 'Shetland Pony', colors: ['chestnut'], sex: 'female', size: 'small', years: 14, likes: ['children'] }],
  ['Jack', 'cork', { breed: 'Donkey', colors: ['grey'], sex: 'male', years: 10, likes: ['children', 'dogs'] }],
]);

const others = [
  ...all('farmAnimal', [
    ['Henrietta', 'dublin', { breed: 'Rhode Island Red', colors: ['red'], sex: 'female', years: 2, text: 'A hen who lays every day.' }],
    ['Billy', 'bath', { breed: 'Pygmy Goat', colors: ['black', 'white'], sex: 'male', years: 4 }],
    ['Wilbur', 'galway', { breed: 'Pot-bellied Pig', colors: ['pink', 'black'], sex: 'male', years: 3.5 }],
  ]),
  ...all('fish', [['Bubbles', 'dublin', { breed: 'Goldfish', colors: ['gold'], years: 2, text: 'Not to be kept where a cat can reach.' }]]),
];

export const animals: readonly Animal[] = [...dogs, ...cats, ...rabbits, ...birds, ...smallAnimals, ...reptiles, ...horses, ...others];
