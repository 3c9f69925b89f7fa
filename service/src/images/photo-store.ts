import type { Readable } from 'node:stream';
import type { DiskSpace } from '../platform/disk-space.ts';

/** Originals are private and are deleted once they are processed. Only files of `photos` are served. */
export type Folder = 'originals' | 'photos';

/** By which a store recognises its own photos. */
export const markName = 'homeward-store-id';

/** `originals/NAME`, or `photos/HASH.webp` with the SHA-256 of the content. */
export type FileName = `${Folder}/${string}` | typeof markName;

export interface StoredFile {
  readonly bytes: number;
  readonly stream: Readable;
}

/** A file was not stored, since the disk is full or the quota of the bucket is used up. Nothing of it remains. */
export class StoreFull extends Error {}

/** Where the files of photos are. A file is there completely or not at all. */
export interface PhotoStore {
  /** False if files should not be added: little room is left, and others may need it. */
  hasRoom(stored: Stored): Promise<boolean>;
  /** Replaces a file of the same name, which then counts as modified now. Throws `StoreFull` if there is no room for it at all. */
  put(name: FileName, content: Buffer | AsyncIterable<Buffer>): Promise<void>;
  /** Undefined if there is no such file. The caller must read the stream to its end, or destroy it. */
  get(name: FileName): Promise<StoredFile | undefined>;
  /** The size in bytes, without reading the file. Undefined if there is no such file. */
  sizeOf(name: FileName): Promise<number | undefined>;
  /** Does nothing if there is no such file. */
  delete(name: FileName): Promise<void>;
  /** When it was put. Undefined if there is no such file. */
  modifiedAt(name: FileName): Promise<Date | undefined>;
  /**
   * All files of a folder, in pages of bounded size, none of them empty. With `after`, a name of a page, only those from that page on: a
   * few before it may come again. None that is there all the time is left out.
   */
  list(folder: Folder, after?: FileName): AsyncIterable<readonly FileName[]>;
}

export const pictureName = (hash: string): FileName => `photos/${hash}.webp`;

const reserveBytes = 1_000_000_000;
const reserveShare = 0.05;

/** What photos leave free on the disk of their directory: 1 GB, or 5% of it if that is more. Others may write there too. */
export const photoReserveOf = ({ totalBytes }: DiskSpace): number => Math.max(reserveBytes, totalBytes * reserveShare);

/** What is to be stored. Pictures may use half of the reserve: their originals are deleted then, which makes room. */
export type Stored = 'original' | 'picture';

/** Some network file systems don't tell their size, which is then 0: they have room until a file can't be written. */
export const hasRoomFor = (stored: Stored, space: DiskSpace): boolean =>
  space.totalBytes === 0 || (space.freeBytes >= photoReserveOf(space) * (stored === 'original' ? 1 : 0.5) && !space.hasNoInode);
