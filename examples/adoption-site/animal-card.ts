import type { Category, Pet, PetListing } from '@homeward/sdk';
import { ageText, breedText, distanceText, sexText, townOf } from './animal-facts.ts';
import { type Html, html } from './html.ts';
import { pictureOf, type Shown } from './photo.ts';
import { categoryName, statusWords } from './words.ts';

/** Cards are two in a row on a phone and four on a desktop. */
const sizes = '(min-width: 48rem) 16rem, 40vw';

export function animalCard(listing: PetListing, categories: readonly Category[], loading: Shown['loading'] = 'lazy'): Html {
  const { pet, profile, shelter, distanceKm } = listing;
  const about = [ageText(profile), sexText(profile)?.toLowerCase()].filter((text) => text !== undefined);
  const place = distanceText(distanceKm) ?? townOf(shelter);
  return html`<li class="card" data-animal="${pet.id}"><a href="/animals/${pet.id}">${pictureOf(listing, { sizes, loading })}
<h2>${pet.name}</h2><span class="kind">${breedText(profile) ?? categoryName(pet, categories)}</span>
${about.length > 0 && html`<span class="kind">${capital(about.join(', '))}</span>`}
${place !== undefined && html`<span class="kind place">${capital(place)}</span>`}
${statusBadge(pet)}</a></li>
`;
}

export const statusBadge = ({ status }: Pet): Html => html`<span class="badge" data-status="${status}">${statusWords[status]}</span>`;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
