import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

interface Asset {
  readonly type: string;
  readonly bytes: Buffer;
}

const types = {
  'style.css': 'text/css; charset=utf-8',
  'apply.js': 'text/javascript; charset=utf-8',
  'favourites.js': 'text/javascript; charset=utf-8',
  'gallery.js': 'text/javascript; charset=utf-8',
  'live.js': 'text/javascript; charset=utf-8',
  'near.js': 'text/javascript; charset=utf-8',
  'share.js': 'text/javascript; charset=utf-8',
  'times.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
  'fonts/figtree.woff2': 'font/woff2',
  'fonts/fraunces.woff2': 'font/woff2',
} as const;
export type AssetName = keyof typeof types;

const files = Object.entries(types).map(([name, type]) => ({
  name,
  type,
  bytes: readFileSync(new URL(`./public/${name}`, import.meta.url)),
}));
/** One hash of all files, so that they can refer to each other and browsers may cache them forever. */
const version = files
  .reduce((hash, { bytes }) => hash.update(bytes), createHash('sha256'))
  .digest('hex')
  .slice(0, 10);
const assets = new Map<string, Asset>(files.map(({ name, ...asset }) => [addressOf(name), asset]));

export const assetAddress = (name: AssetName): string => addressOf(name);

/** Only the files listed above can be requested: no path reaches the file system. */
export const findAsset = (path: string): Asset | undefined => assets.get(path);

function addressOf(name: string): string {
  return `/public/${version}/${name}`;
}
