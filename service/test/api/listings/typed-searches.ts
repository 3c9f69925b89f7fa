// What people type into the search box of an adoption site, and what they would be glad or annoyed to see. Judged by reading, before there
// was code that interprets words. When a search fails, mend the code: a search is changed only where a visitor would judge otherwise.

import type { Companion } from '../../../src/domain/profile-fields.ts';
import { type Animal, animals, type Category, type ShelterKey, shelters } from './typed-catalogue.ts';

export interface TypedSearch {
  readonly typed: string;
  /** Filters that the site sends beside the words, as a query. */
  readonly beside: string;
  /** Keys of animals. */
  readonly mustFind: readonly string[];
  /** These contradict what any reader would understand. */
  readonly mustNotFind: readonly string[];
  readonly first: string | undefined;
}

/** Whether what is meant is true of an animal. Undefined: it is not known, or a visitor would not mind either way. */
type Fact = (animal: Animal) => boolean | undefined;

interface Judgement {
  /** In place of all animals of which every fact is true. */
  readonly find?: readonly string[];
  /** In addition to those that contradict a fact. */
  readonly not?: readonly string[];
  /** May be found although it contradicts. Those that have a typed word as their name always may. */
  readonly spare?: readonly string[];
  readonly first?: string;
  readonly beside?: string;
}

const is =
  (category: Category): Fact =>
  (animal) =>
    animal.category === category;
const [dog, cat, rabbit, bird, reptile, horse] = [is('dog'), is('cat'), is('rabbit'), is('bird'), is('reptile'), is('horse')];

const ofMonths =
  (judge: (months: number) => boolean | undefined): Fact =>
  ({ months }) =>
    months === undefined ? undefined : judge(months);
const baby = ofMonths((months) => months < 12);
/** Who looks for a young animal does not mind one that is younger still. */
const young = ofMonths((months) => (months < 12 ? undefined : months < 36));
const adult = ofMonths((months) => (months < 12 ? false : months < 36 || months >= 96 ? undefined : true));
const senior = ofMonths((months) => (months < 60 ? false : months < 96 ? undefined : true));

const choice =
  (field: 'size' | 'sex' | 'coat', wanted: string, indifferent: readonly string[] = []): Fact =>
  ({ profile }) => {
    const value = profile[field];
    if (value === undefined || value === null || indifferent.includes(value)) return undefined;
    return value === wanted;
  };
const small = choice('size', 'small');
const medium = choice('size', 'medium');
const large = choice('size', 'large', ['extra_large']);
const giant = choice('size', 'extra_large', ['large']);
const female = choice('sex', 'female');
const male = choice('sex', 'male');
const longHaired = choice('coat', 'long', ['medium']);
const shortHaired = choice('coat', 'short', ['medium', 'wire', 'curly', 'hairless']);
const hairless = choice('coat', 'hairless');
const wireHaired = choice('coat', 'wire');
const curly = choice('coat', 'curly');

/** Who asks for it wants to know: an animal of which it is not known is as annoying as one that does not. */
const goodWith =
  (companion: Companion): Fact =>
  ({ profile }) =>
    profile.goodWith?.[companion] === 'yes';
const [kids, withDogs, withCats] = [goodWith('children'), goodWith('dogs'), goodWith('cats')];
const notGoodWith =
  (companion: Companion): Fact =>
  ({ profile }) =>
    profile.goodWith?.[companion] === 'yes' ? false : undefined;

const breed =
  (pattern: RegExp): Fact =>
  ({ profile: { breeds } }) => {
    if (!breeds?.primary || pattern.test(breeds.secondary ?? '')) return undefined;
    return pattern.test(breeds.primary);
  };
const lab = breed(/labrador/i);

/** The main color decides, and nobody minds one of the `indifferent`. */
const color =
  (wanted: readonly string[], indifferent: readonly string[] = []): Fact =>
  ({ profile: { colors } }) => {
    const [main] = colors ?? [];
    if (main === undefined) return undefined;
    if (wanted.includes(main)) return true;
    return colors?.some((one) => wanted.includes(one) || indifferent.includes(one)) ? undefined : false;
  };
const [black, white, brown] = [color(['black']), color(['white']), color(['brown'], ['chocolate', 'tan', 'brindle', 'tricolour', 'red'])];
const [grey, ginger] = [color(['grey', 'gray'], ['blue']), color(['ginger', 'orange'])];
/** A pattern, and so a second color as well as the main one. */
const tabby: Fact = ({ profile: { colors } }) => colors?.includes('tabby');
const tortoiseshell = color(['tortoiseshell']);

const inTown =
  (shelter: ShelterKey): Fact =>
  (animal) =>
    animal.shelter === shelter;
const inCountry =
  (country: string): Fact =>
  ({ shelter }) =>
    shelters[shelter].country === country;
const [inDublin, inCork, inVienna, inNewYork] = [inTown('dublin'), inTown('cork'), inTown('vienna'), inTown('newYork')];

type Row = readonly [typed: string, facts: readonly Fact[], judgement?: Judgement];

