// Hostile and unusual images: each gets pictures or a code, and none ends more than the process that decodes it.
import { Readable } from 'node:stream';
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import type { DecodingOutcome } from '../../src/images/image-reply.ts';
import { makePictures } from '../../src/images/picture-maker.ts';
import { makeImage } from '../photo-steps.ts';

const make = (bytes: Buffer, bounds?: { cpuMsMax: number; deadlineMs: number; memoryMax: number }): Promise<DecodingOutcome> =>
  makePictures({ bytes: bytes.length, stream: Readable.from([bytes]) }, undefined, bounds);

function picturesOf(outcome: DecodingOutcome) {
  if ('pictures' in outcome) return outcome.pictures;
  throw new Error(`no pictures: ${JSON.stringify(outcome)}`);
}

/** A PNG whose header says that it has these sides. */
function pngOf(width: number, height: number, data: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const chunk = (type: string, content: Buffer) => {
    const typed = Buffer.concat([Buffer.from(type), content]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(content.length);
    sum.writeUInt32BE(crc32(typed));
    return Buffer.concat([length, typed, sum]);
  };
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

describe('makePictures refuses', () => {
  test('a header of 50,000 × 50,000 pixels', async () => {
    expect(await make(pngOf(50_000, 50_000, deflateSync(Buffer.alloc(100))))).toEqual({ failure: 'too_many_pixels' });
  });

  test('a bomb: 51 megapixels of zeros in some kilobytes', async () => {
    const bomb = pngOf(10_000, 5_100, deflateSync(Buffer.alloc(10_001 * 5_100)));
    expect(bomb.length).toBeLessThan(100_000);
    expect(await make(bomb)).toEqual({ failure: 'too_many_pixels' });
  });

  test.each(['jpeg', 'png', 'webp'] as const)('a %s that is cut off', async (type) => {
    const image = await sharp({
      create: { width: 800, height: 600, channels: 3, background: 'red', noise: { type: 'gaussian', mean: 128, sigma: 30 } },
    })
      .toFormat(type)
      .toBuffer();
    expect(await make(image.subarray(0, image.length / 2))).toEqual({ failure: 'unreadable' });
  });

  test.each([
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="5" height="5"/>')],
    ['a GIF', Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')],
    ['HTML that begins like a JPEG', Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.from('<script>alert(1)</script>')])],
    ['nothing', Buffer.alloc(0)],
  ])('%s', async (_, bytes) => {
    expect(await make(bytes)).toEqual({ failure: 'unreadable' });
  });

  test('what takes too long or too much memory, and ends that process', async () => {
    const image = await makeImage('red', { width: 4_000, height: 4_000 });
    const generous = { cpuMsMax: 30_000, deadlineMs: 30_000, memoryMax: 1e9 };
    expect(await make(image, { ...generous, cpuMsMax: 20 })).toEqual({ failure: 'too_expensive' });
    expect(await make(image, { ...generous, memoryMax: 1e6 })).toEqual({ failure: 'too_expensive' });
    // The machine may be busy: the next attempt may succeed.
    expect(await make(image, { ...generous, deadlineMs: 5 })).toEqual({ crashed: 'SIGKILL' });
  });
});

describe('makePictures makes pictures of', () => {
  test('the first frame of an animation', async () => {
    const frames = await Promise.all(['red', 'blue'].map((color) => makeImage(color, { width: 100, height: 100, type: 'png' })));
    const animation = await sharp(frames, { join: { animated: true } })
      .webp({ loop: 0, delay: [100, 100] })
      .toBuffer();
    expect((await sharp(animation).metadata()).pages).toBe(2);
    const [picture] = picturesOf(await make(animation));
    const { pages, width, height } = await sharp(picture?.content).metadata();
    expect({ pages: pages ?? 1, width, height }).toEqual({ pages: 1, width: 100, height: 100 });
    const { dominant } = await sharp(picture?.content).stats();
    expect(dominant.r).toBeGreaterThan(200);
  });

  test('a JPEG in CMYK, in sRGB', async () => {
    const cmyk = await sharp(await makeImage('red'))
      .toColourspace('cmyk')
      .jpeg()
      .toBuffer();
    expect((await sharp(cmyk).metadata()).space).toBe('cmyk');
    const [picture] = picturesOf(await make(cmyk));
    expect(await sharp(picture?.content).metadata()).toMatchObject({ space: 'srgb', channels: 3 });
  });

  test('a photo that is stored on its side, upright', async () => {
    const image = await sharp(await makeImage('red', { width: 400, height: 200 }))
      .withMetadata({ orientation: 6 })
      .toBuffer();
    expect(picturesOf(await make(image)).map(({ width, height }) => [width, height])).toEqual([[200, 400]]);
  });

  test('a file that is also something else, without the rest', async () => {
    const polyglot = Buffer.concat([await makeImage('red'), Buffer.from('<script>alert(1)</script>PK\x03\x04')]);
    for (const { content } of picturesOf(await make(polyglot))) expect(content.includes('alert(1)')).toBe(false);
  });

  test('a greyscale PNG with 16 bits and one with transparency', async () => {
    const grey = await sharp(await makeImage('red'))
      .toColourspace('grey16')
      .png()
      .toBuffer();
    const clear = await sharp({ create: { width: 400, height: 300, channels: 4, background: { r: 255, g: 0, b: 0, alpha: 0.5 } } })
      .png()
      .toBuffer();
    for (const image of [grey, clear]) expect(picturesOf(await make(image)).map(({ width }) => width)).toEqual([320]);
  });

  const large = async (kernel: 'cubic' | 'nearest', { width, height }: { width: number; height: number }) => {
    const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
    const small = sharp({ create: { width: 504, height: 378, channels: 3, background: 'tan', noise } });
    return sharp(await small.png().toBuffer()).resize(width, height, { kernel, fit: 'fill' });
  };
  const best = { width: 8_064, height: 6_048 };
  const usual = { width: 4_032, height: 3_024 };
  test.each([
    // As large as the best cameras of phones make them, and what takes most memory: no part of it can be forgotten before the end.
    [
      'progressive JPEG of 48 megapixels that is stored on its side',
      async () => (await large('cubic', best)).jpeg({ quality: 95, progressive: true }).withMetadata({ orientation: 6 }),
    ],
    ['PNG of 12 megapixels', async () => (await large('nearest', usual)).png({ compressionLevel: 3 })],
    ['WebP of 12 megapixels', async () => (await large('cubic', usual)).webp({ quality: 80, effort: 0 })],
  ])('a %s', async (_, image) => {
    const bytes = await (await image()).toBuffer();
    expect(bytes.length).toBeLessThan(20_000_000);
    expect(picturesOf(await make(bytes))).toHaveLength(3);
  });

  test('a picture that is very high, within the bounds of WebP', async () => {
    const [picture] = picturesOf(await make(await makeImage('red', { width: 100, height: 20_000 })));
    expect([picture?.width, picture?.height]).toEqual([2, 400]);
  });
});

test('makePictures is aborted at once when the worker stops', async () => {
  const startedAtMs = performance.now();
  const image = await makeImage('red', { width: 4_000, height: 4_000 });
  const outcome = await makePictures({ bytes: image.length, stream: Readable.from([image]) }, AbortSignal.timeout(20));
  expect(outcome).toEqual({ crashed: 'SIGKILL' });
  expect(performance.now() - startedAtMs).toBeLessThan(5_000);
});
