import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * What must be true again after a backup from before it is restored. Ids and times alone: the journal is a log, and what was
 * erased must not survive in it.
 */
export type JournalEntry =
  | { readonly act: 'adopters_erased'; readonly orders: readonly bigint[] }
  | { readonly act: 'key_revoked'; readonly key: bigint; readonly webhooks: readonly bigint[] }
  | { readonly act: 'key_rotated'; readonly key: bigint; readonly expiresAt: Date }
  | { readonly act: 'client_suspended'; readonly client: bigint }
  | { readonly act: 'client_resumed'; readonly client: bigint }
  | { readonly act: 'webhook_disabled'; readonly webhook: bigint };

/**
 * Writes an entry, before the transaction that does it commits, and returns once it is written. Throws where it can't be: then the
 * transaction rolls back, since a change without its line would be undone by a restore. A line whose commit then fails only
 * repeats what was meant.
 */
export type Journal = (entry: JournalEntry) => void;

/** Lines of the log, whatever its level, and of a file of its own where one is named. */
export function openJournal({ fd, file }: { readonly fd: number; readonly file: string }): Journal {
  return (entry) => {
    // In the shape of the log's other lines. Not by the logger: that goes on without a word where its reader is gone.
    const line = { level: 30, time: Date.now(), pid: process.pid, hostname: hostname(), journal: true, ...entry, msg: 'journal' };
    // Own ids are below 2^53.
    const text = `${JSON.stringify(line, (_, value) => (typeof value === 'bigint' ? Number(value) : value))}\n`;
    if (file) appendDurably(file, text);
    writeFully(fd, text);
  };
}

function appendDurably(file: string, text: string): void {
  try {
    const opened = openSync(file, 'a+', 0o660);
    try {
      // A line that was cut off, by a full disk, must not spoil the next.
      writeFully(opened, endsWithNewline(opened) ? text : `\n${text}`);
      fsyncSync(opened);
    } finally {
      closeSync(opened);
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The journal can't be written, so nothing was changed: ${reason}. Correct HOMEWARD_JOURNAL or its permissions.`, {
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

/** A pipe whose reader is slow may be full for a moment. */
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
