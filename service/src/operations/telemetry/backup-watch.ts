import { open } from 'node:fs/promises';

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
