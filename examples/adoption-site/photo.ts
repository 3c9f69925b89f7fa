import type { PetListing, Photo } from '@homeward/sdk';
import { type Html, html } from './html.ts';
import { placeholderAddress } from './placeholder.ts';
import { silhouetteOf } from './silhouettes.ts';

export interface Shown {
  /** The width in the layout, for each width of the window, so that the browser loads the smallest file that will do. */
  readonly sizes: string;
  /** first: the main picture of the page. eager: visible without scrolling. */
  readonly loading: 'first' | 'eager' | 'lazy';
}

/** The first photo of an animal, or the silhouette of its kind. */
export const pictureOf = ({ pet, photos }: PetListing, shown: Shown): Html =>
  photos[0] ? photoOf(photos[0], pet.name, shown) : silhouetteOf(pet);

/** The blur below the photo is an image, because the content security policy allows no style in the page. The style sheet smooths it. */
export function photoOf(photo: Photo, animalName: string, { sizes, loading }: Shown): Html {
  const { urls, width, height } = photo;
  const blur = placeholderAddress(photo.placeholder);
  const attributes = html`width="${width ?? 4}" height="${height ?? 3}"`;
  return html`<span class="photo">${blur && html`<img class="blur" src="${blur}" alt="" ${attributes}>`}
<img src="${urls[0]?.url}" srcset="${urls.map((one) => `${one.url} ${one.width}w`).join(', ')}" sizes="${sizes}" ${attributes} alt="${photo.alt || animalName}"${loading === 'lazy' && html` loading="lazy"`}${loading === 'first' && html` fetchpriority="high"`} decoding="async"></span>`;
}

/** Where the photos of these animals are loaded from, for the content security policy. */
export const photoOrigins = (listings: readonly PetListing[]): string[] => [
  ...new Set(listings.flatMap(({ photos }) => photos.flatMap(({ urls }) => urls.map(({ url }) => new URL(url).origin)))),
];
