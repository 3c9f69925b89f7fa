import { breedSpellings, colorSpellings, type Spellings } from '../../domain/label-spellings.ts';
import type { PetStatus } from '../../domain/pet-statuses.ts';
import type { AgeBand, Companion, coats, knownSexes, Size } from '../../domain/profile-fields.ts';

/** What a phrase of a search means, as filters. Empty: nothing that is searched for. */
export interface Meaning {
  /** The kind of animal: the filter is the category of the store that is named for it. */
  readonly species?: string;
  readonly status?: PetStatus;
  readonly breed?: string;
  readonly color?: readonly string[];
  readonly age?: AgeBand;
  readonly ageMonthsMin?: number;
  readonly ageMonthsMax?: number;
  readonly sex?: (typeof knownSexes)[number];
  readonly size?: Size;
  readonly sizeMin?: Size;
  readonly sizeMax?: Size;
  readonly coat?: (typeof coats)[number];
  readonly goodWith?: readonly Companion[];
}

/** A column for each language. As `folded` writes them, and in the singular: a plural with -s, -es or -ies is the same. */
interface Phrases {
  readonly means: Meaning;
  readonly en: readonly string[];
}

const animal = (species: string, en: readonly string[], more: Omit<Meaning, 'species'> = {}): Phrases => ({
  means: { species, ...more },
  en,
});

const named = (spellings: Spellings, meaningOf: (name: string) => Meaning): Phrases[] =>
  Object.entries(spellings).map(([name, others]) => ({ means: meaningOf(name), en: [name, ...others] }));

