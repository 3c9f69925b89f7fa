/** Does a piece of work `count` times, in so many loops at once. */
export async function inParallel(loops: number, count: number, work: (i: number) => Promise<void>): Promise<void> {
  let next = 0;
  const loop = async () => {
    while (next < count) {
      const i = next;
      next += 1;
      await work(i);
    }
  };
  await Promise.all(Array.from({ length: loops }, loop));
}
