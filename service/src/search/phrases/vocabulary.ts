import { readNamedCategories } from '../../animals/categories/categories.ts';
import { folded } from '../../domain/label-spellings.ts';
import type { Db } from '../../platform/db/handles.ts';
import { isMisspelt } from './curated-words.ts';
import type { Places, Vocabulary } from './phrase-filters.ts';
import { meanings } from './phrases.ts';
import { type MeantTown, placesAskedFor } from './place-phrases.ts';
import { isDescribed, selectPlaces, selectSimilarTowns } from './place-queries.ts';
import { singulars, type Token, textOf, tokensOf } from './tokens.ts';

/** Further categories are found by their ids alone. */
const categoriesMax = 500;

/**
 * What the words of a search mean in this store. It is read in the transaction of the search, so that no process has an older one: the
 * categories with a name, which are few, and only if the words may be a place, the shelters there.
 */
export async function readVocabulary(db: Db, tokens: readonly Token[], isSpellingExact = false): Promise<Vocabulary> {
  const categories = await readNamedCategories(db, categoriesMax);
  const asked = placesAskedFor(tokens);
  return { isSpellingExact, categoryIds: categoryIdsOf(categories), places: asked.length === 0 ? noPlaces : await selectPlaces(db, asked) };
}

/** The town of a shelter that store staff have confirmed, as the shelter writes it. */
export async function findTown(db: Db, text: string): Promise<string | undefined> {
  const place = (await selectPlaces(db, [text])).get(text);
  return place && 'town' in place ? place.town : undefined;
}

/**
 * The town that one of the texts is, misspelt. The name of an animal does not change that, since animals with that name come first. But a
 * word that animals are described with is no town.
 */
export async function findMeantTown(
  db: Db,
  texts: readonly MeantTown[],
): Promise<(MeantTown & { readonly town: string; readonly isDescribed: boolean }) | undefined> {
  const similar = await selectSimilarTowns(
    db,
    texts.map(({ text }) => text),
  );
  const meant = similar.find(({ text, town }) => isMisspelt(text, folded(town)));
  const asked = texts.find(({ text }) => text === meant?.text);
  return meant && asked && { ...asked, town: meant.town, isDescribed: await isDescribed(db, meant.text) };
}

const noPlaces: Places = new Map();

type Named = ReadonlyArray<{ readonly id: bigint; readonly name: string }>;

/** The last ones, since they rarely change and every search asks for them. */
let last: { readonly text: string; readonly ids: ReadonlyMap<string, bigint> } = { text: '', ids: new Map() };

function categoryIdsOf(categories: Named): ReadonlyMap<string, bigint> {
  const text = categories.map(({ id, name }) => `${id} ${name}`).join('\n');
  if (text !== last.text) last = { text, ids: namesOf(categories) };
  return last.ids;
}

/** Of several, the first that is named so counts; else the first that has the kind of animal in its name, and no other kind. */
function namesOf(categories: Named): ReadonlyMap<string, bigint> {
  const ids = new Map<string, bigint>();
  const add = (form: string, id: bigint) => !ids.has(form) && ids.set(form, id);
  for (const { id, name } of categories) for (const form of categoryForms(name)) add(form, id);
  for (const { id, name } of categories) {
    const [species, ...others] = new Set(speciesIn(name));
    if (species !== undefined && others.length === 0) add(species, id);
  }
  return ids;
}

/** The kinds of animals that a name has. */
export function speciesIn(name: string): readonly string[] {
  const tokens = tokensOf(name);
  const found: string[] = [];
  for (let i = 0; i < tokens.length; ) {
    const [species, length] = speciesAt(tokens, i);
    if (species !== undefined) found.push(species);
    i += length;
  }
  return found;
}

function speciesAt(tokens: readonly Token[], i: number): readonly [species: string | undefined, length: number] {
  for (let length = 2; length > 0; length -= 1) {
    const text = textOf(tokens, i, length);
    const meaning =
      text === undefined
        ? undefined
        : singulars(text)
            .map((form) => meanings.get(form))
            .find((one) => one?.species !== undefined);
    if (meaning) return [meaning.species, length];
  }
  return [undefined, 1];
}

/** What the name of a category is called in a search: the name, and what it may be the plural of. */
export const categoryForms = (name: string): readonly string[] => singulars(folded(name));