/** The phrases that are filters. Of two that begin at the same word the longer one counts: golden is a color, golden retriever is not. */
export const searchPhrases: readonly Phrases[] = [
  animal('dog', ['dog', 'doggy', 'doggie', 'doggo', 'canine', 'pooch', 'mutt', 'pupper']),
  animal('dog', ['puppy', 'pup', 'puppy dog', 'pup dog'], { age: 'baby' }),
  animal('dog', ['family dog'], { goodWith: ['children'] }),
  animal('dog', ['lapdog', 'lap dog', 'toy dog', 'teacup dog'], { size: 'small' }),
  animal('cat', ['cat', 'kitty', 'kitty cat', 'feline', 'pussycat', 'moggy', 'moggie']),
  animal('cat', ['kitten', 'kitten cat'], { age: 'baby' }),
  animal('cat', ['family cat'], { goodWith: ['children'] }),
  animal('cat', ['tomcat', 'tom cat'], { sex: 'male' }),
  animal('rabbit', ['rabbit', 'bunny', 'bunny rabbit', 'house rabbit']),
  animal('guinea pig', ['guinea pig', 'guineapig', 'cavy', 'guinea']),
  animal('hamster', ['hamster']),
  animal('gerbil', ['gerbil']),
  animal('rat', ['rat']),
  animal('mouse', ['mouse', 'mice']),
  animal('ferret', ['ferret']),
  animal('chinchilla', ['chinchilla']),
  animal('degu', ['degu']),
  animal('hedgehog', ['hedgehog']),
  animal('bird', ['bird', 'birdie']),
  animal('parrot', ['parrot']),
  animal('tortoise', ['tortoise']),
  animal('turtle', ['turtle', 'terrapin']),
  animal('reptile', ['reptile']),
  animal('snake', ['snake']),
  animal('lizard', ['lizard']),
  animal('fish', ['fish']),
  animal('horse', ['horse']),
  animal('horse', ['foal'], { age: 'baby' }),
  animal('horse', ['mare', 'filly'], { sex: 'female' }),
  animal('horse', ['stallion', 'gelding', 'colt'], { sex: 'male' }),
  animal('pony', ['pony']),
  animal('donkey', ['donkey']),
  animal('goat', ['goat']),
  animal('sheep', ['sheep', 'ewe']),
  animal('sheep', ['lamb'], { age: 'baby' }),
  animal('pig', ['pig', 'hog']),
  animal('pig', ['piglet'], { age: 'baby' }),
  animal('cow', ['cow', 'cattle']),
  animal('alpaca', ['alpaca']),
  animal('chicken', ['chicken']),
  animal('chicken', ['chick'], { age: 'baby' }),
  animal('chicken', ['hen'], { sex: 'female' }),
  animal('chicken', ['rooster', 'cockerel'], { sex: 'male' }),
  animal('duck', ['duck']),
  animal('goose', ['goose', 'geese']),

  { means: { status: 'available' }, en: ['available', 'available now'] },

  { means: { age: 'baby' }, en: ['baby', 'newborn', 'new born', 'infant', 'very young', 'under one year', 'less than a year old'] },
  { means: { age: 'young' }, en: ['young', 'younger', 'junior', 'adolescent', 'teenage', 'teenager', 'juvenile', 'youngster'] },
  { means: { age: 'adult' }, en: ['adult', 'fully grown', 'full grown', 'grown up', 'middle aged', 'mature'] },
  {
    means: { age: 'senior' },
    en: ['senior', 'elderly', 'old', 'older', 'oldie', 'golden oldie', 'geriatric', 'veteran', 'pensioner', 'old age', 'very old'],
  },

  { means: { sex: 'male' }, en: ['male', 'boy'] },
  { means: { sex: 'female' }, en: ['female', 'girl'] },

  {
    means: { size: 'small' },
    en: ['small', 'little', 'tiny', 'very small', 'small sized', 'small size', 'smaller', 'small breed', 'toy breed', 'pocket sized'],
  },
  {
    means: { size: 'medium' },
    en: ['medium', 'medium sized', 'medium size', 'mid sized', 'mid size', 'midsize', 'midsized', 'average sized', 'medium breed'],
  },
  // Who looks for a big dog is glad of a very big one.
  {
    means: { sizeMin: 'large' },
    en: [
      ...['large', 'big', 'large sized', 'large size', 'larger', 'bigger', 'large breed', 'big breed'],
      ...sizePairs(['large', 'big'], ['extra large', 'very large', 'very big', 'giant', 'huge']),
    ],
  },
  {
    means: { sizeMax: 'medium' },
    en: [
      ...['not', 'nothing', 'none'].flatMap((no) =>
        ['', ' too', ' very', ' so', ' that'].flatMap((very) => [`${no}${very} big`, `${no}${very} large`]),
      ),
      ...['no bigger than', 'no larger than', 'not bigger than', 'not larger than', 'up to', 'at most'].map((lead) => `${lead} medium`),
      ...['medium or smaller', 'smaller than large', ...sizePairs(['small', 'little'], ['medium', 'medium sized'])],
    ],
  },
  {
    means: { sizeMin: 'medium' },
    en: ['medium or larger', 'medium or bigger', 'medium and larger', 'at least medium', 'not smaller than medium'],
  },
  { means: { sizeMin: 'medium', sizeMax: 'large' }, en: sizePairs(['medium', 'medium sized'], ['large', 'big']) },
  {
    means: { size: 'extra_large' },
    en: ['extra large', 'extra big', 'xl', 'giant', 'huge', 'enormous', 'very large', 'very big', 'giant breed', 'giant sized'],
  },

  { means: { coat: 'hairless' }, en: ['hairless', 'bald', 'without hair', 'no hair'] },
  { means: { coat: 'short' }, en: coatPhrases('short', 'smooth') },
  { means: { coat: 'medium' }, en: coatPhrases('medium', 'medium length', 'mid length', 'semi long') },
  { means: { coat: 'long' }, en: coatPhrases('long') },
  { means: { coat: 'wire' }, en: [...coatPhrases('wire', 'wiry', 'rough'), 'wiry'] },
  { means: { coat: 'curly' }, en: [...coatPhrases('curly'), 'curly'] },

  { means: { goodWith: ['children'] }, en: ['kid', 'children', 'toddler', 'family pet', 'family friendly'] },

  ...named(breedSpellings, (breed) => ({ breed })),
  ...named(colorSpellings, (color) => ({ color: [color] })),

  // What says nothing of an animal is left out.
  { means: {}, en: wantedPhrases() },
  {
    means: {},
    en: [
      ...['pet', 'animal', 'rescue', 'rescued', 'rescue pet', 'rescue animal', 'shelter', 'shelter animal', 'adoption', 'for adoption'],
      ...['adoptable', 'up for adoption', 'rehome', 'to rehome', 'rehoming', 'for rehoming', 'for sale', 'to buy', 'please', 'pls', 'plz'],
      ...[
        'thanks',
        'thank you',
        'hello',
        'hi',
        'home',
        'a home',
        'for a home',
        'for home',
        'in a home',
        'in need of a home',
        'needs a home',
      ],
      ...['needing a home', 'looking for a home', 'looking for a new home', 'looking for home', 'to a good home', 'free to good home'],
    ],
  },
  // Not known here: a site asks where the visitor is, and sends `near`.
  {
    means: {},
    en: [
      ...['near me', 'near us', 'near here', 'nearby', 'near by', 'close to me', 'close to us', 'close by', 'around me', 'around here'],
      ...['in my area', 'my area', 'local', 'locally', 'near my home', 'near my location'],
    ],
  },
];

