// The profile of a seeded animal, composed from its id: the same on every machine, except that dates are counted back from today.
import type { ProfileChanges } from '../sdk/src/index.ts';
import { type DevAnimal, mulberry32 } from './dev-animals.ts';
import { breedsLike, type Look, lookOf } from './dev-looks.ts';
import { type Stories, storiesOfCategory, type Temperament, temperaments } from './dev-stories.ts';

type Known = 'yes' | 'no' | 'unknown';
type Companions = Record<'children' | 'dogs' | 'cats', Known>;
type Sex = 'male' | 'female' | 'unknown';

const dayMs = 86_400_000;
/** The first animal came this long ago, the last one yesterday. */
const daysSinceFirst = 420;
const dogs = 1;
const cats = 2;
const fish = 7;
/** The categories whose profiles say who the animal gets along with. */
const sociable = [dogs, cats, 3];
const vaccinatable = [dogs, cats, 3, 8, 9];

const femaleNames = new Set(
  'Luna Bella Daisy Rosie Molly Sadie Lola Maggie Ruby Stella Penny Nala Willow Hazel Pepper Roxy Olive Gracie Honey Juno Ellie Mabel Piper Zoe Cleo Nova Lily Misty Callie Minnie Princess Mittens Phoebe Ginger Kiki Mochi Tabitha Sable Saffron Maple Clover Cinnabun Flopsy Parsley Juniper Dandelion Skye Coco Papaya Dot Truffle Jade Coral Goldie Whisper Magnolia Sierra Henrietta Buttercup Clementine Gertie Duchess Twiggy'.split(
    ' ',
  ),
);

const tagsOf: Readonly<Record<Temperament, readonly string[]>> = {
  gentle: ['gentle', 'affectionate'],
  lively: ['playful', 'energetic'],
  shy: ['shy', 'quiet'],
  clever: ['clever', 'eager to learn'],
  funny: ['funny', 'sociable'],
  calm: ['calm', 'easy-going'],
};
/** What a temperament gets along with: children, dogs, cats. The letters are yes, no, unknown, and maybe: any of them. */
const companionsOf: Readonly<Record<Temperament, string>> = {
  gentle: 'yym',
  lively: 'yyn',
  shy: 'nmm',
  clever: 'ymu',
  funny: 'yym',
  calm: 'ymy',
};

