import type { Hold } from './hold-schemas.ts';

/** The hold of an animal, as it is stored. */
export interface StoredHold extends Hold {
  /** Whether its end makes the animal available, unless an order is open. */
  readonly releases: boolean;
  /** Its time has come, and the worker will end it. It holds nothing any more. */
  readonly isOver: boolean;
}

/** For a select from pets: null if the animal is not held. */
export const holdColumns = `hold_reason as "holdReason", hold_until as "holdUntil", hold_note as "holdNote",
  hold_releases as "holdReleases", coalesce(hold_until <= now(), false) as "isHoldOver"`;

export interface HoldColumns {
  readonly holdReason: Hold['reason'] | null;
  readonly holdUntil: Date | null;
  readonly holdNote: string | null;
  readonly holdReleases: boolean | null;
  readonly isHoldOver: boolean;
}

/** Splits a row into its hold and the rest. */
export function splitHold<Row extends HoldColumns>(row: Row): { hold: StoredHold | undefined; rest: Omit<Row, keyof HoldColumns> } {
  const { holdReason, holdUntil, holdNote, holdReleases, isHoldOver, ...rest } = row;
  if (holdReason === null) return { hold: undefined, rest };
  return {
    hold: { reason: holdReason, until: holdUntil, note: holdNote, releases: holdReleases === true, isOver: isHoldOver },
    rest,
  };
}