function wantedPhrases(): string[] {
  const wanted = [
    ...['looking for', 'i am looking for', 'i m looking for', 'im looking for', 'we are looking for', 'we re looking for', 'searching for'],
    ...['in search of', 'looking to adopt', 'want', 'i want', 'we want', 'want to adopt', 'i want to adopt', 'wanted', 'i need', 'we need'],
    ...['i would like', 'i d like', 'we d like', 'would like', 'i would like to adopt', 'i d like to adopt', 'i would love', 'i d love'],
    ...[
      'hoping to adopt',
      'interested in',
      'interested in adopting',
      'thinking of adopting',
      'adopting',
      'adopt',
      'to adopt',
      'can i adopt',
    ],
    ...['where can i adopt', 'how to adopt', 'do you have', 'have you got', 'show me', 'find me', 'find', 'give me', 'buy'],
  ];
  return wanted.flatMap((lead) => ['', ' a', ' an', ' some', ' any', ' the'].map((article) => `${lead}${article}`));
}

function coatPhrases(...lengths: readonly string[]): string[] {
  return lengths.flatMap((length) =>
    ['hair', 'haired', 'coat', 'coated', 'fur', 'furred', 'furry'].flatMap((what) => [`${length} ${what}`, `${length}${what}`]),
  );
}

/** "small to medium". */
function sizePairs(from: readonly string[], to: readonly string[]): string[] {
  return from.flatMap((one) => to.flatMap((other) => [' to ', ' or ', ' and ', ' '].map((joint) => `${one}${joint}${other}`)));
}

/** Phrases that look as if others were in them, and are searched as words. */
export const plainPhrases: readonly string[] = [
  // Who looks for an animal, not what it is.
  ...['for senior', 'for a senior', 'for elderly', 'for the elderly', 'for pensioner', 'for older people', 'for adult', 'for beginner'],
  ...[
    'young at heart',
    'old soul',
    'search and rescue',
    'big heart',
    'big hearted',
    'big personality',
    'little bit',
    'big time',
    'black market',
    'small talk',
  ],
  ...Object.entries(colorSpellings)
    .flatMap(([name, others]) => [name, ...others])
    .concat('green', 'hazel', 'amber')
    .flatMap((color) => [`${color} eye`, `${color} eyed`]),
];

/** Whom an animal gets along with. */
export const companionNouns: Readonly<Record<Companion, readonly string[]>> = {
  children: ['child', 'children', 'kid', 'toddler', 'baby', 'family', 'teenager', 'teen', 'grandchild', 'grandchildren'],
  dogs: ['dog', 'canine'],
  cats: ['cat', 'feline'],
};

/** Before one or several companions. After `for` only children are such: a search for dogs may say so too. */
export const companionLeads: readonly string[] = [
  // These sound negated, and are not.
  ...['no problem with', 'no problems with', 'no issue with', 'no issues with', 'no trouble with', 'no fear of', 'not scared of'],
  ...['not afraid of', 'not reactive to', 'not reactive with', 'not aggressive to', 'not aggressive with', 'not bothered by'],
  ...['good with', 'great with', 'best with', 'ok with', 'okay with', 'fine with', 'safe with', 'friendly with', 'friendly to'],
  ...['friendly towards', 'gentle with', 'sweet with', 'nice to', 'nice with', 'gets along with', 'get along with', 'gets on with'],
  ...['get on with', 'gets on well with', 'gets along well with', 'lives with', 'live with', 'can live with', 'living with', 'lived with'],
  ...[
    'used to',
    'suitable for',
    'good for',
    'good around',
    'safe around',
    'great for',
    'compatible with',
    'sociable with',
    'likes',
    'loves',
  ],
  ...['tolerates', 'tolerant of', 'tested with', 'comfortable with', 'calm around', 'can be with', 'raised with', 'ideal for', 'with'],
];
export const childrenLead = 'for';

