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
