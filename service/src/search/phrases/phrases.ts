import { ageAt } from './age-phrases.ts';
import { companionsAt, faultsAt } from './companion-phrases.ts';
import type { Part, PhraseFilters, Vocabulary } from './phrase-filters.ts';
import { type Meaning, nameLeads, plainPhrases, searchPhrases } from './phrase-table.ts';
import { placeAt } from './place-phrases.ts';
import { singulars, type Token, textOf } from './tokens.ts';

const phraseWordsMax = 6;
const nameLead: ReadonlySet<string> = new Set(nameLeads);
const plainTexts: ReadonlySet<string> = new Set(plainPhrases);
/** What each phrase of the table means. */
export const meanings: ReadonlyMap<string, Meaning> = new Map(
  searchPhrases.flatMap(({ means, en }) => en.map((text) => [text, means] as const)),
);

/** The longest phrase that begins here. */
export function phraseAt(tokens: readonly Token[], i: number, vocabulary: Vocabulary): Part | undefined {
  const found = [
    plainAt(tokens, i),
    companionsAt(tokens, i),
    faultsAt(tokens, i),
    ageAt(tokens, i),
    placeAt(tokens, i, vocabulary),
    nameAt(tokens, i),
    knownAt(tokens, i, vocabulary),
  ];
  return found.reduce((best, one) => (one && one.length > (best?.length ?? 0) ? one : best), undefined);
}

function plainAt(tokens: readonly Token[], i: number): Part | undefined {
  for (let length = phraseWordsMax; length > 1; length -= 1) {
    const text = textOf(tokens, i, length);
    if (text !== undefined && singulars(text).some((one) => plainTexts.has(one))) return { from: i, length };
  }
  return undefined;
}

function knownAt(tokens: readonly Token[], i: number, vocabulary: Vocabulary): Part | undefined {
  for (let length = phraseWordsMax; length > 0; length -= 1) {
    const text = textOf(tokens, i, length);
    const known = text === undefined ? undefined : filtersOfPhrase(text, vocabulary);
    if (!known || text === undefined) continue;
    const { filters, searched } = known;
    return { from: i, length, filters, isBreed: filters.breed !== undefined, ...(searched && { correction: { typed: text, searched } }) };
  }
  return undefined;
}

interface Known {
  readonly filters: PhraseFilters;
  /** The word that is meant, if it is another one. */
  readonly searched?: string | undefined;
}

function filtersOfPhrase(text: string, { categoryIds, isSpellingExact = false }: Vocabulary): Known | undefined {
  const forms = singulars(text);
  const plain = forms.map((form) => meanings.get(form)).find((one) => one !== undefined);
  const misspelt = plain || isSpellingExact ? undefined : meantBy(forms);
  const meaning = plain ?? misspelt?.means;
  if (meaning && meaning.species === undefined) return { filters: meaning, searched: misspelt?.text };
  const kind = meaning ? [meaning.species ?? ''] : forms;
  const categoryId = kind.map((form) => categoryIds.get(form)).find((id) => id !== undefined);
  if (categoryId === undefined) return undefined;
  const { species: _, ...others } = meaning ?? {};
  return { filters: { ...others, categoryId }, searched: misspelt?.text };
}

/** What a word means that has one consonant where two belong, or the other way round: "pupy", "rabit". */
const meantBy = (forms: readonly string[]) =>
  forms[0]?.includes(' ')
    ? undefined
    : forms.map((form) => meaningsWithoutDoubles.get(withoutDoubles(form))).find((one) => one !== undefined);

const withoutDoubles = (word: string) => word.replace(/([b-df-hj-np-tv-z])\1+/g, '$1');

/** "named Ginger". */
function nameAt(tokens: readonly Token[], i: number): Part | undefined {
  const name = nameLead.has(tokens[i]?.folded ?? '') ? tokens[i + 1] : undefined;
  return name && !name.isAfterBreak && !name.isQuoted ? { from: i, length: 2, filters: { name: name.text } } : undefined;
}

/** Not breeds and colors: those are words of animals, which misspelt words are corrected to. */
const meaningsWithoutDoubles = new Map(
  [...meanings].flatMap(([text, means]) => (means.breed || means.color ? [] : [[withoutDoubles(text), { text, means }] as const])),
);
