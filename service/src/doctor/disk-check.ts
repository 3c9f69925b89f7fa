import { constants } from 'node:fs';
import { access, open, statfs } from 'node:fs/promises';
import path from 'node:path';
import { broken, bytesText, type Finding, guarded, ok, warning, within } from './finding.ts';

const timeoutMs = 5_000;
const mebibyte = 1_048_576;
const fullBytes = 64 * mebibyte;
const lowBytes = 10_240 * mebibyte;
const lowShare = 0.1;

interface Place {
  readonly what: string;
  readonly folder: string;
}

/**
 * Room where the process writes, which is the journal, and where a PostgreSQL of this machine stores its data. `dataDirectory` is
 * undefined if PostgreSQL is elsewhere, or does not tell.
 */
export async function checkDisk(journalFile: string, dataDirectory: string | undefined): Promise<readonly Finding[]> {
  const places: Place[] = [
    ...(journalFile ? [{ what: 'the journal', folder: path.dirname(path.resolve(journalFile)) }] : []),
    ...(dataDirectory ? [{ what: "PostgreSQL's data", folder: dataDirectory }] : []),
  ];
  const findings = (await Promise.all(places.map((place) => guarded('disk', () => checkPlace(place))))).flat();
  const journal = journalFile ? await guarded('disk', () => checkJournal(journalFile)) : [];
  const bad = [...findings, ...journal].filter(({ severity }) => severity !== 'ok');
  if (bad.length > 0) return bad;
  return [ok('disk', findings.map(({ found }) => found).join(' ') || 'This process writes no file.')];
}

async function checkPlace({ what, folder }: Place): Promise<Finding> {
  const { bsize, blocks, bavail, files, ffree } = await within(timeoutMs, `statfs of ${folder}`, statfs(folder));
  const [free, total] = [bavail * bsize, blocks * bsize];
  const found = `${bytesText(free)} of ${bytesText(total)} are free for ${what} (${folder}).`;
  const fix = 'Make room: old logs and backups, or a larger disk.';
  if (files > 0 && ffree === 0)
    return broken('disk', `No file can be added for ${what} (${folder}): no inode is left.`, 'Delete files there.');
  if (free < Math.min(fullBytes, total * lowShare)) return broken('disk', found, fix);
  return free < Math.min(lowBytes, total * lowShare) ? warning('disk', found, fix) : ok('disk', found);
}

/** Opens it as the journal does, and writes nothing. It is not created: that would be by the wrong user. */
async function checkJournal(file: string): Promise<Finding> {
  try {
    const opened = await open(file, constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK);
    await opened.close();
    return ok('disk', 'The journal can be written.');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && (await isWritable(path.dirname(path.resolve(file))))) return ok('disk', 'The journal can be created.');
    const found = `The journal ${file} can't be written (${code}), so that revocations, suspensions and erasures fail.`;
    return broken('disk', found, 'Correct HOMEWARD_JOURNAL, or the permissions of the file and its folder.');
  }
}

const isWritable = (folder: string) =>
  access(folder, constants.W_OK).then(
    () => true,
    () => false,
  );
