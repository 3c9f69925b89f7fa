export const petStatuses = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof petStatuses)[number];

/** The last entry in the history of a removed animal. Not a status: a removed animal is not listed. */
export const removed = 'removed';
