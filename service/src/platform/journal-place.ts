// Where the journal is, as HOMEWARD_JOURNAL says: a file, or a directory with a file for each host. On a file system of a network two hosts
// must not append to the same file, since one may overwrite the line of the other.
import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, statfsSync, statSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';

export interface JournalPlace {
  /** The file that this host appends to. Empty: none. */
  readonly journalFile: string;
  /** The directory that has it, with a slash at the end. Empty: the journal is this one file. */
  readonly journalDirectory: string;
}

/** What HOMEWARD_JOURNAL names; empty if it is not set. */
export const journalPlaceOf = ({ journalFile, journalDirectory }: JournalPlace): string => journalDirectory || journalFile;

/** Nothing of the journal was applied. The command or its configuration is wrong. */
export class UnreadableJournal extends Error {}

const hostFileEnd = '.host.log';
const spareFileEnd = '.spare';
/** Bounds the reading. Each pod that writes a line adds a file. */
const filesMax = 10_000;

export function findJournalPlace(setting: string): JournalPlace {
  if (!setting || !isDirectory(setting)) return { journalFile: setting, journalDirectory: '' };
  const journalDirectory = `${setting.replace(/\/+$/, '')}/`;
  return { journalFile: `${journalDirectory}${hostFileName()}`, journalDirectory };
}

/** A slash at the end counts too: a disk that is not mounted must not turn the directory into a file. */
function isDirectory(setting: string): boolean {
  if (setting.endsWith('/')) return true;
  try {
    return statSync(setting, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    // What can't be looked at can't be written either: that is said when a line is to be written, and by doctor.
    return false;
  }
}

const hostFileName = (): string => `${hostname().replaceAll(/[^A-Za-z0-9.-]/g, '_') || 'host'}${hostFileEnd}`;

/** Whether it is the file of one host in a directory. */
const isHostFile = (journalFile: string): boolean => journalFile.endsWith(hostFileEnd);

/** The files of a journal: a file itself, or all files of a directory but its spare file and hidden ones, in the order of their names. */
export function listJournalFiles(place: string): readonly string[] {
  if (!(statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false)) return [place];
  const files = readdirSync(place)
    .filter((name) => !name.startsWith('.') && !name.endsWith(spareFileEnd))
    .map((name) => path.join(place, name))
    .filter((file) => statSync(file).isFile())
    .toSorted();
  if (files.length > filesMax)
    throw new Error(`${place} has more than ${filesMax} files. Append those of hosts that are gone to one file.`);
  return files;
}

// A file beside the journal that takes room on its disk. When the disk is full, it is deleted, and the journal has that room: a partner
// that fills the disk must not prevent that its key is revoked. It is made again when the disk has room again.

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
