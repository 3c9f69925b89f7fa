// The searches of the benchmark of listings: what sites ask for, and what somebody would ask for who wants them to be slow.
import type { HttpClient } from './http.ts';
import { connectTo } from './postgres.ts';

/** What searches ask for, drawn from the store. */
interface Sample {
  readonly name: string;
  readonly breed: string;
  readonly word: string;
  readonly near: string;
  readonly id: bigint;
}

export interface Samples {
  readonly animals: readonly Sample[];
  /** The words that the most animals have. */
  readonly frequent: readonly [string, string];
  /** A breed that few animals have. */
  readonly rareBreed: string;
}

export interface SearchTarget {
  readonly url: string;
  readonly key: string;
  readonly samples: Samples;
}

/** The query of a search, or the path and the query of another operation below /listings. */
type Queries = Readonly<Record<string, (samples: Samples) => string>>;

const one = ({ animals }: Samples) => drawOne(animals);
const everyCompanion = 'goodWith=cats&goodWith=dogs&goodWith=children';
/** Almost no animal is all of this. */
const almostNone = `status=pending&age=senior&sex=female&size=small&coat=wire&${everyCompanion}`;

export const mixed = {
  text: (samples) => {
    const { name, breed, word } = one(samples);
    return `q=${drawOne([name, breed, word])}`;
  },
  misspelt: (samples) => {
    const { name, breed } = one(samples);
    return `q=${misspell(drawOne([name, breed]))}`;
  },
  'text and filters': (samples) => `q=${one(samples).breed}&status=available&sex=female`,
  near: (samples) => `near=${one(samples).near}&withinKm=${drawOne([20, 100, 500])}&status=available`,
  'near and filters': (samples) => {
    const { near, breed } = one(samples);
    return `near=${near}&status=available&breed=${breed}&goodWith=children`;
  },
  'three filters': () =>
    `status=available&size=${drawOne(['small', 'large'])}&goodWith=cats&age=${drawOne(['baby', 'young', 'adult', 'senior'])}`,
  'rare filters': (samples) => `breed=${one(samples).breed}&size=large&coat=wire&${everyCompanion}`,
  'deep cursor': (samples) => `sex=female&size=small&after=${one(samples).id}`,
} satisfies Queries;

export const worst = {
  'no match': ({ rareBreed }) => `breed=${rareBreed}&categoryId=${drawOne(categories)}&${almostNone}`,
  'few match': () => `categoryId=${drawOne(categories)}&${almostNone}`,
  'a word of most': ({ frequent }) => `q=${frequent[0]}`,
  'a word, relevant, almost none': ({ frequent }) => `q=${drawOne(frequent)}&${almostNone}`,
  'two words of many': ({ frequent }) => `q=${frequent.join('+')}&sort=newest`,
  'a word, almost none': ({ frequent }) => `q=${frequent[0]}&sort=newest&${almostNone}`,
  'a word, near, newest': (samples) => `q=${samples.frequent[0]}&near=${one(samples).near}&withinKm=500&sort=newest`,
  'a word, near, relevant': (samples) => `q=${samples.frequent[0]}&near=${one(samples).near}&withinKm=500`,
  'a word, near, none': (samples) => `q=${samples.frequent[0]}&near=0,0&withinKm=500&sort=${drawOne(sorts)}`,
  'a word, near, few': (samples) => `q=${samples.frequent[0]}&near=${one(samples).near}&withinKm=500&${almostNone}&sort=distance`,
  'far, newest': (samples) => `near=${one(samples).near}&withinKm=500&sort=newest`,
  'far, almost none': (samples) => `near=${one(samples).near}&withinKm=500&${almostNone}`,
  'far, category, newest': (samples) =>
    `near=${one(samples).near}&withinKm=500&sort=newest&categoryId=${drawOne(categories)}&status=pending`,
  'far, further on': (samples) => `near=${one(samples).near}&withinKm=500&status=pending&sort=distance&after=490,1,1`,
  'relevance, further on': ({ frequent }) => `q=${frequent[0]}&after=0.0607,500000`,
  'unknown words': () => `q=${Array.from({ length: 12 }, unknownWord).join('+')}`,
  'a hundred ids': (samples) => `${Array.from({ length: 100 }, () => `id=${one(samples).id}`).join('&')}&limit=100`,
  'a page of a hundred': () => 'limit=100',
  'facets of all': () => '/facets?',
  'facets of a word of most': ({ frequent }) => `/facets?q=${frequent[0]}`,
  'facets, almost none': () => `/facets?${almostNone}`,
  'facets, far, almost none': (samples) => `/facets?near=${one(samples).near}&withinKm=500&${almostNone}`,
} satisfies Queries;

