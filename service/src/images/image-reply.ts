// What the process that decodes images says of one. It may have been taken over by the image, so nothing that it says is trusted: the
// pictures are served to the public from the store's own origin.
import { hash } from 'node:crypto';
import { type PhotoFailure, photoFailures, recogniseImage } from './image-types.ts';

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly hash: string;
  readonly content: Buffer;
}

/** `crashed`: no valid result; the next attempt may succeed. */
export type DecodingOutcome =
  | { readonly failure: PhotoFailure }
  | { readonly crashed: string }
  | {
      /** Whether the process says that the kernel restricts it. Of use only if the image is a known one. */
      readonly isConfined: boolean;
      readonly placeholder: string;
      readonly pictures: readonly Picture[];
    };

/** All widths that are made of a photo that is large enough. */
export const pictureWidths = [320, 800, 1_600] as const;
/** A picture is at most this many times as high as it is wide. */
export const heightPerWidthMax = 4;
/** A line of JSON and the pictures. */
export const replyBytesMax = 32_000_000;
const lineBytesMax = 1_000;
const widthMax = Math.max(...pictureWidths);
const crashTextMax = 100;

/** Reads a line of JSON and the bytes of the pictures that it names. Anything else is a crash. */
export function readReply(reply: Buffer): DecodingOutcome {
  const end = reply.subarray(0, lineBytesMax).indexOf('\n');
  if (end === -1) return invalid('it has no first line');
  const result = parse(reply.toString('utf8', 0, end));
  if (!isObject(result)) return invalid('its first line is no JSON object');
  const { failure, crashed, placeholder, pictures, isConfined } = result;
  if (typeof failure === 'string') return isFailure(failure) ? { failure } : invalid('it has an unknown code');
  if (typeof crashed === 'string') return { crashed: crashed.slice(0, crashTextMax) };
  if (!isPlaceholder(placeholder)) return invalid('its placeholder is none');
  const sizes = readSizes(pictures);
  if (!sizes) return invalid('its list of pictures is none');
  const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0);
  if (end + 1 + bytes !== reply.length) return invalid('its pictures have another length');
  let from = end + 1;
  const read = sizes.map((size) => {
    const content = reply.subarray(from, from + size.bytes);
    from += size.bytes;
    return { width: size.width, height: size.height, hash: hash('sha256', content, 'hex'), content };
  });
  if (!read.every(({ content }) => isWebP(content))) return invalid('a picture is no WebP');
  return { isConfined: isConfined === true, placeholder, pictures: read };
}

const invalid = (why: string) => ({ crashed: `invalid reply: ${why}` });

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const isFailure = (code: string): code is PhotoFailure => Object.hasOwn(photoFailures, code);
/** A ThumbHash has 25 bytes at most. */
const isPlaceholder = (value: unknown): value is string => typeof value === 'string' && /^[A-Za-z0-9+/]{4,36}={0,2}$/.test(value);
const isIntegerUpTo = (max: number, value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= max;

interface Size {
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
}

/** The smallest first. Undefined if one is not what image-process.ts makes. */
function readSizes(list: unknown): Size[] | undefined {
  if (!Array.isArray(list) || list.length === 0 || list.length > pictureWidths.length) return undefined;
  const sizes = list.filter((one): one is Size => isObject(one) && isSize(one));
  const areAscending = sizes.every(({ width }, i) => i === 0 || width > (sizes[i - 1]?.width ?? 0));
  return sizes.length === list.length && areAscending ? sizes : undefined;
}

const isSize = ({ width, height, bytes }: Record<string, unknown>) =>
  isIntegerUpTo(widthMax, width) && isIntegerUpTo(widthMax * heightPerWidthMax, height) && isIntegerUpTo(replyBytesMax, bytes);

/** The container says its own length: nothing may follow it. */
const isWebP = (content: Buffer) => recogniseImage(content) === 'image/webp' && content.readUInt32LE(4) + 8 === content.length;
