// How a worker asks `homeward images` for the pictures of an image. One image on a connection:
// - The worker sends the number of bytes (32 bits, big-endian) and the bytes, and keeps the connection open. If it closes it, decoding
//   ends. The number 0 asks only whether somebody listens.
// - The reply is that of image-process.ts (see image-reply.ts), or one of the lines below. Then `homeward images` closes.

/** The types of images that are accepted. */
export const imageTypes = ['image/jpeg', 'image/png', 'image/webp'] as const;

export const photoBytesMax = 20_000_000;

/** How many bytes the type is recognised from. */
export const signatureBytes = 12;

/** What the first bytes of a file say that it is; undefined: something else. */
export function recogniseImage(start: Buffer): (typeof imageTypes)[number] | 'image/heic' | undefined {
  if (start.length < signatureBytes) return undefined;
  if (start.readUIntBE(0, 3) === 0xffd8ff) return 'image/jpeg';
  if (start.toString('latin1', 0, 8) === '\x89PNG\r\n\x1a\n') return 'image/png';
  if (start.toString('latin1', 0, 4) === 'RIFF' && start.toString('latin1', 8, 12) === 'WEBP') return 'image/webp';
  // HEIC and AVIF are in the container of ISO media files.
  return start.toString('latin1', 4, 8) === 'ftyp' && isStillImage(start.toString('latin1', 8, 12)) ? 'image/heic' : undefined;
}

const isStillImage = (brand: string) => /^(hei[cmsx]|hev[cmsx]|mif1|msf1|avif)$/.test(brand);

/** The length before an image. */
export const headBytes = 4;

export const readyLine = '{"ready":true}\n';

/** It decodes nothing at the moment, whatever the image. */
export const unavailableLine = (why: 'busy' | 'stopping') => `{"unavailable":"${why}"}\n`;
const unavailable = /^\{"unavailable":"(busy|stopping)"\}\n$/;
const lineBytesMax = 100;

/** Undefined: it is another reply. */
export const readUnavailable = (reply: Buffer): string | undefined => unavailable.exec(reply.toString('latin1', 0, lineBytesMax))?.[1];

/** Why a photo could not be processed. The message is for the person who has sent it. */
export const photoFailures = {
  unreadable: 'The file is damaged or is not a JPEG, PNG or WebP image. Save it again, and send it again.',
  too_many_pixels: 'The image has more than 50 megapixels. Make it smaller, and send it again.',
  too_expensive: 'The image takes too much time or memory to process. Save it as a JPEG with fewer pixels, and send it again.',
  storage_limit: 'The client stores as many bytes of photos as its plan allows. Remove photos, and send this one again a day later.',
  not_processed: 'The image could not be processed in 5 attempts. Send it again, or save it as a JPEG first.',
} as const;

export type PhotoFailure = keyof typeof photoFailures;
