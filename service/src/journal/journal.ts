import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { pino } from 'pino';

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
 * Writes an entry, before the transaction that does it commits: a line for something that then failed is harmless, a change
 * without its line would be lost by a restore. Returns once the line is written.
 */
export type Journal = (entry: JournalEntry) => void;

/** Lines of the log, whatever its level, and of a file of its own where one is named. */
export function openJournal({ fd, file }: { readonly fd: number; readonly file: string }): Journal {
  const log = pino({ level: 'info' }, pino.destination({ fd, sync: true }));
  return (entry) => {
    const fields = { journal: true, ...withNumbers(entry) };
    log.info(fields, 'journal');
    if (file) appendDurably(file, `${JSON.stringify({ time: Date.now(), ...fields })}\n`);
  };
}

/** Own ids are below 2^53. */
function withNumbers(entry: JournalEntry): object {
  return JSON.parse(JSON.stringify(entry, (_, value) => (typeof value === 'bigint' ? Number(value) : value))) as object;
}

function appendDurably(file: string, line: string): void {
  const opened = openSync(file, 'a', 0o600);
  try {
    writeSync(opened, line);
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
