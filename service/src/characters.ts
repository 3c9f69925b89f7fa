/** As the inside of a character class. PostgreSQL stores neither NUL nor a lone surrogate; controls also drive a terminal. */
export const controls = '\\p{Cc}\\p{Cs}';
/** The same, with the line feed left out. */
export const controlsButLineFeed = '\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f\\p{Cs}';
/**
 * Bidirectional embeddings, overrides and isolates: they reorder the text around them, so that one name reads as another. The
 * marks U+200E, U+200F and U+061C are not among them: Arabic and Hebrew need them, and they reorder nothing but themselves.
 */
export const reorderings = '\\u202a-\\u202e\\u2066-\\u2069';

/** The first character of the class, as a message names it: U+202E. Undefined: there is none. */
export function findCharacter(text: string, characterClass: string): string | undefined {
  const found = new RegExp(`[${characterClass}]`, 'u').exec(text)?.[0].codePointAt(0);
  return found === undefined ? undefined : `U+${found.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Everything that a terminal acts on, or that changes how the text around it reads. Stricter than what is accepted, since older rows hold more. */
const unprintable = /[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029]/gu;

/** One line of text in which each such character is visible: \u{1b}. */
export const printable = (text: string): string => text.replace(unprintable, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);

const unprintableInJson = /[\u007f-\u009f\p{Bidi_Control}\u2028\u2029]/gu;

/** JSON.stringify escapes no more than JSON must; the same value, without the other characters that a terminal acts on. */
export const printableJson = (json: string): string =>
  json.replace(unprintableInJson, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
