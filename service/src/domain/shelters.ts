/**
 * What a shelter says of itself that also gets into mail, or is read as a place. Its staff write it, and everybody sees it at once; mail
 * and searches have it only as store staff have confirmed it last.
 */
export const wordFields = ['name', 'email', 'phone', 'website', 'address', 'town', 'postcode', 'mailReceived', 'mailAccepted'] as const;
export type WordField = (typeof wordFields)[number];
export type ShelterWords = { readonly [Field in WordField]: string | null };

export const noWords = Object.fromEntries(wordFields.map((field) => [field, null])) as unknown as ShelterWords;

/** How the animals of a shelter are adopted. */
export const adoptionModes = {
  order: 'Partners order its animals: the first to ask reserves one.',
  application: 'Partners send it applications, of which its staff accept one. Only staff place orders.',
} as const satisfies Record<string, string>;

export type AdoptionMode = keyof typeof adoptionModes;

/** Where nothing else is said. */
export const adoptionDefault = 'order' satisfies AdoptionMode;

/** The shelters that an animal was moved between. */
export interface ShelterMove {
  readonly from: bigint;
  readonly to: bigint;
}

/** The columns of a row of history that say whether it is about a move. */
export interface MoveColumns {
  readonly fromShelterId: bigint | null;
  readonly toShelterId: bigint | null;
}

/** The move that a row of history records; undefined: the row is about something else. */
export function readMove({ fromShelterId, toShelterId }: MoveColumns): ShelterMove | undefined {
  return fromShelterId !== null && toShelterId !== null ? { from: fromShelterId, to: toShelterId } : undefined;
}
