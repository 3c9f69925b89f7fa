import type { Db } from '../../platform/db/handles.ts';

/** The newest documents are looked through for a word before the index: of a frequent word it would read a long list. */
const newestMax = 50;
/** The words that are compared with a misspelt one: so many of each trigram, of these those that share the most. */
const wordsOfTrigramMax = 200;
const candidatesMax = 50;
const similarityMin = 0.3;
/** Longer words are neither counted nor corrected: each has as many trigrams as characters. */
export const wordCharactersMax = 32;

/** An expression: all words are of one client. */
const hasOneWriter = `(select count(*) from (select from word_clients where uses > 0 limit 2) writers) < 2`;

export interface AskedWord {
  readonly word: string;
  /** An animal has it, or had it a moment ago. */
  readonly isKnown: boolean;
  /** Others trust it: two clients use it, or staff wrote it, or there is one client only. */
  readonly isShared: boolean;
  readonly isPlain: boolean;
}

/** An expression: the word is the only one of its own text. PostgreSQL takes others apart again when it searches for them. */
const isPlain = (word: string) => `tsvector_to_array(to_tsvector('listings', ${word})) = array[${word}]`;

/** The words of a text in their order, without accents. A word of an animal is known as soon as its change is committed. */
export async function selectAskedWords(db: Db, text: string): Promise<AskedWord[]> {
  const { rows } = await db.query<AskedWord>({
    // Concatenated, so that a long document is read once and not for each word.
    text: `with newest as materialized (select document || '' as document from listings order by id desc limit ${newestMax})
      select lexeme as word, case
          when exists (select from search_words where search_words.word = lexeme) then true
          when exists (select from newest where document @@ plainto_tsquery('listings', lexeme)) then true
          else is_word_of_animal(lexeme) end as "isKnown",
          coalesce((select is_shared from search_words where search_words.word = lexeme), false) or (${hasOneWriter}) as "isShared",
          ${isPlain('lexeme')} as "isPlain"
        from unnest(to_tsvector('listings', $1)) order by positions[1]`,
    values: [text],
  });
  return rows;
}

export interface Correction {
  readonly misspelt: string;
  readonly word: string;
  /** From 0 to 1. */
  readonly similarity: number;
  /** Of the word that replaces it. */
  readonly isPlain: boolean;
}

/**
 * The most similar word for each, if there is one. Of the words with a trigram, those of the most animals come first, so words that few
 * animals have can't displace them. Words that are not shared correct others while one client has written all of them.
 */
export async function selectCorrections(db: Db, misspelt: readonly string[]): Promise<Correction[]> {
  const { rows } = await db.query<Correction>({
    text: `select misspelt, best.word, similarity(best.word, misspelt) as similarity, ${isPlain('best.word')} as "isPlain" from unnest($1::text[]) misspelt
      cross join lateral (
        select word from (
          select word from unnest(show_trgm(misspelt)) as of_word (trigram)
            cross join (select true as is_shared union all
              select false where ${hasOneWriter}) kinds
            cross join lateral (select word, rarity from word_trigrams
              where word_trigrams.trigram = of_word.trigram and word_trigrams.is_shared = kinds.is_shared
              order by rarity, word limit ${wordsOfTrigramMax}) found
            group by word order by count(*) desc, min(rarity), word limit ${candidatesMax}) candidates
          where similarity(word, misspelt) >= ${similarityMin} order by similarity(word, misspelt) desc, word limit 1) best
      where char_length(misspelt) <= ${wordCharactersMax}`,
    values: [misspelt],
  });
  return rows;
}
