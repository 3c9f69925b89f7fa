import type { Category, PetListing, PetStatus } from '@homeward/sdk';
import { ageText, breedText, distanceText, sexText, townOf } from './animal-facts.ts';
import { type Html, html } from './html.ts';
import type { OwnState } from './own-requests.ts';
import { pictureOf, type Shown } from './photo.ts';
import { shownOf } from './shown-status.ts';
import { statusBadge } from './status-badge.ts';
import { categoryName } from './words.ts';

/** Cards are two in a row on a phone and four on a desktop. */
const sizes = '(min-width: 48rem) 16rem, 45vw';

export interface CardParts {
  readonly categories: readonly Category[];
  readonly loading?: Shown['loading'];
  /** The status of the whole list, which needs no badge. */
  readonly usual?: PetStatus | undefined;
  /** The visitor's own requests, by the ids of animals. */
  readonly own?: ReadonlyMap<string, OwnState> | undefined;
}

export function animalCard(listing: PetListing, { categories, loading = 'lazy', usual, own }: CardParts): Html {
  const { pet, profile, shelter, distanceKm } = listing;
  const about = [ageText(profile), sexText(profile)?.toLowerCase()].filter((text) => text !== undefined);
  const place = distanceText(distanceKm) ?? townOf(shelter);
  const ownState = own?.get(String(pet.id));
  return html`<li class="card" data-animal="${pet.id}" data-status="${shownOf(listing).status}"${ownState && html` data-own`}><a href="/animals/${pet.id}">${pictureOf(listing, { sizes, loading })}
<h2>${pet.name}</h2><span class="kind">${breedText(profile) ?? categoryName(pet, categories)}</span>
${about.length > 0 && html`<span class="kind">${capital(about.join(', '))}</span>`}
${place !== undefined && html`<span class="kind place">${capital(place)}</span>`}
${statusBadge(listing, { own: ownState, usual })}</a></li>
`;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
