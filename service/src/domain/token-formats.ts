/** What an API key begins with: it says which environment it is for. */
export const keyPrefixes = { production: 'hw_live_', staging: 'hw_test_' } as const;

const keys = new RegExp(`(${Object.values(keyPrefixes).join('|')})[0-9A-Za-z]+`, 'g');

/** Redacts everything that looks like a key, for logs. */
export const withoutKeys = (text: string): string => text.replace(keys, '$1…');

/** Where adopters' pages are. A path below it has a token, which is all that a visitor needs. */
export const pagesPath = '/a';

/** A token, in the only spelling that is accepted: 200 bits in base 32, or 240 with a number. */
export const pageToken = '[0-9a-v]{40}(?:[0-9a-v]{8})?';

/** Cut off from the first match on, but for the name of an act: a token that was cut or misspelt is nearly one. */
const belowPages = /((?:\/|%2f)a)(?:\/|%2f)+(.*)/is;
const act = new RegExp(`^${pageToken}(/[a-z]{1,8})$`);
/** Also with something stuck to it. A hash, as in the name of a photo, is longer. */
const tokens = /(?<![0-9a-z])[0-9a-z]{40,56}(?![0-9a-z])/gi;

/** Redacts the token of an adopter's page, for logs. */
export const withoutPageTokens = (url: string): string =>
  url.replace(belowPages, (_, before: string, rest: string) => `${before}/…${act.exec(rest)?.[1] ?? ''}`).replace(tokens, '…');
