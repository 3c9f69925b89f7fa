import { AppError, type ErrorCode } from '../../platform/errors.ts';
import { FormError } from '../screens/page-error.ts';

/** An animal that was marked as adopted has no order. */
export const ifBack = (name: string): string =>
  `If it came back, choose “${name} came back” on its order. If it has no order, make it available on its page.`;

/** What the operations reject, as somebody in front of a page can act on it: their own messages are for programs. */
const inWords: Partial<Record<ErrorCode, (name: string) => string>> = {
  pet_has_open_order: (name) => `${name} is reserved by an order. Decide on the order first.`,
  pet_on_hold: (name) => `${name} is on hold. End the hold first: then ${name} is available, unless an order reserves it.`,
  pet_not_available: (name) => `${name} is adopted. Only an animal that is available or pending can be held.`,
  pet_is_sold: (name) => `${name} is adopted, so there is nothing else to note. ${ifBack(name)}`,
  outcome_final: (name) => `It is too late: ${name} has left more than 30 days ago. If it is back, add it again.`,
  category_not_found: () => 'There is no such category. Choose another one.',
};

/** Carries out an act on the animal with this name. */
export async function inWordsOf<T>(name: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const words = error instanceof AppError ? inWords[error.code] : undefined;
    if (!words) throw error;
    throw new FormError(words(name));
  }
}