const categories = Array.from({ length: 20 }, (_, i) => i + 1);
const sorts = ['newest', 'relevance', 'distance'];

/** Replaces a letter in the middle. */
const misspell = (word: string) => `${word.slice(0, 3)}k${word.slice(4)}`;
const unknownWord = () => Math.random().toString(36).slice(2, 9);

/** The number of milliseconds that a search takes; undefined: it took too long, and is 503. */
export async function timeSearch(http: HttpClient, target: SearchTarget, query: string): Promise<number | undefined> {
  const path = query.startsWith('/') ? `/listings${query}` : `/listings?${await withCursor(http, target, query)}`;
  const startMs = performance.now();
  const { status, text } = await http.send(target.url + path, { key: target.key });
  const tookMs = performance.now() - startMs;
  if (status === 503) return undefined;
  if (status !== 200) throw new Error(`${path} got ${status} ${text}`);
  return tookMs;
}

const marks = new Map<string, string>();

/** Replaces `after=…` by a cursor. Its mark binds it to the filters, and is taken from a cursor that the service has made. */
async function withCursor(http: HttpClient, { url, key }: SearchTarget, query: string): Promise<string> {
  const [filters = '', position] = query.split('&after=');
  if (position === undefined) return query;
  if (!marks.has(filters)) {
    const { headers } = await http.send(`${url}/listings?${filters}&limit=1`, { key });
    const cursor = /cursor=([\w-]+)/.exec(String(headers['link']))?.[1] ?? '';
    marks.set(filters, Buffer.from(cursor, 'base64url').toString('latin1').split('.').at(-1) ?? '');
  }
  return `${filters}&cursor=${Buffer.from(`${position}.${marks.get(filters)}`).toString('base64url')}`;
}

export async function drawSamples(databaseUrl: string, animals: number): Promise<Samples> {
  await using client = await connectTo(databaseUrl);
  const { rows } = await client.query<Sample>(
    `select pets.id, pets.name, breed_primary as breed, split_part(profiles.description, ' ', 5) as word,
      round(latitude::numeric, 2) || ',' || round(longitude::numeric, 2) as near
      from pets join profiles on pet_id = pets.id join shelters on shelters.id = pets.shelter_id
      where latitude is not null and pets.id % greatest($1::bigint / 500, 1) = 0`,
    [animals],
  );
  const frequent = await client.query<{ word: string }>(
    `select word from ts_stat('select document from listings where id <= 2000') where word !~ '=' order by ndoc desc limit 2`,
  );
  const rare = await client.query<{ breed: string }>(
    'select breeds[1] as breed from listings where id <= 10000 group by 1 order by count(*), 1 limit 1',
  );
  const [first, second] = frequent.rows.map(({ word }) => word);
  return { animals: rows, frequent: [first ?? '', second ?? ''], rareBreed: rare.rows[0]?.breed ?? '' };
}

function drawOne<T>(values: readonly T[]): T {
  const value = values[Math.floor(Math.random() * values.length)];
  if (value === undefined) throw new Error('the list is empty');
  return value;
}
