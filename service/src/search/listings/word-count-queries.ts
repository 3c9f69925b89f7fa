// What the worker reads and writes to count words. The caller has locked the row of word_feed, so no other transaction writes them.

import { staffScopes } from '../../domain/scopes.ts';
import type { Db, Transaction } from '../../platform/db/handles.ts';
import { wordCharactersMax } from './word-queries.ts';

const wordCharactersMin = 2;
const today = `(now() at time zone 'utc')::date`;
/** Animals of a word are counted up to here. */
const animalsOfWordMax = 128;

export interface WordFeed {
  /** The words of the changes up to this position of the feed are counted. */
  readonly position: bigint;
  /** The words of older animals are counted up to this id; null: all are. */
  readonly filledTo: bigint | null;
  readonly fillUntil: bigint;
}

/** The values of rows by column, as `unnest` takes them. */
const columnsOf = <Row>(rows: readonly Row[], ...names: ReadonlyArray<keyof Row>) => names.map((name) => rows.map((row) => row[name]));

/** Whether events of the feed or older animals are left to count. */
export async function hasWordsToCount(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ has: boolean }>({
    name: 'has-words-to-count',
    text: 'select position <> last_position or filled_to is not null as has from word_feed, feed',
  });
  return rows[0]?.has ?? false;
}

/** Makes this transaction the only one that counts words. Undefined: another one does. */
export async function lockWordFeed(tx: Transaction): Promise<WordFeed | undefined> {
  const { rows } = await tx.query<WordFeed>({
    name: 'lock-word-feed',
    text: 'select position, filled_to as "filledTo", fill_until as "fillUntil" from word_feed for update skip locked',
  });
  return rows[0];
}

export async function storePosition(tx: Transaction, position: bigint): Promise<void> {
  await tx.query({ name: 'word-feed-position', text: 'update word_feed set position = $1', values: [position] });
}

/** All animals up to the newest are counted again, and then the events after this position. */
export async function storeStart(tx: Transaction, position: bigint): Promise<void> {
  await tx.query({
    text: 'update word_feed set position = $1, filled_to = 0, fill_until = coalesce((select max(id) from pets), 0)',
    values: [position],
  });
}

export async function storeFilledTo(tx: Transaction, filledTo: bigint | null): Promise<void> {
  await tx.query({ name: 'word-feed-filled', text: 'update word_feed set filled_to = $1', values: [filledTo] });
}

/** The next animals by id, including removed ones. */
export async function selectPetsToFill(tx: Transaction, afterId: bigint, untilId: bigint, limit: number): Promise<bigint[]> {
  const { rows } = await tx.query<{ id: bigint }>({
    name: 'pets-to-fill',
    text: 'select id from pets where id > $1 and id <= $2 order by id limit $3',
    values: [afterId, untilId, limit],
  });
  return rows.map(({ id }) => id);
}

/** An animal has a word of a client. */
export interface WordUse {
  readonly petId: bigint;
  readonly word: string;
  /** 0: the store itself. */
  readonly clientId: bigint;
  /** A key of staff wrote it, or the store itself. */
  readonly isTrusted: boolean;
}

/** The words of names and breeds as they are. A word that has two writers is that of the trusted one. */
export async function selectWrittenWords(tx: Transaction, petIds: readonly bigint[]): Promise<WordUse[]> {
  const { rows } = await tx.query<WordUse>({
    name: 'written-words',
    text: `select distinct on (pets.id, written.word) pets.id as "petId", written.word, written.client_id as "clientId",
        written.is_trusted as "isTrusted"
      from unnest($1::bigint[]) asked (id) join pets on pets.id = asked.id and removed_at is null
        left join profiles on profiles.pet_id = pets.id
        -- Its first row is as old as the animal, so that one or two partitions are read.
        left join lateral (select client_id, key_id from history where history.pet_id = pets.id
          and history.at between pets.created_at - interval '1 day' and pets.created_at + interval '1 day'
          order by history.id limit 1) added on true
        cross join lateral (values (name, coalesce(named_by, added.key_id)),
          (concat_ws(' ', breed_primary, breed_secondary), coalesce(breeds_by, added.key_id))) as texts (content, key_id)
        left join api_keys on api_keys.id = texts.key_id
        cross join lateral (select lexeme as word, coalesce(api_keys.client_id, 0) as client_id,
          coalesce(api_keys.scopes && $2::text[], true) as is_trusted from unnest(to_tsvector('listings', content))) written
      where char_length(written.word) between ${wordCharactersMin} and ${wordCharactersMax}
      order by pets.id, written.word, written.is_trusted desc`,
    values: [petIds, staffScopes],
  });
  return rows;
}

