export const petStatuses = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof petStatuses)[number];

/** What the history of a removed animal ends with. It is no status: a removed animal is in no list. */
export const removed = 'removed';
