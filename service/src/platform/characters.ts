/** The inside of a character class. PostgreSQL can't store NUL or lone surrogates, and terminals act on control characters. */
export const controls = '\\p{Cc}\\p{Cs}';
/** The same without the line feed. */
export const controlsButLineFeed = '\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f\\p{Cs}';
/** The same without the line feed and the carriage return: the forms of browsers end each line with both. */
export const controlsButLineBreaks = '\\u0000-\\u0009\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\p{Cs}';
/**
 * Bidirectional embeddings, overrides and isolates: they reorder the text around them, so that a name can look like another.
 * The marks U+200E, U+200F and U+061C are not included: Arabic and Hebrew need them, and they don't reorder other text.
 */
export const reorderings = '\\u202a-\\u202e\\u2066-\\u2069';

/** The first character of the class in the text, formatted as U+202E. Undefined: there is none. */
export function findCharacter(text: string, characterClass: string): string | undefined {
  const found = new RegExp(`[${characterClass}]`, 'u').exec(text)?.[0].codePointAt(0);
  return found === undefined ? undefined : `U+${found.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Every character that a terminal acts on, or that reorders text. More than what input rejects, since older rows may contain it. */
const unprintable = /[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029]/gu;

/** The text on one line, with each such character escaped: \u{1b}. */
export const printable = (text: string): string => text.replace(unprintable, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);

const unprintableInJson = /[\u007f-\u009f\p{Bidi_Control}\u2028\u2029]/gu;

/** Also escapes the characters that a terminal acts on and that JSON.stringify leaves as they are. The value stays the same. */
export const printableJson = (json: string): string =>
  json.replace(unprintableInJson, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
