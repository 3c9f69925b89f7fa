import { open } from 'node:fs/promises';
import { isIP } from 'node:net';
import path from 'node:path';
import { connect } from 'node:tls';
import type { FastifyBaseLogger } from 'fastify';
import { PhotosElsewhere, requireMark } from '../../animals/photos/photo-mark.ts';
import { hasRoomFor, type PhotoStore } from '../../images/photo-store.ts';
import type { Config } from '../../platform/config.ts';
import type { Db, Writer } from '../../platform/db/handles.ts';
import { type DiskSpace, readDiskSpace } from '../../platform/disk-space.ts';
import { journalFreeBytesMin, makeSpareFile } from '../../platform/journal-place.ts';

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

const stampBytesMax = 64;

/** Reads when the last backup was made: backup scripts write the time into a file, which may be on a disk that they share with the worker. */
export class BackupWatch {
  readonly #file: string;
  /** 0: no backup was made yet. Undefined: not known. */
  madeAtSeconds: number | undefined;

  /** Empty: there is no such file. */
  constructor(file: string) {
    this.#file = file;
  }

  get isKnown(): boolean {
    return this.#file !== '';
  }

  /** A job: it never finds more to do at once. */
  async look(): Promise<0> {
    this.madeAtSeconds = undefined;
    const text = await readStart(this.#file);
    const madeAtMs = text === undefined ? 0 : Date.parse(text);
    if (Number.isNaN(madeAtMs))
      throw new Error(
        // Without what it contains: the variable may name another file by mistake.
        `"${this.#file}", the file in HOMEWARD_BACKUP_STAMP, must contain a time such as 2026-11-16T02:41:07Z, and contains something else`,
      );
    this.madeAtSeconds = madeAtMs / 1_000;
    return 0;
  }
}

/** Undefined: there is no file. */
async function readStart(file: string): Promise<string | undefined> {
  try {
    await using opened = await open(file);
    const { buffer, bytesRead } = await opened.read(Buffer.alloc(stampBytesMax));
    return buffer.toString('utf8', 0, bytesRead).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const timeoutMs = 5_000;

/** Looks at the certificate that callers of the API see. */
export class CertificateWatch {
  readonly #url: URL | null;
  /** As it was last seen. Undefined: not seen yet. */
  expiresAtSeconds: number | undefined;

  /** Empty, or not https: there is no certificate to look at. */
  constructor(publicUrl: string) {
    this.#url = publicUrl.startsWith('https://') ? URL.parse(publicUrl) : null;
  }

  get isKnown(): boolean {
    return this.#url !== null;
  }

  /** A job: it never finds more to do at once. */
  async look(ending?: AbortSignal): Promise<0> {
    if (!this.#url) return 0;
    const { validTo } = await readCertificate(this.#url, ending);
    this.expiresAtSeconds = validTo.getTime() / 1_000;
    return 0;
  }
}

interface SeenCertificate {
  /** Undefined: it is trusted, and for this name. */
  readonly problem: string | undefined;
  readonly validTo: Date;
}

/** Shakes hands and closes: no request is sent, so nothing can redirect it. Rejects with a TimeoutError after some seconds. */
export async function readCertificate(url: URL, ending?: AbortSignal): Promise<SeenCertificate> {
  const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(ending ? [ending] : [])]);
  signal.throwIfAborted();
  const [host, port] = [url.hostname.replace(/^\[|\]$/g, ''), Number(url.port || 443)];
  // Not rejected here: this asks for the date, also of a certificate that has expired or that a private authority has signed.
  const socket = connect({ host, port, rejectUnauthorized: false, ...(isIP(host) === 0 && { servername: host }) });
  const end = () => socket.destroy(signal.reason as Error);
  signal.addEventListener('abort', end, { once: true });
  try {
    await new Promise<void>((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
    const certificate = socket.getPeerX509Certificate();
    if (!certificate) throw new Error(`${host}:${port}, the address in HOMEWARD_PUBLIC_URL, has sent no certificate`);
    return { problem: socket.authorized ? undefined : String(socket.authorizationError), validTo: certificate.validToDate };
  } finally {
    signal.removeEventListener('abort', end);
    socket.destroy();
  }
}

/** Looks whether the photos are where HOMEWARD_PHOTOS says, and marks them as the store's if nobody has. */
export class PhotoWatch {
  readonly #db: Db & Writer;
  readonly #store: PhotoStore | undefined;
  readonly #log: Pick<FastifyBaseLogger, 'error' | 'info'>;
  /** Undefined: photos are off, or not looked at yet. */
  isHere: boolean | undefined;

  constructor(db: Db & Writer, store: PhotoStore | undefined, log: Pick<FastifyBaseLogger, 'error' | 'info'>) {
    this.#db = db;
    this.#store = store;
    this.#log = log;
  }

  /** A job: it never finds more to do at once. That photos are elsewhere is said once. */
  async look(): Promise<0> {
    if (!this.#store) return 0;
    try {
      await requireMark(this.#db, this.#store);
      if (this.isHere === false) this.#log.info('photos are found again');
      this.isHere = true;
    } catch (error) {
      if (!(error instanceof PhotosElsewhere)) throw error;
      if (this.isHere !== false) this.#log.error({ reason: error.message }, 'photos are not found: uploads are rejected until they are');
      this.isHere = false;
    }
    return 0;
  }
}