/** `arrival` is the share of the animals that came before this one, from 0 to 1. */
export function devProfile(animal: DevAnimal & { readonly id: number }, arrival: number, today = new Date()): ProfileChanges {
  const { id, name, categoryId } = animal;
  const random = mulberry32(id * 7_919);
  const pick = <T>(from: readonly [T, ...T[]] | readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const look = lookOf(animal);
  const { breed, variety, years } = look;
  const second = breed.canBeMixed && random() < 0.4 ? pick(breedsLike(animal)) : undefined;
  const isSenior = look.age === 'old';
  const temperament = isSenior ? pick(['gentle', 'calm', 'funny', 'shy'] as const) : pick(temperaments);
  const sex: Sex = categoryId === fish ? 'unknown' : femaleNames.has(name) ? 'female' : 'male';
  const goodWith = sociable.includes(categoryId) ? companions(temperament, pick) : undefined;
  const dateBefore = (days: number) => new Date(today.getTime() - days * dayMs).toISOString().slice(0, 10);
  const specialNeeds = isSenior && random() < 0.3;
  return {
    description: [...storyOf(storiesOfCategory[categoryId], temperament, years < 1, pick), goodWith && goodWithText(goodWith)]
      .filter((part) => part !== undefined)
      .map((part) => filledIn(part, name, sex))
      .join('\n\n'),
    breeds: {
      primary: breed.name,
      secondary: second && second.name !== breed.name ? second.name : null,
      mixed: second && second.name !== breed.name ? 'yes' : breed.canBeMixed ? 'unknown' : 'no',
    },
    birthDate: dateBefore(Math.round(years * 365)),
    birthDateIsExact: random() < 0.25,
    sex,
    size: breed.size,
    weightGrams: random() < 0.85 ? rounded(breed.grams * (years < 1 ? 0.5 : 0.85 + random() * 0.3)) : null,
    colors: [...variety.colours],
    coat: breed.coat ?? null,
    ...(goodWith && { goodWith }),
    vaccinated: vaccinatable.includes(categoryId) && random() < 0.9 ? 'yes' : 'unknown',
    spayedNeutered: categoryId <= 3 ? (years < 0.6 ? 'no' : random() < 0.85 ? 'yes' : 'unknown') : 'unknown',
    houseTrained: categoryId <= cats ? (years < 0.5 ? 'no' : random() < 0.8 ? 'yes' : 'unknown') : 'unknown',
    specialNeeds: specialNeeds ? 'yes' : 'no',
    adoptionFee: { amount: isSenior ? breed.feeCents / 2 : breed.feeCents, currency: 'EUR' },
    tags: [...tagsOf[temperament], ...(specialNeeds ? ['special care'] : [])],
    arrivedOn: dateBefore(Math.min(Math.max(1, Math.round((1 - arrival) * daysSinceFirst)), Math.round(years * 365))),
    externalId: `dev-${id}`,
  };
}

/** As scales show it. */
const rounded = (grams: number): number => (grams < 100 ? Math.ceil(grams) : Math.round(grams / 10) * 10);

/** Three paragraphs: where the animal comes from, what it is like, and who should adopt it. */
function storyOf(stories: Stories | undefined, temperament: Temperament, isYoung: boolean, pick: <T>(from: readonly T[]) => T): string[] {
  if (!stories) return [];
  const past = (isYoung && stories.youngPast) || stories.past;
  return [pick(past), `${pick(stories.nature[temperament])} ${pick(stories.habits)}`, pick(stories.home[temperament])];
}

function companions(temperament: Temperament, pick: <T>(from: readonly T[]) => T): Companions {
  const known = { y: 'yes', n: 'no', u: 'unknown' } as const;
  const [children, dogsToo, catsToo] = [...companionsOf[temperament]].map((letter) =>
    letter === 'm' ? pick(['yes', 'yes', 'no', 'unknown'] as const) : known[letter as keyof typeof known],
  );
  return { children: children ?? 'unknown', dogs: dogsToo ?? 'unknown', cats: catsToo ?? 'unknown' };
}

/** What is unknown is said as that. */
function goodWithText(goodWith: Companions): string {
  const those = (known: Known) =>
    Object.entries(goodWith)
      .filter(([, value]) => value === known)
      .map(([who]) => who);
  const or = new Intl.ListFormat('en', { type: 'disjunction' });
  const and = new Intl.ListFormat('en');
  const [likes, dislikes, open] = [those('yes'), those('no'), those('unknown')];
  return [
    likes.length > 0 && `{He} gets along well with ${and.format(likes)}.`,
    dislikes.length > 0 && `A home without ${or.format(dislikes)} would be best.`,
    open.length > 0 && `We have not seen {him} with ${or.format(open)} yet, and will gladly find out.`,
  ]
    .filter((sentence) => sentence !== false)
    .join(' ');
}

const pronouns: Readonly<Record<Sex, Readonly<Record<string, string>>>> = {
  male: { he: 'he', him: 'him', his: 'his', himself: 'himself' },
  female: { he: 'she', him: 'her', his: 'her', himself: 'herself' },
  unknown: { he: 'it', him: 'it', his: 'its', himself: 'itself' },
};

function filledIn(text: string, name: string, sex: Sex): string {
  return text.replaceAll(/\{(\w)(\w+)\}/g, (_, first: string, rest: string) => {
    const token = first.toLowerCase() + rest;
    const word = token === 'name' ? name : (pronouns[sex][token] ?? '');
    return first === first.toUpperCase() ? word.charAt(0).toUpperCase() + word.slice(1) : word;
  });
}

/** How many photos the animal has; a few have none yet. */
export function photoCountOf(id: number): number {
  const share = mulberry32(id * 104_729)();
  return share < 0.06 ? 0 : share < 0.66 ? 1 : share < 0.9 ? 2 : 3;
}

/** What a photo shows, for people who don't see it. */
export function altTextOf(animal: DevAnimal & { readonly id: number }, look: Look, where: string): string {
  const [colour] = look.variety.colours;
  return `${animal.name}, ${colour.toLowerCase()}, ${where}`;
}