/** Between a lead and a companion. */
export const companionAdjectives: readonly string[] = [
  ...['other', 'small', 'young', 'little', 'older', 'big', 'large', 'all', 'my', 'our', 'your', 'the', 'a', 'an', 'his', 'her', 'resident'],
  ...['most', 'male', 'female', 'school', 'age', 'aged'],
];

/** After companions: what they say is that the animal gets along with them. */
export const companionEnds: readonly string[] = ['friendly', 'safe', 'tested', 'tolerant', 'loving', 'proof'];
/** After companions: what they say is that it does not. */
export const companionFaults: readonly string[] = ['free', 'reactive', 'aggressive', 'chaser', 'averse', 'less'];
/** After a negation that is joined with "and", these begin what is not negated. */
export const positiveLeads: readonly string[] = [
  'good',
  'great',
  'best',
  'ok',
  'okay',
  'fine',
  'safe',
  'friendly',
  'loves',
  'likes',
  'gets',
  'lives',
];

export const joints: readonly string[] = ['and', 'or', 'n', 'plus', 'nor'];

/** What follows is left out: "no cats". */
export const negatingNouns: readonly string[] = ['no', 'without', 'non', 'nor', 'neither', 'nothing'];
/** The same, and never whom it lives with: "instead of cats". */
export const kindNegations: readonly string[] = [
  ...['except', 'excluding', 'minus', 'anything but', 'instead of', 'other than', 'rather than', 'away from', 'allergic to'],
];
/** It does not get along with whom follows. */
export const companyNegations: readonly string[] = [
  ...['hates', 'hate', 'dislikes', 'dislike', 'bad with', 'bad for', 'bad around', 'scared of', 'afraid of', 'fearful of', 'nervous of'],
  ...['nervous around', 'nervous with', 'chases', 'reactive to', 'reactive with', 'reactive around', 'aggressive to', 'aggressive with'],
  ...['aggressive towards', 'aggressive', 'unsuitable for', 'unfriendly with', 'unfriendly to', 'wary of', 'unsafe with', 'shy with'],
  ...['shy of', 'shy around', 'unsure of', 'unsure around', 'unsure with', 'struggles with', 'fights with'],
];
/** What follows is left out if it is a phrase: "not small", "isn't good with cats". */
export const negatingVerbs: readonly string[] = [
  ...['not', 'never', 'isn t', 'isnt', 'doesn t', 'doesnt', 'don t', 'dont', 'can t', 'cant', 'cannot', 'won t', 'wont', 'aren t', 'arent'],
  ...['wasn t', 'wasnt', 'shouldn t', 'shouldnt', 'couldn t', 'couldnt', 'must not', 'didn t', 'didnt', 'hasn t', 'haven t'],
];
/** Between these and whom it does not get along with. Another word may say the opposite: "not bothered by cats". */
export const companyVerbs: readonly string[] = [
  ...[
    'suitable',
    'recommended',
    'good',
    'great',
    'ok',
    'okay',
    'fine',
    'safe',
    'friendly',
    'happy',
    'compatible',
    'able',
    'allowed',
    'for',
  ],
  ...['to', 'be', 'live', 'living', 'with', 'around', 'like', 'likes', 'love', 'get', 'gets', 'along', 'on', 'well', 'home', 'homes', 'in'],
  ...['tolerate', 'want', 'do', 'does', 'keen', 'ideal', 'rehomed', 'placed', 'households', 'houses', 'house', 'go', 'other', 'at', 'all'],
];
/** Between a negation and what it negates. */
export const intensifiers: readonly string[] = [
  'a',
  'an',
  'any',
  'the',
  'too',
  'very',
  'really',
  'so',
  'that',
  'just',
  'only',
  'my',
  'our',
];
/** As a word it is found directly before what it negates alone. */
export const phrasesJoinedByNegation: readonly string[] = [
  'no',
  'not',
  'never',
  'without',
  't',
  'isnt',
  'doesnt',
  'dont',
  'cant',
  'wont',
  'cannot',
];

