// Turns the blur placeholder of a photo, a ThumbHash, into a tiny picture that is part of the page.
// The format: https://evanw.github.io/thumbhash/
import { crc32, deflateSync } from 'node:zlib';

const longSide = 12;
const hashBytesMin = 5;
const hashBytesMax = 25;

/** The address of a PNG of a few pixels, which the browser enlarges to a blur; undefined if the placeholder can't be read. */
export function placeholderAddress(placeholder: string | null): string | undefined {
  const hash = Buffer.from(placeholder ?? '', 'base64');
  if (hash.length < hashBytesMin || hash.length > hashBytesMax) return undefined;
  const { width, height, rgb } = decode(hash);
  return `data:image/png;base64,${encodePng(width, height, rgb).toString('base64')}`;
}

interface Channel {
  readonly columns: number;
  readonly rows: number;
  readonly average: number;
  readonly factors: readonly number[];
}

/** A ThumbHash has the average and the lowest frequencies of the luminance and two colour differences. Transparency is left out. */
function decode(hash: Buffer): { width: number; height: number; rgb: Buffer } {
  const byte = (at: number) => hash[at] ?? 0;
  const header = byte(0) | (byte(1) << 8) | (byte(2) << 16);
  const shape = byte(3) | (byte(4) << 8);
  const hasAlpha = header >> 23 !== 0;
  const isLandscape = shape >> 15 !== 0;
  const [long, short] = [hasAlpha ? 5 : 7, shape & 7];
  const [columns, rows] = isLandscape ? [long, short] : [short, long];
  let nibble = (hasAlpha ? 6 : 5) * 2;
  const readChannel = (across: number, down: number, average: number, scale: number): Channel => {
    const factors: number[] = [];
    for (let y = 0; y < down; y += 1) {
      for (let x = y === 0 ? 1 : 0; x * down < across * (down - y); x += 1) {
        factors.push((((byte(nibble >> 1) >> ((nibble & 1) * 4)) & 15) / 7.5 - 1) * scale);
        nibble += 1;
      }
    }
    return { columns: across, rows: down, average, factors };
  };
  const luminance = readChannel(Math.max(3, columns), Math.max(3, rows), (header & 63) / 63, ((header >> 18) & 31) / 31);
  const yellowBlue = readChannel(3, 3, ((header >> 6) & 63) / 31.5 - 1, (((shape >> 3) & 63) / 63) * 1.25);
  const redGreen = readChannel(3, 3, ((header >> 12) & 63) / 31.5 - 1, (((shape >> 9) & 63) / 63) * 1.25);
  const ratio = columns / Math.max(1, rows);
  const [width, height] =
    ratio > 1 ? [longSide, Math.max(1, Math.round(longSide / ratio))] : [Math.max(1, Math.round(longSide * ratio)), longSide];
  const rgb = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const [l, p, q] = [luminance, yellowBlue, redGreen].map((channel) => valueAt(channel, (x + 0.5) / width, (y + 0.5) / height));
      const blue = (l ?? 0) - (2 / 3) * (p ?? 0);
      const red = (3 * (l ?? 0) - blue + (q ?? 0)) / 2;
      rgb.set([red, red - (q ?? 0), blue].map(toByte), (y * width + x) * 3);
    }
  }
  return { width, height, rgb };
}

function valueAt({ columns, rows, average, factors }: Channel, x: number, y: number): number {
  let value = average;
  let at = 0;
  for (let row = 0; row < rows; row += 1) {
    const down = Math.cos(Math.PI * y * row) * 2;
    for (let column = row === 0 ? 1 : 0; column * rows < columns * (rows - row); column += 1) {
      value += (factors[at] ?? 0) * Math.cos(Math.PI * x * column) * down;
      at += 1;
    }
  }
  return value;
}

const toByte = (value: number): number => Math.round(255 * Math.min(1, Math.max(0, value)));

function encodePng(width: number, height: number, rgb: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits a sample, in red, green and blue.
  header.set([8, 2], 8);
  const rows = Buffer.alloc(height * (width * 3 + 1));
  for (let y = 0; y < height; y += 1) rgb.copy(rows, y * (width * 3 + 1) + 1, y * width * 3, (y + 1) * width * 3);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, checksum]);
}
