/** The shelters that an animal was moved between. */
export interface ShelterMove {
  readonly from: bigint;
  readonly to: bigint;
}

/** The columns of a row of history that say whether it is about a move. */
export interface MoveColumns {
  readonly kind: string | null;
  readonly fromShelterId: bigint | null;
  readonly toShelterId: bigint | null;
  readonly why: string;
}

/**
 * The move that a row of history records; undefined: the row is about something else. Rows from before there were kinds say it in words
 * only.
 */
export function readMove({ kind, fromShelterId, toShelterId, why }: MoveColumns): ShelterMove | undefined {
  if (kind !== null) return fromShelterId !== null && toShelterId !== null ? { from: fromShelterId, to: toShelterId } : undefined;
  const [, from, to] = /^moved from shelter (\d+) to shelter (\d+)$/.exec(why) ?? [];
  return from === undefined || to === undefined ? undefined : { from: BigInt(from), to: BigInt(to) };
}
