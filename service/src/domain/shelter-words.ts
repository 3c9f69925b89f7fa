/**
 * What a shelter says of itself that also gets into mail, or is read as a place. Its staff write it, and everybody sees it at once; mail
 * and searches have it only as store staff have confirmed it last.
 */
export const wordFields = ['name', 'email', 'phone', 'website', 'address', 'town', 'postcode'] as const;
export type WordField = (typeof wordFields)[number];
export type ShelterWords = { readonly [Field in WordField]: string | null };

export const noWords = Object.fromEntries(wordFields.map((field) => [field, null])) as unknown as ShelterWords;
