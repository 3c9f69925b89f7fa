import type { PetListing, PetStatus } from '@homeward/sdk';
import { type Html, html } from './html.ts';
import type { OwnState } from './own-requests.ts';
import { shownOf } from './shown-status.ts';

interface Known {
  /** What the visitor's own request for the animal has come to. */
  readonly own?: OwnState | undefined;
  /** The status of all animals of the list, which its heading says once. */
  readonly usual?: PetStatus | undefined;
}

export function statusBadge(listing: PetListing, { own, usual }: Known = {}): Html | false {
  if (own) return html`<span class="badge" data-status="own">${own.words}</span>`;
  const { status, words } = shownOf(listing);
  return status !== usual && html`<span class="badge" data-status="${status}">${words}</span>`;
}
