// A small disk, in memory, to be filled.
import { execFile } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const block = Buffer.alloc(4_096, 1);

export class SmallDisk implements AsyncDisposable {
  /** Where it is mounted. */
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Throws where this user may not mount: that takes root, or CAP_SYS_ADMIN in a container. */
  static async mount(megabytes: number): Promise<SmallDisk> {
    const folder = mkdtempSync(path.join(tmpdir(), 'homeward-disk-'));
    try {
      await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0777`, 'homeward', folder]);
    } catch (error) {
      rmSync(folder, { recursive: true });
      throw error;
    }
    return new SmallDisk(folder);
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.folder);
    return bavail * bsize;
  }

  /** Takes no memory for what is free. */
  async resize(megabytes: number): Promise<void> {
    await run('mount', ['-o', `remount,size=${megabytes}m`, this.folder]);
  }

  /** Fills it to the last byte. */
  fill(): void {
    const file = openSync(path.join(this.folder, 'filler'), 'a');
    try {
      for (;;) writeSync(file, block);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(file);
    }
  }

  /** Writes so much to it that this part of its size is left. */
  fillTo(freePart: number): void {
    const { blocks, bavail, bsize } = statfsSync(this.folder);
    const file = openSync(path.join(this.folder, 'filler'), 'a');
    try {
      for (let left = (bavail - freePart * blocks) * bsize; left > 0; left -= block.length) writeSync(file, block);
    } finally {
      closeSync(file);
    }
  }

  empty(): void {
    rmSync(path.join(this.folder, 'filler'), { force: true });
  }

  /** Until it is disposed of, nobody may write or delete this file of it, not even root. */
  async protect(file: string): Promise<AsyncDisposable> {
    await run('mount', ['--bind', file, file]);
    await run('mount', ['-o', 'remount,bind,ro', file]);
    return { [Symbol.asyncDispose]: async () => void (await run('umount', [file])) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await run('umount', ['--lazy', this.folder]);
    rmSync(this.folder, { recursive: true });
  }
}

/** Whether this user may mount. */
export const canMount = async (): Promise<boolean> => {
  try {
    await using _ = await SmallDisk.mount(1);
    return true;
  } catch {
    return false;
  }
};
