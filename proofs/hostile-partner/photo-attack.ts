// A photo of a hundred kilobytes whose renditions have thirteen times as many: squares of noise, which JPEG has in a few bits and WebP not.
import { randomBytes } from 'node:crypto';
import sharp from 'sharp';
import type { Response } from '../../testkit/http.ts';
import { petOf, type Step, urlOf } from './attack.ts';

/** As large as the largest rendition: 1,600 wide, and four times as high. */
const squares = { width: 100, height: 400 };
const squareSide = 16;
const worstQuality = 1;

let made: Promise<Buffer> | undefined;

export async function sendSwellingPhoto({ http, target, keys, index }: Step): Promise<Response> {
  return http.send(`${urlOf(target, index)}/pets/${petOf(target, index)}/photos`, {
    method: 'POST',
    key: keys.shelter,
    raw: await makeSwellingPhoto(),
    headers: { 'content-type': 'image/jpeg' },
  });
}

/** Each is another file, since bytes after the end of an image are ignored. */
export async function makeSwellingPhoto(): Promise<Buffer> {
  const noise = randomBytes(3 * squares.width * squares.height).map((byte) => (byte & 1) * 255);
  made ??= sharp(noise, { raw: { ...squares, channels: 3 } })
    .resize({ width: squareSide * squares.width, kernel: 'nearest' })
    .jpeg({ quality: worstQuality })
    .toBuffer();
  return Buffer.concat([await made, randomBytes(8)]);
}
