import { statfs } from 'node:fs/promises';
import path from 'node:path';

export interface DiskSpace {
  /** What a process without special rights may still write. */
  readonly freeBytes: number;
  readonly totalBytes: number;
  /** No file can be added, whatever its size. */
  readonly hasNoInode: boolean;
}

/** Of the disk that has this folder. A folder that does not exist yet will be on the disk of the nearest one above it. */
export async function readDiskSpace(folder: string): Promise<DiskSpace> {
  try {
    const { bsize, blocks, bavail, files, ffree } = await statfs(folder);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize, hasNoInode: files > 0 && ffree === 0 };
  } catch (error) {
    const above = path.dirname(folder);
    const isMissing = ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
    if (!isMissing || above === folder) throw error;
    return readDiskSpace(above);
  }
}

/** Whether an operation failed because a disk is full, or a quota on it is used up. */
export const isDiskFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException | null)?.code ?? '');
