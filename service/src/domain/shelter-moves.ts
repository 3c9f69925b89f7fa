/** How the history says that an animal was moved to another shelter. `homeward verify` reads it. */
export const movedWhy = (from: bigint, to: bigint): string => `moved from shelter ${from} to shelter ${to}`;

/** Undefined if a row of the history is about something else. */
export function readMove(why: string): { readonly from: bigint; readonly to: bigint } | undefined {
  const [, from, to] = /^moved from shelter (\d+) to shelter (\d+)$/.exec(why) ?? [];
  return from === undefined || to === undefined ? undefined : { from: BigInt(from), to: BigInt(to) };
}
