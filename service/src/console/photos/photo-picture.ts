import { type Html, html } from '../../platform/html.ts';
import type { PhotoRow } from '../../store/photos/photos.ts';

/** A photo that is ready, in the widths that it has. */
export function photoPicture({ alt, width, height, files }: PhotoRow, photosUrl: string): Html {
  const urls = (files ?? []).map((file) => ({ width: file.width, url: `${photosUrl}/${file.hash}.webp` }));
  const [smallest] = urls;
  if (!smallest) return html``;
  const set = urls.map((one) => `${one.url} ${one.width}w`).join(', ');
  return html`<img src="${smallest.url}" srcset="${set}" sizes="(min-width: 48rem) 18rem, 90vw" alt="${alt ?? ''}" width="${width ?? undefined}" height="${height ?? undefined}" loading="lazy" decoding="async">`;
}
