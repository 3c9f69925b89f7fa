import path from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../../platform/config.ts';
import { type DiskSpace, readDiskSpace } from '../../platform/disk-space.ts';
import { journalFreeBytesMin, makeSpareFile } from '../../platform/journal/spare-file.ts';
import { hasRoomFor } from '../../store/photos/free-space.ts';

interface Seen {
  readonly freeBytes: number;
  readonly totalBytes: number;
  readonly isFull: boolean;
}

interface Place {
  readonly name: 'journal' | 'photos';
  readonly folder: string;
  isFull(space: DiskSpace): boolean;
}

/** Looks at the disks of the journal and of photos in a directory, and makes the journal's spare file again when there is room. */
export class DiskWatch {
  readonly #places: readonly Place[];
  readonly #journalFile: string;
  readonly #log: Pick<FastifyBaseLogger, 'warn' | 'info'>;
  readonly #seen = new Map<Place['name'], Seen>();
  #hasSpare = true;

  constructor({ journalFile, photos }: Pick<Config, 'journalFile' | 'photos'>, log: Pick<FastifyBaseLogger, 'warn' | 'info'>) {
    this.#journalFile = journalFile;
    this.#log = log;
    const journal: Place = {
      name: 'journal',
      folder: path.dirname(path.resolve(journalFile)),
      isFull: ({ freeBytes, hasNoInode }) => freeBytes < journalFreeBytesMin || hasNoInode,
    };
    const directory = photos && 'directory' in photos ? photos.directory : undefined;
    this.#places = [
      ...(journalFile ? [journal] : []),
      ...(directory
        ? [{ name: 'photos', folder: directory, isFull: (space) => !hasRoomFor('original', space) } as const satisfies Place]
        : []),
    ];
  }

  /** A job: it never finds more to do at once. */
  async look(): Promise<0> {
    for (const { name, folder, isFull } of this.#places) {
      const space = await readDiskSpace(folder);
      this.#note(name, { freeBytes: space.freeBytes, totalBytes: space.totalBytes, isFull: isFull(space) });
    }
    if (this.#journalFile) this.#ensureSpare();
    return 0;
  }

  /** What was seen last. */
  [Symbol.iterator](): Iterator<[Place['name'], Seen]> {
    return this.#seen.entries();
  }

  #note(disk: Place['name'], seen: Seen): void {
    const wasFull = this.#seen.get(disk)?.isFull ?? false;
    this.#seen.set(disk, seen);
    const { freeBytes, isFull } = seen;
    if (isFull && !wasFull) this.#log.warn({ disk, freeBytes }, 'disk full');
    if (!isFull && wasFull) this.#log.info({ disk, freeBytes }, 'disk has room again');
  }

  /** Without one the journal still works. So this is said once, and the job does not fail. */
  #ensureSpare(): void {
    try {
      makeSpareFile(this.#journalFile);
      this.#hasSpare = true;
    } catch (error) {
      if (this.#hasSpare) this.#log.warn({ err: error }, 'the spare file of the journal could not be made');
      this.#hasSpare = false;
    }
  }
}
