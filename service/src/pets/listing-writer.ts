import type { Transactor } from '../db/handles.ts';

/** Writes what only listings show: profiles, photos and shelters. */
export interface ListingWriter {
  readonly db: Transactor;
  /** Called after a commit and before the response: every process then reads its pages of listings again. */
  announceListings(): Promise<void>;
}
