import type { Readable } from 'node:stream';

/** Originals are private and are deleted once they are processed. Only files of `photos` are served. */
export type Folder = 'originals' | 'photos';

/** `originals/NAME`, or `photos/HASH.webp` with the SHA-256 of the content. */
export type FileName = `${Folder}/${string}`;

export interface StoredFile {
  readonly bytes: number;
  readonly stream: Readable;
}

export interface ListedFile {
  readonly name: FileName;
  readonly modifiedAt: Date;
}

/** Where the files of photos are. A file is there completely or not at all. */
export interface PhotoStore {
  /** Replaces a file of the same name, which then counts as modified now. */
  put(name: FileName, content: Buffer | AsyncIterable<Buffer>): Promise<void>;
  /** Undefined if there is no such file. The caller must read the stream to its end, or destroy it. */
  get(name: FileName): Promise<StoredFile | undefined>;
  /** The size in bytes, without reading the file. Undefined if there is no such file. */
  sizeOf(name: FileName): Promise<number | undefined>;
  /** Does nothing if there is no such file. */
  delete(name: FileName): Promise<void>;
  list(folder: Folder): AsyncIterable<ListedFile>;
}

export const pictureName = (hash: string): FileName => `photos/${hash}.webp`;
