// What is said of an animal's status. One that the shelter holds back, because it is ill for instance, is pending for the store like one
// that is promised to someone; here it is not.
import type { PetListing, PetStatus } from '@homeward/sdk';
import { statusWords } from './words.ts';

export type ShownStatus = PetStatus | 'held';

interface Said {
  readonly status: ShownStatus;
  /** On the badge of the animal. */
  readonly words: string;
}

/** The words of a hold come from the store: "is being treated", or "not ready yet". */
export const statusShown = (status: PetStatus, hold: { readonly text: string } | undefined): Said =>
  hold ? { status: 'held', words: capital(hold.text.replace(/^is /, '')) } : { status, words: statusWords[status] };

export const shownOf = ({ pet: { status }, hold }: Pick<PetListing, 'pet' | 'hold'>): Said => statusShown(status, hold);

/** A sentence of the animal. */
export const heldText = (name: string, { text }: { readonly text: string }): string =>
  `${name} ${text.startsWith('not ') ? 'is ' : ''}${text}.`;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
