// The files of photos and the rows that refer to them, compared.
import { hash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { PhotoStore } from '../../service/src/images/photo-store.ts';
import { queryStore } from '../../testkit/adopters.ts';
import type { Store } from '../../testkit/store.ts';

export interface Compared {
  /** Files of ready photos that are missing or have another content than their name says. */
  readonly broken: number;
  /** Files that no row refers to. */
  readonly withoutRow: number;
  readonly files: number;
  /** In all pictures together. */
  readonly metadataBytes: number;
  readonly withSecret: number;
}

/** `secret` is a text in the metadata of each original. */
export async function compareFiles(store: Store, files: PhotoStore, secret: string): Promise<Compared> {
  const rows = await queryStore<{ hash: string }>(
    store,
    `select distinct file ->> 'hash' as hash from photos cross join jsonb_array_elements(files) as file where status = 'ready'`,
  );
  const named = new Set(rows.map((row) => row.hash));
  let [broken, withoutRow, found, metadata, withSecret] = [0, 0, 0, 0, 0];
  for await (const page of files.list('originals')) withoutRow += page.length;
  for await (const name of flatten(files.list('photos'))) {
    const file = await files.get(name);
    const content = file ? await buffer(file.stream) : Buffer.alloc(0);
    const isNamed = named.delete(hash('sha256', content, 'hex')) && name.includes(hash('sha256', content, 'hex'));
    if (!isNamed) withoutRow += 1;
    found += 1;
    metadata += metadataBytes(content);
    if (content.includes(secret)) withSecret += 1;
  }
  broken += named.size;
  return { broken, withoutRow, files: found, metadataBytes: metadata, withSecret };
}

async function* flatten<T>(pages: AsyncIterable<readonly T[]>): AsyncIterable<T> {
  for await (const page of pages) yield* page;
}

/** The bytes of the chunks of a WebP that have metadata. */
export function metadataBytes(webp: Buffer): number {
  let bytes = 0;
  for (let at = 12; at + 8 <= webp.length; ) {
    const length = webp.readUInt32LE(at + 4);
    if (['EXIF', 'XMP ', 'ICCP'].includes(webp.toString('latin1', at, at + 4))) bytes += length;
    at += 8 + length + (length % 2);
  }
  return bytes;
}
