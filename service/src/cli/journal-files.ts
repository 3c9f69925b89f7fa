import { createReadStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { type JournalLine, readJournalLine } from '../platform/journal/journal-lines.ts';
import { type JournalPlace, listJournalFiles } from '../platform/journal-place.ts';
import { printProblem, UsageError } from './output.ts';

/** Bounds memory. */
const linesMax = 1_000_000;
const anyTime = new Date(0);

type OnUnreadable = (text: string, error: unknown) => void;

/** Reads the journal lines of logs, and of all files of a directory; `-` is standard input. Other lines are skipped. */
export async function readJournalFiles(places: readonly string[], skipUnreadable: boolean): Promise<JournalLine[]> {
  const lines: JournalLine[] = [];
  for (const file of places.flatMap(filesOf)) {
    await readInto(lines, file, anyTime, (text, error) => {
      if (!skipUnreadable) throw error;
      printProblem(`skipped: ${text.slice(0, 200)}`);
    });
  }
  // Most likely this is the wrong file. Reporting success would let revoked keys work again.
  if (lines.length === 0) throw new UsageError(`There is no journal line in ${places.join(', ')}. Nothing was applied.`);
  return lines;
}

/** Reads what the journal of HOMEWARD_JOURNAL says since a time, also in the files of other hosts. There may be no line yet, and no file. */
export async function readOwnJournal(place: JournalPlace, since: Date, onUnreadable: OnUnreadable): Promise<JournalLine[]> {
  const lines: JournalLine[] = [];
  for (const file of filesOf(placeOf(place))) if (existsSync(file)) await readInto(lines, file, since, onUnreadable);
  return lines;
}

/** What HOMEWARD_JOURNAL names; empty if it is not set. */
export const placeOf = ({ journalFile, journalDirectory }: JournalPlace): string => journalDirectory || journalFile;

function filesOf(place: string): readonly string[] {
  try {
    return place === '-' ? [place] : listJournalFiles(place);
  } catch (error) {
    throw new UsageError(`${place}: ${error instanceof Error ? error.message : String(error)}. Nothing was applied.`);
  }
}

async function readInto(lines: JournalLine[], file: string, since: Date, onUnreadable: OnUnreadable): Promise<void> {
  const input = file === '-' ? process.stdin : createReadStream(file);
  let number = 0;
  try {
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1;
      const line = readLine(text, onUnreadable);
      if (line && line.at >= since) lines.push(line);
      if (lines.length > linesMax) throw new UsageError(`There are more than ${linesMax} journal lines. Apply the files one by one.`);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    // If a line can't be read, nothing is applied: a partly applied journal would look complete.
    throw new UsageError(`${file}, line ${number}: ${error instanceof Error ? error.message : String(error)}. Nothing was applied.`);
  }
}

function readLine(text: string, onUnreadable: OnUnreadable): JournalLine | undefined {
  try {
    return readJournalLine(text);
  } catch (error) {
    onUnreadable(text, error);
    return undefined;
  }
}

/** For a question: how many, and of which time. */
export function describeLines(lines: readonly JournalLine[]): string {
  const times = lines.map(({ at }) => at.getTime()).toSorted((a, b) => a - b);
  const [first, last] = [times[0], times.at(-1)].map((time) => new Date(time ?? 0).toISOString().slice(0, 16));
  return `${lines.length} journal ${lines.length === 1 ? 'line' : 'lines'} written from ${first} to ${last} UTC`;
}
