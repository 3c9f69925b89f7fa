import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

interface Asset {
  readonly type: string;
  readonly bytes: Buffer;
  /** Contains a hash of the content, so that browsers may cache the file forever. */
  readonly address: string;
}

const types = { 'style.css': 'text/css; charset=utf-8', 'live.js': 'text/javascript; charset=utf-8', 'icon.svg': 'image/svg+xml' } as const;
type AssetName = keyof typeof types;

const assets = new Map<string, Asset>();
const addresses = new Map<AssetName, string>();

for (const [name, type] of Object.entries(types) as Array<[AssetName, string]>) {
  const bytes = readFileSync(new URL(`./public/${name}`, import.meta.url));
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 10);
  const address = `/public/${hash}/${name}`;
  assets.set(address, { type, bytes, address });
  addresses.set(name, address);
}

export const assetAddress = (name: AssetName): string => addresses.get(name) ?? '';

/** Only the files listed above can be requested: no path reaches the file system. */
export const findAsset = (path: string): Asset | undefined => assets.get(path);
