import { photoFailures } from '../../images/image-types.ts';
import type { PhotoRow, PictureFile } from './photo-queries.ts';

export type { PictureFile };

/** A photo as the bytes that every response carries. `photosUrl` is the base of the URLs, without a slash at the end. */
export function photoJson({ id, status, alt, width, height, placeholder, files, failure }: PhotoRow, photosUrl: string): string {
  const isReady = status === 'ready';
  const urls = isReady
    ? (files ?? []).map((file) => ({ width: file.width, height: file.height, url: `${photosUrl}/${file.hash}.webp` }))
    : [];
  const rest = JSON.stringify({
    status,
    alt: alt ?? '',
    width,
    height,
    placeholder,
    urls,
    ...(failure && { failure: { code: failure, message: photoFailures[failure] } }),
  });
  return `{"id":${id},${rest.slice(1)}`;
}

export const photosJson = (photos: readonly PhotoRow[], photosUrl: string): string =>
  `[${photos.map((photo) => photoJson(photo, photosUrl)).join(',')}]`;
