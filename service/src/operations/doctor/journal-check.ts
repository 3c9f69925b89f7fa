import { open } from 'node:fs/promises';
import type { JournalEntry } from '../../platform/journal/journal.ts';
import { readJournalLine } from '../../platform/journal/journal-lines.ts';
import { type JournalPlace, listJournalFiles } from '../../platform/journal-place.ts';
import { counted, type Judgement, ok, warning } from './finding.ts';

/** Of each file only the end: what is looked for is the latest. */
const readBytesMax = 16_777_216;
export const endedMax = 100;
const shownMax = 5;

/** What PostgreSQL says was revoked and suspended since the store has a journal. */
export interface Ended {
  readonly keys: readonly bigint[];
  readonly clients: readonly bigint[];
}

/** Whether the journal has what was ended: a journal that was rotated away or emptied looks like one in which nothing has happened yet. */
export async function checkJournalLines({ journalFile, journalDirectory }: JournalPlace, ended: Ended): Promise<Judgement> {
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
