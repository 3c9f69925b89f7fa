import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { isatty } from 'node:tty';
import { styleText } from 'node:util';

/**
 * A change that must be applied again after an older backup is restored. Only ids and times: the journal is a log, and
 * must not contain data that was erased.
 */
export type JournalEntry =
  | { readonly act: 'adopters_erased'; readonly orders: readonly bigint[] }
  | { readonly act: 'key_revoked'; readonly key: bigint; readonly webhooks: readonly bigint[] }
  | { readonly act: 'key_rotated'; readonly key: bigint; readonly expiresAt: Date }
  | { readonly act: 'client_suspended'; readonly client: bigint }
  | { readonly act: 'client_resumed'; readonly client: bigint }
  | { readonly act: 'webhook_disabled'; readonly webhook: bigint };

/**
 * Writes an entry before the transaction commits, and returns once it is written. Throws if that fails, so that the
 * transaction rolls back: a restore would undo a change without an entry. An entry whose commit fails afterwards is
 * harmless, since applying it only does what was intended.
 */
export type Journal = (entry: JournalEntry) => void;

/** Writes to the log, whatever its level, and to `file` unless that is empty. */
export function openJournal({ fd, file }: { readonly fd: number; readonly file: string }): Journal {
  return (entry) => {
    // The format of the log's other lines. Not written by the logger, which ignores a broken pipe.
    const line = { level: 30, time: Date.now(), pid: process.pid, hostname: hostname(), journal: true, ...entry, msg: 'journal' };
    // Ids of this service are below 2^53.
    const text = `${JSON.stringify(line, (_, value) => (typeof value === 'bigint' ? Number(value) : value))}\n`;
    if (file) appendDurably(file, text);
    writeFully(fd, isatty(fd) ? dimmed(text) : text);
  };
}

/** On a terminal the lines that are for people stand out. `readJournalLine` reads it all the same. */
const dimmed = (line: string) => `${styleText('dim', line.trimEnd(), { stream: process.stderr })}\n`;

function appendDurably(file: string, text: string): void {
  try {
    const opened = openSync(file, 'a+', 0o660);
    try {
      // A line that was cut off by a full disk must not corrupt the next one.
      writeFully(opened, endsWithNewline(opened) ? text : `\n${text}`);
      fsyncSync(opened);
    } finally {
      closeSync(opened);
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The journal can't be written, so nothing was changed: ${reason}. Check HOMEWARD_JOURNAL and its permissions.`, {
      cause: error,
    });
  }
}

function endsWithNewline(fd: number): boolean {
  const { size } = fstatSync(fd);
  const last = Buffer.alloc(1);
  return size === 0 || readSync(fd, last, 0, 1, size - 1) === 0 || last[0] === 0x0a;
}

const fullPipeTriesMax = 100;
const fullPipeWaitMs = 10;

/** Writes everything; a pipe may be full for a moment if its reader is slow. */
function writeFully(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  let tries = 0;
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(fd, bytes, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || ++tries > fullPipeTriesMax) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, fullPipeWaitMs);
    }
  }
}
