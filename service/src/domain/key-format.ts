/** What an API key begins with: it says which environment it is for. */
export const keyPrefixes = { production: 'hw_live_', staging: 'hw_test_' } as const;

const keys = new RegExp(`(${Object.values(keyPrefixes).join('|')})[0-9A-Za-z]+`, 'g');

/** Redacts everything that looks like a key, for logs. */
export const withoutKeys = (text: string): string => text.replace(keys, '$1…');
