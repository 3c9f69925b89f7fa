import { type Html, html } from '../../platform/html.ts';
import type { PictureFile } from '../../store/photos/photo-json.ts';
import { icon } from '../frame/elements.ts';

/** A small square picture, or a drawing in its place. It says nothing that the name beside it does not say. */
export const thumbnail = (file: PictureFile | undefined, photosUrl: string): Html =>
  file
    ? html`<img class="thumb" src="${photosUrl}/${file.hash}.webp" width="56" height="56" alt="" loading="lazy" decoding="async">`
    : html`<span class="thumb">${icon('paw')}</span>`;
