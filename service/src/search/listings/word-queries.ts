import type { Db } from '../../platform/db/handles.ts';

/** The newest documents are looked through for a word before the index: of a frequent word it would read a long list. */
const newestMax = 50;

export interface AskedWord {
  readonly word: string;
  /** It is not one of those that may be misspelt, or an animal has it. */
  readonly isKnown: boolean;
  readonly isPlain: boolean;
}

/** An expression: the word is the only one of its own text. PostgreSQL takes others apart again when it searches for them. */
const isPlain = (word: string) => `tsvector_to_array(to_tsvector('listings', ${word})) = array[${word}]`;

/**
 * The words of a text in their order, without accents, and whether animals have those that may be misspelt. A word of an animal is known as
 * soon as its change is committed.
 */
export async function selectAskedWords(db: Db, text: string, misspelt: readonly string[]): Promise<AskedWord[]> {
  const { rows } = await db.query<AskedWord>({
    // Concatenated, so that a long document is read once and not for each word.
    text: `with newest as materialized (select document || '' as document from listings order by id desc limit ${newestMax})
      select lexeme as word, case
          when lexeme <> all($2::text[]) then true
          when exists (select from newest where document @@ plainto_tsquery('listings', lexeme)) then true
          else is_word_of_animal(lexeme) end as "isKnown",
          ${isPlain('lexeme')} as "isPlain"
        from unnest(to_tsvector('listings', $1)) order by positions[1]`,
    values: [text, misspelt],
  });
  return rows;
}
