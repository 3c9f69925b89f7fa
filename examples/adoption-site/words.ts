import type { Category, Order, Pet, PetStatus } from '@homeward/sdk';

export const siteName = 'Second Home';

export const statusWords: Readonly<Record<PetStatus, string>> = {
  available: 'Needs a home',
  pending: 'Promised',
  sold: 'At home',
};

export const orderWords: Readonly<Record<Order['status'], string>> = {
  placed: 'Your request is with the shelter.',
  approved: 'The shelter has agreed. Arrange the day with them.',
  completed: 'You have adopted.',
  cancelled: 'The adoption was called off.',
  expired: 'The shelter did not decide in time. You can ask again if the animal still needs a home.',
  returned: 'The animal has come back to the shelter.',
};

export const ageWords = { baby: 'Under 1 year', young: '1–3 years', adult: '3–8 years', senior: '8+ years' };

export const sexWords = { female: 'Female', male: 'Male' };

export const sizeWords = { small: 'Small', medium: 'Medium', large: 'Large', extra_large: 'Very large' };

export const companionWords = { children: 'Children', dogs: 'Dogs', cats: 'Cats' };

/** Falls back to 'Animal' for a category without a name. */
export const categoryName = (animal: Pet, categories: readonly Category[]): string =>
  categories.find(({ id }) => id === animal.categoryId)?.name ?? 'Animal';
