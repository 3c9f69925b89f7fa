import { type ShownHold, textOfHold } from '../../domain/holds.ts';

/** A hold as everybody sees it. */
export interface PublicHold {
  readonly shown: ShownHold;
  readonly until: Date | null;
}

export const shownHoldJson = ({ shown, until }: PublicHold): string =>
  JSON.stringify({ reason: shown, text: textOfHold(shown), ...(until && { until }) });
