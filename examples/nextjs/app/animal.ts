import type { PetListing, PetStatus } from '@homeward/sdk';

/** Pending is an animal that is reserved, and one that can't be adopted yet. */
export const statusWords: Readonly<Record<PetStatus, string>> = {
  available: 'Needs a home',
  pending: 'Not available now',
  sold: 'Has found a home',
};

/** Such as "Beagle, young, female". What is not known is left out. */
export const factsOf = ({ profile: { breeds, age, sex } }: PetListing): string =>
  [breeds.primary, age, sex].filter((fact) => fact && fact !== 'unknown').join(', ');
