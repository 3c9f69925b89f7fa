// Fills a store's database with animals that have profiles, in shelters, as fast as PostgreSQL can.
import { connectTo } from './postgres.ts';

const breedsCount = 400;
const namesCount = 5_000;
const wordsCount = 20_000;
/** The first letters of the words of names, breeds and descriptions. */
type Kind = 'd' | 's' | 'r';
const statementTimeoutMs = 30 * 60_000;

interface FillOptions {
  /** The fewest and the most words of a description, in sixes. */
  readonly words?: readonly [number, number];
  progress?(step: string): void;
}

/** Adds shelters and animals to an empty store, 50 animals to a shelter: 1 million in 20,000, which takes minutes. */
export async function fillListings(
  databaseUrl: string,
  animals: number,
  { words = [24, 24], progress = () => {} }: FillOptions = {},
): Promise<void> {
  await using client = await connectTo(databaseUrl, { statement_timeout: statementTimeoutMs });
  await client.query(`set maintenance_work_mem = '512MB'`);
  // An index is built faster than it is maintained.
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
      where tablename in ('pets', 'profiles', 'listings') and indexname not in (select conname from pg_constraint)`,
  );
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  for (const [step, statement] of Object.entries(rowStatements(animals, Math.ceil(animals / 50), words))) {
    progress(step);
    await client.query(statement);
  }
  for (const { name, definition } of indexes) {
    progress(name);
    await client.query(definition);
  }
  progress('statistics');
  for (const table of tables) await client.query(`vacuum (analyze) ${table}`);
}

/** Breeds and words are skewed: the first are the most frequent, as in life. Shelters are spread over a continent. */
const rowStatements = (animals: number, shelters: number, words: readonly [number, number]) => ({
  // Neither triggers nor foreign keys.
  settings: 'set session_replication_role = replica',
  categories: 'insert into categories (id) select generate_series(1, 20) on conflict do nothing',
  shelters: `insert into shelters (name, address, latitude, longitude)
    select 'Shelter ' || n, n || ' Station Road', 36 + 24 * random(), -9 + 39 * random() from generate_series(2, ${shelters}) n`,
  pets: `insert into pets (name, category_id, status, shelter_id)
    select ${made('d', `floor(${namesCount} * random() ^ 2)`)}, 1 + floor(20 * random()),
      (array['available', 'available', 'available', 'pending', 'sold'])[1 + floor(5 * random())]::pet_status,
      1 + floor(${shelters} * random())
      from generate_series(1, ${animals})`,
  profiles: `insert into profiles (pet_id, shelter_id, description, breed_primary, birth_date, sex, size, coat, good_with_children, good_with_dogs, good_with_cats)
    select id, shelter_id,
      ${description(words)},
      ${made('s', `floor(${breedsCount} * random() ^ 2)`)},
      current_date - floor(4500 * random() ^ 2)::int,
      (array['male', 'female', 'unknown'])[1 + floor(2.2 * random())],
      (array['small', 'medium', 'large', 'extra_large'])[1 + floor(4 * random())],
      (array['short', 'medium', 'long', 'wire'])[1 + floor(4 * random())],
      ${yesOrNo}, ${yesOrNo}, ${yesOrNo}
      from pets, (select array_agg(phrase) as list from (${phrases}) phrases) phrases`,
  listings: 'insert into listings select * from listings_computed',
});

const phrasesCount = 300;
const phraseWords = 6;
const phrases = `select string_agg(${made('r', `floor(${wordsCount} * random() ^ 3)`)}, ' ') as phrase
  from generate_series(1, ${phrasesCount}) n, generate_series(1, ${phraseWords}) group by n`;
const phrase = `phrases.list[1 + floor(${phrasesCount} * random())]`;

/** Its length depends on the id: a subquery that names no column of the row would be computed once for all. */
function description(words: readonly [number, number]): string {
  const [min, max] = words.map((count) => Math.round(count / phraseWords)) as [number, number];
  return `array_to_string(array(select ${phrase} from generate_series(1, ${min} + (pets.id * 7919 % ${max - min + 1})::int)), ' ')`;
}

const tables = ['pets', 'profiles', 'listings', 'shelters'];
const yesOrNo = `(array['yes', 'no', 'unknown'])[1 + floor(3 * random())]`;

/** A word that looks like one: the same for the same number. */
function made(kind: Kind, number: string): string {
  return `('${kind}' || translate(to_char((${number})::int * 7919 % 100000, 'FM00000'), '0123456789', 'balemotuxi'))`;
}