/** The words that these animals are counted for. */
export async function selectCountedWords(tx: Transaction, petIds: readonly bigint[]): Promise<WordUse[]> {
  const { rows } = await tx.query<WordUse>({
    name: 'counted-words',
    text: `select pet_id as "petId", word, client_id as "clientId", is_trusted as "isTrusted"
      from animal_words where pet_id = any($1::bigint[])`,
    values: [petIds],
  });
  return rows;
}

export async function deleteUses(tx: Transaction, uses: readonly WordUse[]): Promise<void> {
  await tx.query({
    name: 'delete-word-uses',
    text: `delete from animal_words using unnest($1::bigint[], $2::text[]) gone (pet_id, word)
      where animal_words.pet_id = gone.pet_id and animal_words.word = gone.word`,
    values: columnsOf(uses, 'petId', 'word'),
  });
}

export async function insertUses(tx: Transaction, uses: readonly WordUse[]): Promise<void> {
  await tx.query({
    name: 'insert-word-uses',
    text: `insert into animal_words (pet_id, word, client_id, is_trusted)
      select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::boolean[])`,
    values: columnsOf(uses, 'petId', 'word', 'clientId', 'isTrusted'),
  });
}

/** Those of the words that are in the table. */
export async function selectStoredWords(tx: Transaction, words: readonly string[]): Promise<string[]> {
  const { rows } = await tx.query<{ word: string }>({
    name: 'stored-words',
    text: 'select word from search_words where word = any($1::text[])',
    values: [words],
  });
  return rows.map(({ word }) => word);
}

/** How many new words each of the clients has added today (UTC). One that is missing has added none. */
export async function selectNewToday(tx: Transaction, clientIds: readonly bigint[]): Promise<Map<bigint, number>> {
  const { rows } = await tx.query<{ clientId: bigint; count: bigint }>({
    name: 'new-words-today',
    text: `select client_id as "clientId", new_words as count from word_clients
      where client_id = any($1::bigint[]) and day = ${today}`,
    values: [clientIds],
  });
  return new Map(rows.map(({ clientId, count }) => [clientId, Number(count)]));
}

/** By how much the counts of a client change. */
export interface ClientCounts {
  uses: number;
  words: number;
  newToday: number;
}

export async function addToClients(tx: Transaction, counts: ReadonlyMap<bigint, ClientCounts>): Promise<void> {
  const clientIds = [...counts.keys()];
  const of = (count: keyof ClientCounts) => [...counts.values()].map((one) => one[count]);
  await tx.query({
    name: 'add-word-clients',
    text: `insert into word_clients (client_id, uses, words, day, new_words) select client_id, 0, 0, ${today}, 0 from unnest($1::bigint[]) client_id
      on conflict do nothing`,
    values: [clientIds],
  });
  await tx.query({
    name: 'add-to-word-clients',
    text: `update word_clients set uses = word_clients.uses + changed.uses, words = word_clients.words + changed.words, day = ${today},
        new_words = changed.new_words + case when day = ${today} then word_clients.new_words else 0 end
      from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) changed (client_id, uses, words, new_words)
      where word_clients.client_id = changed.client_id`,
    values: [clientIds, of('uses'), of('words'), of('newToday')],
  });
}

/** Whether all words are of one client, and how many there are. */
export async function readTotals(tx: Transaction): Promise<{ hasOneWriter: boolean; words: number }> {
  const { rows } = await tx.query<{ writers: bigint; words: bigint }>({
    name: 'word-totals',
    text: 'select count(*) filter (where uses > 0) as writers, coalesce(sum(words), 0)::bigint as words from word_clients',
  });
  const [{ writers, words } = { writers: 0n, words: 0n }] = rows;
  return { hasOneWriter: writers < 2n, words: Number(words) };
}

/** How a word is stored. */
export interface WordState {
  readonly rarity: number;
  readonly isShared: boolean;
}

export interface Recount {
  readonly word: string;
  /** Null: it is not stored yet. */
  readonly stored: (WordState & { readonly clientId: bigint }) | null;
  /** Null: no animal is counted for it any more. */
  readonly counted: WordState | null;
}