const rows: readonly Row[] = [
  // Kinds of animals.
  ['dog', [dog]],
  ['dogs', [dog]],
  ['Cats', [cat]],
  ['cats for adoption', [cat]],
  ['adopt a dog', [dog]],
  ['rabbits', [rabbit]],
  ['bunny', [rabbit]],
  ['bunnies', [rabbit]],
  ['rabit', [rabbit]],
  ['birds', [bird]],
  ['horses', [horse]],
  ['reptiles', [reptile]],

  // Ages.
  ['puppy', [dog, baby], { spare: ['Puppy'] }],
  ['puppies', [dog, baby], { spare: ['Puppy'] }],
  ['pupy', [dog, baby], { spare: ['Puppy'] }],
  ['kitten', [cat, baby]],
  ['kittens', [cat, baby], { spare: ['Kitten'] }],
  ['kiten', [cat, baby], { spare: ['Kitten'] }],
  ['female kitten', [cat, baby, female]],
  ['girl kittens', [cat, baby, female], { spare: ['Kitten'] }],
  ['male puppy', [dog, baby, male]],
  ['senior cats', [cat, senior]],
  ['senior dog', [dog, senior]],
  ['old dogs', [dog, senior]],
  ['older cat', [cat, senior]],
  ['elderly cat', [cat, senior]],
  ['young cat', [cat, young]],
  ['young female dog', [dog, young, female]],
  ['adult dog', [dog, adult]],
  ['baby rabbit', [rabbit, baby]],
  ['baby bunnies', [rabbit, baby]],
  ['foal', [horse, baby]],

  // Sizes.
  ['small dog', [dog, small]],
  ['small dogs', [dog, small]],
  ['dog small', [dog, small]],
  ['SMALL DOG', [dog, small]],
  ['little dog', [dog, small]],
  ['tiny dog for flat', [dog, small], { find: ['Poppy', 'Pixie'] }],
  ['large dog', [dog, large]],
  ['big dogs', [dog, large]],
  ['medium dog', [dog, medium]],
  ['medium sized dogs', [dog, medium]],
  ['medium-sized dog', [dog, medium]],
  ['extra large dog', [dog, giant]],
  ['large male dog', [dog, large, male]],
  ['small female dogs', [dog, small, female]],

  // Sexes.
  ['female cat', [cat, female]],
  ['male dogs', [dog, male]],
  ['girl dog', [dog, female]],
  ['boy cat', [cat, male]],
  ['mare', [horse, female]],

  // What they get along with.
  ['good with cats', [withCats]],
  ['good with cats', [dog, withCats], { beside: 'categoryId=1' }],
  ['dogs good with cats', [dog, withCats]],
  ['dog that is good with cats', [dog, withCats]],
  ['cat good with dogs', [cat, withDogs]],
  ['good with kids', [kids]],
  ['dog good with children', [dog, kids]],
  ['kid friendly', [kids]],
  ['kid friendly dogs', [dog, kids]],
  ['child-friendly cat', [cat, kids]],
  ['cat friendly dog', [dog, withCats]],
  ['dog friendly cats', [cat, withDogs]],
  ['good with dogs and cats', [withDogs, withCats]],
  ['dogs good with kids and cats', [dog, kids, withCats]],
  ['small dog good with cats', [dog, small, withCats]],
  ['puppy good with kids', [dog, baby, kids], { spare: ['Puppy'] }],
  ['family dog', [dog, ({ profile }) => (profile.goodWith?.children === 'no' ? false : undefined)], { find: ['Bruno'] }],
  ['not good with kids', [notGoodWith('children')], { find: ['Max', 'Pixie'] }],
  ['dogs not good with cats', [dog, notGoodWith('cats')], { find: [] }],

  // Breeds.
  ['labrador', [lab]],
  ['lab', [lab]],
  ['black lab', [lab, black]],
  ['black labs', [lab, black]],
  ['black lab puppy', [lab, black, baby]],
  ['chocolate lab', [lab, color(['chocolate'], ['brown'])]],
  ['senior labrador', [lab, senior]],
  ['golden retriever', [breed(/golden retriever/i)]],
  ['golden retriever puppies', [breed(/golden retriever/i), baby]],
  ['golden retreiver', [breed(/golden retriever/i)]],
  ['german shepherd', [breed(/german shepherd/i)]],
  ['german shephard', [breed(/german shepherd/i)]],
  ['beagles', [breed(/beagle/i)]],
  ['frenchie', [breed(/french bulldog/i)]],
  ['chihuahua', [breed(/chihuahua/i)]],
  ['chiuaua', [breed(/chihuahua/i)]],
  ['daschund', [breed(/dachshund/i)]],
  ['greyhound good with cats', [breed(/greyhound/i), withCats]],
  ['huskies', [breed(/husky/i)]],
  ['jack russell', [breed(/jack russell/i)]],
  ['terrier', [breed(/terrier/i)]],
  ['collie', [breed(/collie/i)]],
  ['yorkie', [breed(/yorkshire/i)]],
  ['maine coon', [breed(/maine coon/i)]],
  ['siamese cat', [cat, breed(/siamese/i)]],
  ['sphinx cat', [cat, breed(/sphynx/i)]],
  ['guinea pigs', [breed(/guinea pig/i)]],
  ['ginea pig', [breed(/guinea pig/i)]],
  ['hamster', [breed(/hamster/i)]],
  ['budgies', [breed(/budgerigar/i)]],
  ['parrot', [bird], { find: ['Rio', 'Captain'] }],
  ['bearded dragon', [breed(/bearded dragon/i)]],
  ['tortoise', [breed(/tortoise/i)]],
  ['pony', [breed(/pony/i)]],

  // Colors and coats.
  ['black cat', [cat, black]],
  ['male black cat', [cat, black, male]],
  ['white cat', [cat, white]],
  ['ginger cat', [cat, ginger]],
  ['orange cats', [cat, ginger]],
  ['gray cat', [cat, grey]],
  ['black and white cat', [cat, color(['black', 'white'])], { find: ['Felix'] }],
  ['tabby kitten', [cat, baby, tabby]],
  ['tortoiseshell cat', [cat, tortoiseshell]],
  ['brown dog', [dog, brown]],
  ['white rabbit', [rabbit, white]],
  ['long haired cat', [cat, longHaired]],
  ['longhaired cats', [cat, longHaired]],
  ['short haired dogs', [dog, shortHaired]],
  ['hairless cat', [cat, hairless]],
  ['wire haired dog', [dog, wireHaired]],
  ['curly dog', [dog, curly]],

  // Places.
  ['dogs in dublin', [dog, inDublin]],
  ['cats in Cork', [cat, inCork]],
  ['dublin dogs', [dog, inDublin]],
  ['puppies in dublin', [dog, baby, inDublin], { spare: ['Puppy'] }],
  ['cats in new york', [cat, inNewYork]],
  ['black cats in vienna', [cat, black, inVienna]],
  ['dogs in paris', [dog, inTown('paris')]],
  ['dog in reading', [dog, inTown('reading')]],
  ['D08', [inDublin]],
  ['dogs d08', [dog, inDublin]],
  ['cats 10001', [cat, inNewYork]],
  ['horses in ireland', [horse, inCountry('IE')]],

  // Words that are only in what shelters write.
  ['shy cat', [cat], { find: ['Misty', 'Luna (cat)', 'Nera'] }],
  ['shy dog', [dog], { find: ['Peanut', 'Luna (dog)'] }],
  ['lap cat', [cat], { find: ['Duchess'] }],
  ['deaf dog', [dog], { find: ['Bella (dog)'] }],

  // Names.
  ['ginger', [], { find: ['Ginger'], first: 'Ginger' }],
  ['cat named Ginger', [cat], { find: ['Ginger'], first: 'Ginger' }],
  ['bear', [], { find: ['Bear'], first: 'Bear' }],
  ['smokey', [], { find: ['Smokey'], first: 'Smokey' }],
  ['paris', [], { find: ['Paris'], first: 'Paris' }],
  ['biscut', [], { find: ['Biscuit'] }],

  // In quotes: the words, and not what they mean.
  ['"black lab"', [], { find: ['Rusty'], not: ['Bruno', 'Nell', 'Coal'] }],
  ['"puppy"', [], { find: ['Puppy', 'Remy'], not: ['Nell', 'Sunny', 'Honey', 'Heidi', 'Teddy', 'Milo', 'Snoopy', 'Pip'] }],
  ['dogs "young"', [dog], { find: ['Tara'] }],

  // Beside filters, which win.
  ['puppy', [cat], { beside: 'categoryId=2', find: ['Puppy'], first: 'Puppy' }],
  ['kitten', [dog], { beside: 'categoryId=1', find: ['Kitten'], first: 'Kitten' }],
  ['small', [choice('size', 'extra_large')], { beside: 'size=extra_large', find: ['Duke'] }],
  ['dublin', [rabbit, inDublin], { beside: 'categoryId=3' }],
];

export const typedSearches: readonly TypedSearch[] = rows.map(([typed, facts, { find, not = [], spare = [], first, beside = '' } = {}]) => {
  const keysWhere = (matches: (animal: Animal) => boolean) => animals.filter(matches).map(({ key }) => key);
  const contradicts = (animal: Animal) =>
    facts.some((fact) => fact(animal) === false) && !spare.includes(animal.key) && !isNamed(animal, typed);
  return {
    typed,
    beside,
    mustFind: find ?? keysWhere((animal) => facts.every((fact) => fact(animal) === true)),
    mustNotFind: [...keysWhere(contradicts), ...not],
    first,
  };
});

/** Whether a word of the search is a name of the animal: it may then be found by it. */
function isNamed({ name }: Animal, typed: string): boolean {
  const words: readonly string[] = typed.toLowerCase().match(/\p{L}+/gu) ?? [];
  return words.includes(name.toLowerCase());
}
