import { type PetListing, placeholderColor } from '@homeward/sdk';

/** A path is one of the store. */
const addressOf = (url: string) => new URL(url, process.env['HOMEWARD_URL']).href;

/** The first photo. The browser loads the smallest file that will do for its width on the page, and shows its colour until then. */
export function Photo({ animal: { pet, photos }, sizes }: { animal: PetListing; sizes: string }) {
  const [photo] = photos;
  if (!photo) return <span className="photo">No photo yet</span>;
  const { urls, alt, placeholder } = photo;
  return (
    // biome-ignore lint/performance/noImgElement: the store has files of several widths already.
    <img
      className="photo"
      src={addressOf(urls[0]?.url ?? '')}
      srcSet={urls.map(({ url, width }) => `${addressOf(url)} ${width}w`).join(', ')}
      sizes={sizes}
      alt={alt || pet.name}
      style={{ backgroundColor: placeholderColor(placeholder) }}
    />
  );
}
