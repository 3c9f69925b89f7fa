// A process of its own that turns one image, read from standard input, into the pictures that are shown. An image that makes the
// decoder crash, loop or allocate ends only this process; one that takes it over finds a process that can do nothing else.
// image-child.ts starts it and watches it.
//
// The argument is the number of bytes of the image.
// Standard output has a line of JSON, a Result and whether the process is confined, and then the bytes of the pictures, one after the
// other: see image-reply.ts.
import { read, writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { rgbaToThumbHash } from 'thumbhash';
import { heightPerWidthMax, pictureWidths } from './image-reply.ts';
import { enterSandbox } from './image-sandbox.ts';
import type { PhotoFailure } from './image-types.ts';

type Result =
  | { readonly failure: PhotoFailure }
  | {
      /** A ThumbHash in base64. */
      readonly placeholder: string;
      /** The smallest first. */
      readonly pictures: ReadonlyArray<{ readonly width: number; readonly height: number; readonly bytes: number }>;
    };

const pixelsMax = 50_000_000;
const placeholderSidesMax = 100;
const quality = 80;
/** Longer than the deadline in image-child.ts: for a process whose parent was killed. */
const abandonedMs = 130_000;

if (import.meta.main) {
  setTimeout(() => process.exit(1), abandonedMs).unref();
  // libuv registers its own files with the kernel in the first turn of its loop, and could not do so later.
  await setImmediate();
  // Before the first byte of the image, and after everything is loaded.
  const sandbox = enterSandbox();
  const { result, pictures } = await makePictures(await readInput(Number(process.argv[2])));
  write(Buffer.from(`${JSON.stringify({ ...result, isConfined: sandbox !== undefined })}\n`));
  for (const picture of pictures) write(picture);
  sandbox?.exit(0);
}

/** Not by process.stdout, which has to ask the kernel what kind of file it is. */
function write(bytes: Buffer): void {
  for (let offset = 0; offset < bytes.length; ) offset += writeSync(1, bytes, offset);
}

/** Into one piece of memory: a list of chunks that is joined takes four times as much, which a large image needs for its pixels. */
async function readInput(bytesMax: number): Promise<Buffer> {
  const input = Buffer.allocUnsafeSlow(bytesMax);
  for (let offset = 0; offset < bytesMax; ) {
    const { bytesRead } = await promisify(read)(0, input, offset, bytesMax - offset, null);
    if (bytesRead === 0) return input.subarray(0, offset);
    offset += bytesRead;
  }
  return input;
}

async function makePictures(original: Buffer): Promise<{ result: Result; pictures: Buffer[] }> {
  sharp.concurrency(1);
  sharp.cache(false);
  // libvips has decoders for dozens of formats, some of which open further files.
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer', 'VipsForeignLoadWebpBuffer'] });
  try {
    return await resize(original);
  } catch (error) {
    // Of another class: a fault of this program, not of the image.
    if ((error as Error).constructor !== Error) throw error;
    const failure = String(error).includes('pixel limit') ? 'too_many_pixels' : 'unreadable';
    return { result: { failure }, pictures: [] };
  }
}

/** The original is decoded once, to the largest picture. Of an animation only the first frame is read. No metadata is written. */
async function resize(original: Buffer): Promise<{ result: Result; pictures: Buffer[] }> {
  const image = sharp(original, { limitInputPixels: pixelsMax, failOn: 'error' });
  const { autoOrient } = await image.metadata();
  const fitting = pictureWidths.filter((width) => width <= autoOrient.width);
  const sizes: readonly number[] = fitting.length > 0 ? fitting : [autoOrient.width];
  const largest = await image
    .autoOrient()
    .resize(within(sizes.at(-1) ?? 1))
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  const again = () => {
    const { width, height, channels } = largest.info;
    return sharp(largest.data, { raw: { width, height, channels } });
  };
  const made = [];
  for (const width of sizes) {
    made.push(await again().resize(within(width)).webp({ quality }).toBuffer({ resolveWithObject: true }));
  }
  const small = await again()
    .resize({ width: placeholderSidesMax, height: placeholderSidesMax, fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const placeholder = Buffer.from(rgbaToThumbHash(small.info.width, small.info.height, small.data)).toString('base64');
  const pictures = made.map(({ info: { width, height }, data }) => ({ width, height, bytes: data.length }));
  return { result: { placeholder, pictures }, pictures: made.map(({ data }) => data) };
}

function within(width: number) {
  return { width, height: width * heightPerWidthMax, fit: 'inside', withoutEnlargement: true } as const;
}
