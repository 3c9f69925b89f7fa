import type { Category, Order, Pet, PetStatus } from '@homeward/sdk';

export const siteName = 'Second Home';

/** Who runs the site and how to reach you, for the end of every page. Until you say it, `npm start` reminds you. */
export const owner: string | undefined = undefined;

export const statusWords: Readonly<Record<PetStatus, string>> = {
  available: 'Needs a home',
  pending: 'Promised',
  sold: 'Found a home',
};

/** Of the lists. An animal that is pending may be promised, or wait for something else. */
export const listWords: Readonly<Record<PetStatus, string>> = {
  available: 'Need a home',
  pending: 'Not available',
  sold: 'Found a home',
};

interface OrderWords {
  readonly lead: string;
  /** What comes next. */
  readonly next: string;
}

export const orderWords: Readonly<Record<Order['status'], OrderWords>> = {
  placed: { lead: 'Your request is with the shelter.', next: 'The shelter reads it and decides. You can also call or write to it.' },
  approved: { lead: 'The shelter has agreed.', next: 'Arrange the day with the shelter. If you have changed your mind, please cancel.' },
  completed: {
    lead: 'You have adopted.',
    next: 'We hope for many good years together. If you have questions, the shelter will be glad to help.',
  },
  // The store doesn't say who has cancelled it.
  cancelled: {
    lead: 'This request was cancelled.',
    next: 'If that was not you, ask the shelter. You can ask again if the animal still needs a home.',
  },
  expired: { lead: 'The shelter did not decide in time.', next: 'You can ask again if the animal still needs a home, or ask the shelter.' },
  returned: { lead: 'The animal has come back to the shelter.', next: 'If you have questions, ask the shelter.' },
};

/** For the browser in which the visitor has cancelled it. */
export const cancelledByVisitor: OrderWords = {
  lead: 'You cancelled this request.',
  next: 'There is nothing more to do. You can ask again if the animal still needs a home.',
};

export const ageWords = { baby: 'Under 1 year', young: '1–3 years', adult: '3–8 years', senior: '8+ years' };

export const sexWords = { female: 'Female', male: 'Male' };

export const sizeWords = { small: 'Small', medium: 'Medium', large: 'Large', extra_large: 'Very large' };

export const companionWords = { children: 'Children', dogs: 'Dogs', cats: 'Cats' };

/** Falls back to 'Animal' for a category without a name. */
export const categoryName = (animal: Pet, categories: readonly Category[]): string =>
  categories.find(({ id }) => id === animal.categoryId)?.name ?? 'Animal';