/** Counts the words again from the rows of their animals. Each count reads a few entries of an index. */
export async function recountWords(tx: Transaction, words: readonly string[]): Promise<Recount[]> {
  const { rows } = await tx.query<{
    word: string;
    clientId: bigint | null;
    storedRarity: number | null;
    storedShared: boolean | null;
    rarity: number | null;
    isShared: boolean;
  }>({
    name: 'recount-words',
    text: `select asked.word, stored.client_id as "clientId", stored.rarity as "storedRarity", stored.is_shared as "storedShared",
        case when animals > 0 then 7 - width_bucket(animals, array[2, 4, 8, 16, 32, 64, ${animalsOfWordMax}]) end as rarity,
        exists (select from animal_words uses where uses.word = asked.word and uses.is_trusted)
          or (select min(client_id) from animal_words uses where uses.word = asked.word and not uses.is_trusted)
            <> (select max(client_id) from animal_words uses where uses.word = asked.word and not uses.is_trusted) as "isShared"
      from unnest($1::text[]) asked (word) left join search_words stored on stored.word = asked.word
        cross join lateral (select count(*)::int as animals from
          (select from animal_words uses where uses.word = asked.word limit ${animalsOfWordMax}) counted) counts`,
    values: [words],
  });
  return rows.map(({ word, clientId, storedRarity, storedShared, rarity, isShared }) => ({
    word,
    stored: clientId === null || storedRarity === null ? null : { clientId, rarity: storedRarity, isShared: storedShared ?? false },
    counted: rarity === null ? null : { rarity, isShared: isShared ?? false },
  }));
}

export interface StoredWord extends WordState {
  readonly word: string;
  readonly clientId: bigint;
}

/** The owner of a word that is stored already stays. */
export async function upsertWords(tx: Transaction, words: readonly StoredWord[]): Promise<void> {
  await tx.query({
    name: 'upsert-words',
    text: `insert into search_words (word, rarity, is_shared, client_id)
      select * from unnest($1::text[], $2::smallint[], $3::boolean[], $4::bigint[])
      on conflict (word) do update set rarity = excluded.rarity, is_shared = excluded.is_shared`,
    values: columnsOf(words, 'word', 'rarity', 'isShared', 'clientId'),
  });
}

export async function deleteWords(tx: Transaction, words: readonly string[]): Promise<void> {
  await tx.query({ name: 'delete-words', text: 'delete from search_words where word = any($1::text[])', values: [words] });
}

type WordRow = WordState & { readonly word: string };

export async function insertTrigrams(tx: Transaction, words: readonly WordRow[]): Promise<void> {
  await tx.query({
    name: 'insert-trigrams',
    text: `insert into word_trigrams (trigram, is_shared, rarity, word)
      select trigram, is_shared, rarity, word from unnest($1::text[], $2::smallint[], $3::boolean[]) words (word, rarity, is_shared)
        cross join unnest(show_trgm(word)) trigram
      on conflict do nothing`,
    values: columnsOf(words, 'word', 'rarity', 'isShared'),
  });
}

/** Of words that correct none there are none. */
export async function deleteTrigrams(tx: Transaction, words: readonly WordRow[]): Promise<void> {
  await tx.query({
    name: 'delete-trigrams',
    text: `delete from word_trigrams using (
        select trigram, is_shared, rarity, word from unnest($1::text[], $2::smallint[], $3::boolean[]) words (word, rarity, is_shared)
          cross join unnest(show_trgm(word)) trigram) gone
      where word_trigrams.trigram = gone.trigram and word_trigrams.is_shared = gone.is_shared
        and word_trigrams.rarity = gone.rarity and word_trigrams.word = gone.word`,
    values: columnsOf(words, 'word', 'rarity', 'isShared'),
  });
}

/** Of the client that has the most words those that go first: words that correct none before those that do, and the rarest of each. */
export async function selectWordsToEvict(tx: Transaction, limit: number): Promise<StoredWord[]> {
  const { rows } = await tx.query<StoredWord>({
    name: 'words-to-evict',
    text: `select word, rarity, is_shared as "isShared", client_id as "clientId" from search_words
      where client_id = (select client_id from word_clients order by words desc, client_id limit 1)
      order by is_shared, rarity desc limit $1`,
    values: [limit],
  });
  return rows;
}

/** Returns how many uses of each client are gone. */
export async function deleteUsesOfWords(tx: Transaction, words: readonly string[]): Promise<ReadonlyArray<readonly [bigint, number]>> {
  const { rows } = await tx.query<{ clientId: bigint; uses: bigint }>({
    name: 'delete-uses-of-words',
    text: `with gone as (delete from animal_words where word = any($1::text[]) returning client_id)
      select client_id as "clientId", count(*) as uses from gone group by client_id`,
    values: [words],
  });
  return rows.map(({ clientId, uses }) => [clientId, Number(uses)] as const);
}
