// Where the journal is, as HOMEWARD_JOURNAL says: a file, or a directory with a file for each host. On a file system of a network two hosts
// must not append to the same file, since one may overwrite the line of the other.
import { readdirSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';

export interface JournalPlace {
  /** The file that this host appends to. Empty: none. */
  readonly journalFile: string;
  /** The directory that has it, with a slash at the end. Empty: the journal is this one file. */
  readonly journalDirectory: string;
}

const hostFileEnd = '.host.log';
export const spareFileEnd = '.spare';
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
export const isHostFile = (journalFile: string): boolean => journalFile.endsWith(hostFileEnd);

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
