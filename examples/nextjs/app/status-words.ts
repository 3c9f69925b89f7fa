import type { PetStatus } from '@homeward/sdk';

export const statusWords: Readonly<Record<PetStatus, string>> = {
  available: 'Needs a home',
  pending: 'Promised',
  sold: 'At home',
};
