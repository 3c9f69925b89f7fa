/** For an LRUCache of at most `max` entries that takes room as it fills: its own `max` takes all of it at once, and tens of milliseconds. */
export const growingTo = (max: number) => ({ maxSize: max, sizeCalculation: () => 1 });
