// Images that are made to do harm. The same in every run: the random numbers have a seed.
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';

export interface HostileImage {
  readonly name: string;
  readonly bytes: Buffer;
}

const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const jpegStart = Buffer.from([0xff, 0xd8, 0xff, 0xe0]);

/** The kinds that are known to break decoders, and `fuzzed` damaged images. */
export async function makeHostileImages(fuzzed: number): Promise<HostileImage[]> {
  const base = sharp({
    create: { width: 300, height: 200, channels: 3, background: 'tan', noise: { type: 'gaussian', mean: 128, sigma: 40 } },
  });
  const valid = [await base.clone().jpeg().toBuffer(), await base.clone().png().toBuffer(), await base.clone().webp().toBuffer()];
  const random = randomNumbers(4_711);
  const damaged = Array.from({ length: fuzzed }, (_, i) => ({
    name: `fuzzed ${i}`,
    bytes: damage(valid[i % valid.length] ?? png, random),
  }));
  return [...(await knownKinds(valid)), ...damaged];
}

async function knownKinds([jpeg = png, ofPng = png, webp = png]: Buffer[]): Promise<HostileImage[]> {
  const frames = await Promise.all(
    ['red', 'blue'].map((background) =>
      sharp({ create: { width: 50, height: 50, channels: 3, background } })
        .png()
        .toBuffer(),
    ),
  );
  return [
    { name: 'header of 50,000 × 50,000', bytes: pngOf(50_000, 50_000, deflateSync(Buffer.alloc(1_000))) },
    { name: 'bomb of 51 megapixels', bytes: pngOf(10_200, 5_000, deflateSync(Buffer.alloc(10_201 * 5_000))) },
    { name: 'bomb within the limit', bytes: pngOf(9_900, 5_000, deflateSync(Buffer.alloc(9_901 * 5_000))) },
    { name: 'JPEG cut off', bytes: jpeg.subarray(0, jpeg.length / 2) },
    { name: 'PNG cut off', bytes: ofPng.subarray(0, ofPng.length / 2) },
    { name: 'WebP cut off', bytes: webp.subarray(0, webp.length / 2) },
    {
      name: 'SVG',
      bytes: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="file:///etc/passwd"/></svg>'),
    },
    { name: 'SVG after the start of a JPEG', bytes: Buffer.concat([jpegStart, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')]) },
    { name: 'JPEG and HTML', bytes: Buffer.concat([jpeg, Buffer.from('<script>alert(1)</script>')]) },
    { name: 'PNG and ZIP', bytes: Buffer.concat([ofPng, Buffer.from('PK\x05\x06'), Buffer.alloc(18)]) },
    {
      name: 'animation',
      bytes: await sharp(frames, { join: { animated: true } })
        .webp({ delay: [1, 1] })
        .toBuffer(),
    },
    { name: 'CMYK', bytes: await sharp(jpeg).toColourspace('cmyk').jpeg().toBuffer() },
    { name: 'progressive JPEG of 40 megapixels', bytes: await largeProgressive() },
    { name: 'HEIC', bytes: Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypheic'), Buffer.alloc(100)]) },
    { name: 'GIF', bytes: Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64') },
    { name: 'nothing', bytes: Buffer.alloc(0) },
  ];
}

const largeProgressive = (): Promise<Buffer> =>
  sharp({ create: { width: 8_000, height: 5_000, channels: 3, background: 'tan' } })
    .jpeg({ progressive: true, chromaSubsampling: '4:4:4' })
    .toBuffer();

/** A PNG whose header says that it has these sides. */
function pngOf(width: number, height: number, data: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  return Buffer.concat([png, chunkOf('IHDR', header), chunkOf('IDAT', data), chunkOf('IEND', Buffer.alloc(0))]);
}

function chunkOf(type: string, content: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type), content]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, sum]);
}

/** Changes, removes and repeats some bytes. The first 12 stay, so that most of the images are accepted and get to the decoder. */
function damage(image: Buffer, random: () => number): Buffer {
  let bytes = Buffer.from(image);
  const changes = 1 + Math.floor(random() * 8);
  for (let i = 0; i < changes; i += 1) {
    const at = 12 + Math.floor(random() ** 2 * (bytes.length - 12));
    const kind = random();
    if (kind < 0.6) bytes[at] = Math.floor(random() * 256);
    else if (kind < 0.7) bytes.fill(0xff, at, Math.min(at + 4, bytes.length));
    else if (kind < 0.8) bytes = bytes.subarray(0, Math.max(13, at));
    else if (kind < 0.9) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + Math.floor(random() * 20))]);
    else bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.floor(at / 2), at), bytes.subarray(at)]);
  }
  return bytes;
}

/** Mulberry32. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
