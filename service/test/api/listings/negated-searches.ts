// Searches that say what is not meant, written before the code that reads them. Nobody types these to see what they rule out.

interface Animal {
  readonly key: string;
  readonly categoryId: 1 | 2 | 3;
  readonly profile: Readonly<Record<string, unknown>>;
}

const [dog, cat, rabbit] = [1, 2, 3] as const;
const yes = (...who: readonly string[]) => Object.fromEntries(who.map((one) => [`good_with_${one}`, 'yes']));
const no = (...who: readonly string[]) => Object.fromEntries(who.map((one) => [`good_with_${one}`, 'no']));
const born = (years: number) => `${new Date().getUTCFullYear() - years}-01-01`;

/** The texts have the words of the searches, so that whoever searches for these alone finds the opposite. */
export const negatedAnimals: readonly Animal[] = [
  {
    key: 'Angel',
    categoryId: dog,
    profile: {
      ...yes('cats', 'dogs', 'children'),
      size: 'small',
      birth_date: born(5),
      colors: ['black'],
      breed_primary: 'Border Terrier',
      description: 'No problem with cats, not shy, good with kids, no fear of dogs. Without children she is bored.',
    },
  },
  {
    key: 'Brutus',
    categoryId: dog,
    profile: {
      ...no('cats', 'dogs', 'children'),
      size: 'large',
      birth_date: born(5),
      colors: ['brown'],
      breed_primary: 'Boxer',
      description: 'Needs a home with no cats, no kids and no other dogs. He does not bark.',
    },
  },
  {
    key: 'Cloud',
    categoryId: dog,
    profile: {
      size: 'medium',
      colors: ['white'],
      breed_primary: 'Samoyed',
      birth_date: born(4),
      description: 'Barks at night. Not quiet.',
    },
  },
  {
    key: 'Dot',
    categoryId: dog,
    profile: {
      size: 'small',
      birth_date: new Date().toISOString().slice(0, 10),
      colors: ['black'],
      description: 'A puppy that is not grown up yet.',
    },
  },
  {
    key: 'Elsa',
    categoryId: cat,
    profile: {
      ...yes('children', 'cats'),
      birth_date: born(10),
      colors: ['black'],
      sex: 'female',
      description: 'No dogs please, not a lap cat.',
    },
  },
  {
    key: 'Fritz',
    categoryId: cat,
    profile: {
      ...yes('dogs'),
      ...no('children', 'cats'),
      birth_date: born(5),
      colors: ['white'],
      sex: 'male',
      description: 'Not for kids. A shy one.',
    },
  },
  { key: 'Gus', categoryId: rabbit, profile: { colors: ['grey'], description: 'Lives with cats, without trouble. No children so far.' } },
];

interface NegatedSearch {
  readonly typed: string;
  readonly finds: readonly string[];
  readonly never: readonly string[];
}
const search = (typed: string, finds: readonly string[], never: readonly string[]): NegatedSearch => ({ typed, finds, never });

export const negatedSearches: readonly NegatedSearch[] = [
  // Alone, a kind that is not wanted. Beside another kind, a home without it.
  search('no cats', ['Angel', 'Brutus', 'Gus'], ['Elsa', 'Fritz']),
  search('no dogs', ['Elsa', 'Fritz', 'Gus'], ['Angel', 'Brutus', 'Cloud', 'Dot']),
  search('not a dog', ['Elsa', 'Fritz', 'Gus'], ['Angel', 'Brutus', 'Cloud', 'Dot']),
  search('anything but cats', ['Angel', 'Cloud', 'Gus'], ['Elsa', 'Fritz']),
  search('dog no cats', ['Brutus', 'Cloud', 'Dot'], ['Angel', 'Elsa', 'Fritz', 'Gus']),
  search('cat without dogs', ['Elsa'], ['Fritz', 'Angel', 'Brutus', 'Gus']),
  search('dog, no cats or kids', ['Brutus', 'Cloud'], ['Angel', 'Elsa']),
  search('cat no other cats', ['Fritz'], ['Elsa', 'Angel']),

  // Whom it does not get along with.
  search('not good with kids', ['Brutus', 'Fritz'], ['Angel', 'Elsa']),
  search('dogs not good with cats', ['Brutus'], ['Angel', 'Elsa', 'Fritz', 'Gus']),
  search('without children', ['Brutus', 'Fritz'], ['Angel', 'Elsa']),
  search('no kids', ['Brutus', 'Fritz'], ['Angel', 'Elsa']),
  search('dog for home without children', ['Brutus'], ['Angel', 'Elsa', 'Fritz']),
  search("dog that doesn't like cats", ['Brutus'], ['Angel', 'Elsa', 'Fritz']),
  search("can't live with dogs", ['Brutus', 'Elsa'], ['Angel', 'Fritz']),
  search('dog reactive', ['Brutus'], ['Angel', 'Fritz']),
  search('cat free home', ['Brutus'], ['Angel', 'Elsa']),
  search('dog hates cats', ['Brutus'], ['Angel', 'Elsa', 'Fritz']),
  search('not dog friendly', ['Brutus', 'Elsa'], ['Angel', 'Fritz']),
  search('not good with cats but good with kids', [], ['Angel', 'Brutus', 'Fritz', 'Elsa']),
  search('not suitable for families with young children', ['Brutus'], ['Angel', 'Elsa']),

  // What it is not.
  search('dog not too big', ['Angel', 'Cloud', 'Dot'], ['Brutus', 'Elsa']),
  search('no big dogs', ['Angel', 'Cloud', 'Dot', 'Elsa'], ['Brutus']),
  search('dog not small', ['Brutus', 'Cloud'], ['Angel', 'Dot', 'Elsa']),
  search('not small dog', ['Brutus', 'Cloud'], ['Angel', 'Dot', 'Elsa']),
  search('cat not black', ['Fritz'], ['Elsa', 'Angel', 'Brutus']),
  search('dog no puppies', ['Angel', 'Brutus', 'Cloud'], ['Dot', 'Elsa']),
  search('dogs no terriers', ['Brutus', 'Cloud', 'Dot'], ['Angel', 'Elsa']),
  search('not female', ['Fritz', 'Gus', 'Angel'], ['Elsa']),
  search('no black cats', ['Angel', 'Fritz', 'Gus'], ['Elsa']),

  // Words that are no filter, and what sounds negated and is not.
  search('dog that does not bark', ['Brutus'], ['Cloud', 'Elsa']),
  search('not shy', ['Angel'], ['Fritz']),
  search('no problem with cats', ['Angel'], ['Brutus', 'Fritz']),
  search('small dog not small', [], ['Brutus', 'Cloud']),
];
