// A file beside the journal that takes room on its disk. When the disk is full, it is deleted, and the journal has that room: a partner
// that fills the disk must not prevent that its key is revoked. It is made again when the disk has room again.
import { randomBytes } from 'node:crypto';
import { rmSync, statfsSync, statSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isHostFile, spareFileEnd } from '../journal-place.ts';

/** Room for some five thousand lines. */
const spareBytes = 1_000_000;
/** With less, the disk counts as full: the spare file is not made, and the alert fires. */
export const journalFreeBytesMin = 10_000_000;

/** The hosts of a directory share one: they also share its disk, and one for each pod that ever ran would fill it. */
export const spareFileOf = (journalFile: string): string =>
  isHostFile(journalFile) ? path.join(path.dirname(journalFile), `journal${spareFileEnd}`) : `${journalFile}${spareFileEnd}`;

export const hasSpareFile = (journalFile: string): boolean =>
  (statSync(spareFileOf(journalFile), { throwIfNoEntry: false })?.size ?? 0) >= spareBytes;

/** Gives its room to the journal. False if there was none to give. */
export function deleteSpareFile(journalFile: string): boolean {
  if (!hasSpareFile(journalFile)) return false;
  const file = spareFileOf(journalFile);
  // In a folder that others own the file may still be writable. If it is not, the full disk decides.
  return succeeds(() => unlinkSync(file)) || succeeds(() => truncateSync(file));
}

function succeeds(run: () => void): boolean {
  try {
    run();
    return true;
  } catch {
    return false;
  }
}

/** Makes the spare file if it is missing and the disk has room. Throws if it can't be written for another reason. */
export function makeSpareFile(journalFile: string): void {
  // Beside a pipe or a device there is no disk to make room on.
  const isFile = statSync(journalFile, { throwIfNoEntry: false })?.isFile() ?? true;
  if (!isFile || hasSpareFile(journalFile)) return;
  const { bavail, bsize } = statfsSync(path.dirname(path.resolve(journalFile)));
  if (bavail * bsize < journalFreeBytesMin) return;
  const file = spareFileOf(journalFile);
  try {
    // Random, since zeros would take no room on a disk that compresses.
    writeFileSync(file, randomBytes(spareBytes), { mode: 0o660, flush: true });
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}
