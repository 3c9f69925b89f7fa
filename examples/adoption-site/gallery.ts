import type { PetListing, Photo } from '@homeward/sdk';
import { type Html, html } from './html.ts';
import { photoOf } from './photo.ts';
import { silhouetteOf } from './silhouettes.ts';

const sizes = { slide: '(min-width: 72rem) 38rem, (min-width: 48rem) 55vw, 94vw', thumb: '5rem' };

/**
 * The photos side by side: they are swiped, scrolled with the arrow keys, or chosen below, also without JavaScript. Each is a link to its
 * largest file, which `public/gallery.js` shows above the page.
 */
export function gallery({ pet, photos }: PetListing): Html {
  if (photos.length === 0) return silhouetteOf(pet);
  const slides = photos.map((photo, index) => {
    const label = labelOf(photo, pet.name, index, photos.length);
    const shown = photoOf(photo, label, { sizes: sizes.slide, loading: index === 0 ? 'first' : 'lazy' });
    return html`<li id="photo-${index + 1}"><a href="${photo.urls.at(-1)?.url}" aria-label="${label}: enlarge">${shown}</a></li>`;
  });
  const thumbs = photos.map(
    (photo, index) =>
      html`<a href="#photo-${index + 1}" aria-label="Show photo ${index + 1}">${photoOf({ ...photo, alt: '' }, '', { sizes: sizes.thumb, loading: 'lazy' })}</a>`,
  );
  return html`<section class="gallery" aria-label="Photos of ${pet.name}">
<ul class="slides">${slides}</ul>
${photos.length > 1 && html`<nav class="thumbs" aria-label="Photos">${thumbs}</nav>`}
</section>`;
}

/** Also while nobody has written what it shows. */
const labelOf = ({ alt }: Photo, name: string, index: number, count: number): string =>
  `${alt || name}${count > 1 ? `, photo ${index + 1} of ${count}` : ''}`;
