import type { PetStatus } from './pet-statuses.ts';

/**
 * Why an animal is held: it is not ready to be adopted for a while. The API, what listings show, the filter of a search, commands and
 * documents all use this table.
 */
const table = {
  medical: { meaning: 'The animal is ill or hurt, or waits for an operation.', shownAs: 'medical', text: 'is being treated' },
  stray: { meaning: 'The animal was found, and its owner may still come for it.', shownAs: 'stray', text: 'waits for its owner' },
  behaviour: { meaning: 'The animal is being trained or assessed. The public reads `other`.', shownAs: 'other' },
  trial: { meaning: 'The animal is on trial with somebody who may adopt it.', shownAs: 'trial', text: 'is trying a home' },
  other: { meaning: 'Anything else.', shownAs: 'other', text: 'not ready yet' },
} as const satisfies Record<string, HoldRow>;

type HoldRow = {
  /** For the documents. */
  readonly meaning: string;
} & (
  | { readonly shownAs: string /** What the public reads of the animal. */; readonly text: string }
  /** Only staff know this reason. */
  | { readonly shownAs: 'other' }
);

export type HoldReason = keyof typeof table;
/** What the public is told. Its own row has the text. */
export type ShownHold = (typeof table)[HoldReason]['shownAs'];

export const holdReasons = Object.keys(table) as HoldReason[];
export const shownHolds = holdReasons.filter((reason): reason is ShownHold => table[reason].shownAs === reason);
export const meaningOfHold = (reason: HoldReason): string => table[reason].meaning;
export const shownHoldOf = (reason: HoldReason): ShownHold => table[reason].shownAs;
export const textOfHold = (shown: ShownHold): string => table[shown].text;

interface HoldChange {
  /** Of the row of history. */
  readonly kind: string;
  readonly event: string;
  /** How the animal changes, if it has the first status. The end changes it only if it would be available without the hold. */
  readonly pet: { readonly from: PetStatus; readonly to: PetStatus };
  /** For the documents. */
  readonly meaning: string;
}

/** How a hold begins and ends. While it lasts, the animal is pending: what would make it available leaves it so. A sale ends it. */
export const holdChanges = {
  begin: {
    kind: 'pet_held',
    event: 'pet.held',
    pet: { from: 'available', to: 'pending' },
    meaning: 'An animal is not ready to be adopted for a while, or the reason or the time has changed.',
  },
  end: {
    kind: 'pet_hold_ended',
    event: 'pet.hold_ended',
    pet: { from: 'pending', to: 'available' },
    meaning: 'An animal is no longer held.',
  },
} as const satisfies Record<string, HoldChange>;

/** The status of an animal for as long as it is held. */
export const heldStatus = holdChanges.begin.pet.to;
/** A sold animal can't be held, and a held one that is sold is not held any more. */
export const endsHold = (status: string): boolean => status === 'sold';