/** Words that say nothing of their own beside a phrase. */
export const connectingWords: readonly string[] = [
  ...[
    'a',
    'an',
    'the',
    'and',
    'or',
    'with',
    'for',
    'of',
    'to',
    'in',
    'at',
    'is',
    'are',
    'be',
    'that',
    'who',
    'which',
    'it',
    'i',
    'me',
    'my',
  ],
  ...[
    'our',
    'we',
    'some',
    'any',
    'one',
    'has',
    'have',
    'n',
    'plus',
    'very',
    'coloured',
    'colored',
    'color',
    'colour',
    'sized',
    'size',
    'breed',
  ],
  ...['coat', 'hair', 'haired', 'aged', 'age', 'year', 'get', 'but', 'only'],
];

/** After a breed: many animals of a breed are mixes, and are found too. */
export const mixWords: readonly string[] = ['mix', 'mixed', 'cross', 'crossbreed', 'crossbred', 'crosses', 'mixes', 'x', 'type'];

/** Before a town or a postcode. */
export const placeLeads: readonly string[] = ['in', 'near', 'around', 'from', 'close to', 'at'];

/** Units of an age. */
export const ageUnits = {
  year: { months: 12, en: ['year', 'yr', 'yo', 'y'] },
  month: { months: 1, en: ['month', 'mo', 'mth'] },
  week: { months: 12 / 52, en: ['week', 'wk'] },
  day: { months: 12 / 365, en: ['day'] },
} as const satisfies Readonly<Record<string, { readonly months: number; readonly en: readonly string[] }>>;
export const numberWords: readonly string[] = [
  ...['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve', 'thirteen', 'fourteen'],
];
/** Before an age that is a bound. */
export const ageBounds: Readonly<Record<'below' | 'atMost' | 'atLeast', readonly string[]>> = {
  below: ['under', 'below', 'less than', 'younger than', 'age under', 'aged under'],
  atMost: [
    ...['up to', 'at most', 'max', 'maximum', 'no older than', 'not older than', 'no more than', 'not more than', 'not over', 'not above'],
  ],
  atLeast: [
    ...['over', 'above', 'more than', 'older than', 'age over', 'aged over', 'at least', 'min', 'minimum', 'no younger than'],
    ...['not younger than', 'no less than', 'not less than', 'not under', 'not below'],
  ],
};
/** After one. */
export const ageBoundEnds: Readonly<Record<'atMost' | 'atLeast', readonly string[]>> = {
  atMost: ['or younger', 'or under', 'or less', 'and younger', 'and under', 'max', 'maximum'],
  atLeast: ['plus', 'or older', 'or over', 'or more', 'and older', 'and over', 'and up', 'and above', 'upwards'],
};
/** Of these no age begins after the word. */
export const otherAgeBounds: readonly string[] = ['than', 'least', 'most', 'to'];
/** Before an age without a unit. */
export const ageLeads: readonly string[] = ['aged', 'age', 'ages'];
/** Between the ages of a range. */
export const rangeJoints: readonly string[] = ['to', 'and', 'or', 'until'];
/** A number before one of these is no age. */
export const otherUnits: readonly string[] = [
  ...['kg', 'kilo', 'kilogram', 'g', 'gram', 'lb', 'pound', 'stone', 'st', 'ounce', 'oz', 'km', 'kilometre', 'kilometer', 'mile', 'm'],
  ...['metre', 'meter', 'cm', 'inch', 'inches', 'foot', 'feet', 'ft', 'hand', 'hh', 'hour', 'hr', 'minute', 'min', 'walk', 'euro'],
  ...['dollar', 'usd', 'eur', 'quid', 'percent', 'am', 'pm', 'bed', 'room', 'hundred', 'thousand', 'other', 'animal', 'pet', 'dog', 'cat'],
  ...['kid', 'child', 'children'],
];
/** Before the name of an animal. */
export const nameLeads: readonly string[] = ['named', 'called'];
