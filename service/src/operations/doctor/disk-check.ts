import { constants } from 'node:fs';
import { access, open } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../platform/config.ts';
import { type DiskSpace, readDiskSpace } from '../../platform/disk-space.ts';
import { hasSpareFile, spareFileOf } from '../../platform/journal/spare-file.ts';
import { photoReserveOf } from '../../store/photos/free-space.ts';
import { broken, bytesText, guarded, type Judgement, note, ok, warning, within } from './finding.ts';

const timeoutMs = 5_000;
const mebibyte = 1_048_576;
const fullBytes = 64 * mebibyte;
const lowBytes = 10_240 * mebibyte;
const lowShare = 0.1;

interface Place {
  readonly what: string;
  readonly folder: string;
  /** Below these it is full, and low. */
  boundsOf(space: DiskSpace): { readonly full: number; readonly low: number };
  /** What a full disk means. */
  readonly effect?: string;
}

/**
 * Room where the processes write, which is for the journal and for photos in a directory, and where a PostgreSQL of this machine stores
 * its data. `dataDirectory` is undefined if PostgreSQL is elsewhere, or does not tell.
 */
export async function checkDisk(
  { journalFile, photos }: Pick<Config, 'journalFile' | 'photos'>,
  dataDirectory: string | undefined,
): Promise<readonly Judgement[]> {
  const places: Place[] = [
    ...(journalFile ? [{ what: 'the journal', folder: path.dirname(path.resolve(journalFile)), boundsOf }] : []),
    ...(photos && 'directory' in photos ? [{ ...forPhotos, folder: photos.directory }] : []),
    ...(dataDirectory ? [{ what: "PostgreSQL's data", folder: dataDirectory, boundsOf }] : []),
  ];
  const findings = (await Promise.all(places.map((place) => guarded('disk', () => checkPlace(place))))).flat();
  const journal = journalFile ? await guarded('disk', () => checkJournal(journalFile)) : [];
  const bad = [...findings, ...journal].filter(({ severity }) => severity !== 'ok');
  if (bad.length > 0) return bad;
  return [ok(findings.map(({ found }) => found).join(' ') || 'This process writes no file.')];
}

const boundsOf = ({ totalBytes }: DiskSpace) => {
  const share = totalBytes * lowShare;
  return { full: Math.min(fullBytes, share), low: Math.min(lowBytes, share) };
};

const forPhotos = {
  what: 'photos',
  boundsOf: (space: DiskSpace) => ({ full: photoReserveOf(space), low: 2 * photoReserveOf(space) }),
  effect: ', so that uploads are 409 photo_storage_full',
};

async function checkPlace({ what, folder, boundsOf, effect = '' }: Place): Promise<Judgement> {
  const space = await within(timeoutMs, `statfs of ${folder}`, readDiskSpace(folder));
  const { freeBytes, totalBytes, hasNoInode } = space;
  const found = `${bytesText(freeBytes)} of ${bytesText(totalBytes)} are free for ${what} (${folder})`;
  const fix = 'Make room: old logs and backups, or a larger disk.';
  if (hasNoInode) return broken(`No file can be added for ${what} (${folder}): no inode is left${effect}.`, 'Delete files there.');
  const { full, low } = boundsOf(space);
  if (totalBytes === 0) return ok(`The size of the disk for ${what} (${folder}) is not known.`);
  if (freeBytes < full) return broken(`${found}${effect}.`, fix);
  return freeBytes < low ? warning(`${found}.`, fix) : ok(`${found}.`);
}

/** Opens it as the journal does, and writes nothing. It is not created: that would be by the wrong user. */
async function checkJournal(file: string): Promise<Judgement> {
  try {
    const opened = await open(file, constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK);
    const isFile = (await opened.stat()).isFile();
    await opened.close();
    if (!isFile) {
      const found = `The journal ${file} is no file, but a device or a pipe: after a restore, nobody knows what was revoked or erased since.`;
      return broken(found, 'Let HOMEWARD_JOURNAL name a file, on a disk that is backed up.');
    }
    if (hasSpareFile(file)) return ok('The journal can be written.');
    const found = `The journal has no spare file (${spareFileOf(file)}), whose room it uses when its disk is full.`;
    return note(found, 'Start a worker, and let it write in that folder.');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && (await isWritable(path.dirname(path.resolve(file))))) return ok('The journal can be created.');
    const found = `The journal ${file} can't be written (${code}), so that revocations, suspensions and erasures fail.`;
    return broken(found, 'Correct HOMEWARD_JOURNAL, or the permissions of the file and its folder.');
  }
}

const isWritable = (folder: string) =>
  access(folder, constants.W_OK).then(
    () => true,
    () => false,
  );
