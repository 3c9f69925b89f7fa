import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { photoReserveOf } from '../../images/photo-store.ts';
import type { Config } from '../../platform/config.ts';
import { type DiskSpace, readDiskSpace } from '../../platform/disk-space.ts';
import { type JournalEntry, readJournalLine } from '../../platform/journal/journal.ts';
import { hasSpareFile, type JournalPlace, listJournalFiles, spareFileOf } from '../../platform/journal-place.ts';
import type { EndedAccess } from './doctor-queries.ts';
import { broken, bytesText, counted, guarded, type Judgement, note, ok, skipped, warning, within } from './finding.ts';

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

/** More than one block, so that room is needed for it. */
const triedBytes = 65_536;

/** Writes a file to a folder and deletes it. Root does not: it may write where the processes may not, and only its permissions count. */
export async function tryFile(folder: string): Promise<void> {
  if (process.getuid?.() === 0) return;
  const file = path.join(folder, `doctor-${randomUUID()}.part`);
  try {
    await using opened = await open(file, 'wx', 0o600);
    await opened.writeFile(Buffer.alloc(triedBytes));
    await opened.sync();
  } finally {
    await rm(file, { force: true });
  }
}

/** Of each file only the end: what is looked for is the latest. */
const readBytesMax = 16_777_216;
export const endedMax = 100;
const shownMax = 5;

/** Whether the journal has what was ended: a journal that was rotated away or emptied looks like one in which nothing has happened yet. */
export async function checkJournalLines({ journalFile, journalDirectory }: JournalPlace, ended: EndedAccess): Promise<Judgement> {
  const place = journalDirectory || journalFile;
  const known = new Set<string>();
  for (const file of listJournalFiles(place)) for (const entry of await readEnd(file)) known.add(nameOf(entry));
  const all = [...ended.keys.map((id) => `key ${id}`), ...ended.clients.map((id) => `client ${id}`)];
  const missing = all.filter((name) => !known.has(name));
  if (missing.length === 0) return ok('The journal has what was revoked and suspended.');
  const shown = missing.slice(0, shownMax).join(', ');
  const found = `The journal ${place} lacks ${counted(missing.length, 'line')} of what was revoked or suspended (${shown}): after a restore, that would work again.`;
  const fix = `Was it rotated or emptied? Append what was taken out of it, such as: cat ${journalFile}.1 >> ${journalFile}. Except it from logrotate.`;
  return warning(found, fix);
}

const nameOf = (entry: JournalEntry): string => ('key' in entry ? `key ${entry.key}` : 'client' in entry ? `client ${entry.client}` : '');

async function readEnd(file: string): Promise<JournalEntry[]> {
  try {
    await using opened = await open(file);
    const { size } = await opened.stat();
    const start = Math.max(0, size - readBytesMax);
    const { buffer, bytesRead } = await opened.read({ buffer: Buffer.alloc(size - start), position: start });
    return buffer.toString('utf8', 0, bytesRead).split('\n').flatMap(entryOf);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function entryOf(text: string): JournalEntry[] {
  try {
    const line = readJournalLine(text);
    return line ? [line.entry] : [];
  } catch {
    // The first line may be cut off.
    return [];
  }
}

/** A server's clock, read between two readings of this machine's. */
export interface ClockReading {
  readonly sentMs: number;
  readonly serverMs: number;
  readonly receivedMs: number;
}

interface Clocks {
  readonly PostgreSQL?: ClockReading | undefined;
  readonly Redis?: ClockReading | undefined;
}

const offMaxMs = 1_000;
const offBrokenMs = 60_000;
const synchronise = 'Synchronise it with NTP (chrony, systemd-timesyncd).';

/** Compares the clocks of the machines. Names the one that is off, if two agree. */
export function judgeClocks(clocks: Clocks): Judgement {
  const known = Object.entries(clocks).flatMap(([server, reading]) => (reading ? [{ server, ...offsetOf(reading) }] : []));
  if (known.length === 0) return skipped('clock', "neither PostgreSQL's nor Redis' clock can be read.");
  const off = known.filter(({ ms, errorMs }) => Math.abs(ms) - errorMs > offMaxMs);
  const worst = off.toSorted((a, b) => Math.abs(b.ms) - Math.abs(a.ms))[0];
  if (!worst) {
    const most = Math.max(...known.map(({ ms, errorMs }) => Math.max(Math.abs(ms) - errorMs, 0)));
    return ok(`This machine and ${known.map(({ server }) => server).join(' and ')} agree to ${(most / 1_000).toFixed(1)} s.`);
  }
  const others = known.filter(({ ms }) => Math.abs(ms - worst.ms) <= offMaxMs);
  const isOwn = known.length === 1 || others.length === known.length;
  const seconds = (Math.abs(worst.ms) / 1_000).toFixed(1);
  const found = isOwn
    ? `The clock of this machine is ${seconds} s ${worst.ms > 0 ? 'behind' : 'ahead of'} that of ${known.map(({ server }) => server).join(' and ')}.`
    : `The clock of ${worst.server} is ${seconds} s ${worst.ms > 0 ? 'ahead of' : 'behind'} that of this machine.`;
  return (Math.abs(worst.ms) > offBrokenMs ? broken : warning)(found, synchronise);
}

/** How far the server is ahead. It read its clock at some instant between the two others. */
function offsetOf({ sentMs, serverMs, receivedMs }: ClockReading): { ms: number; errorMs: number } {
  return { ms: serverMs - (sentMs + receivedMs) / 2, errorMs: (receivedMs - sentMs) / 2 };
}
