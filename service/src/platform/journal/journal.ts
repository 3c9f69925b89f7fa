import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { isatty } from 'node:tty';
import { stripVTControlCharacters, styleText } from 'node:util';
import { type Role, roles } from '../../domain/roles.ts';
import { isDiskFull } from '../disk-space.ts';
import { deleteSpareFile, makeSpareFile } from '../journal-place.ts';

/**
 * A change that must be applied again after an older backup is restored. Only ids and times: the journal is a log, and
 * must not contain data that was erased.
 */
export type JournalEntry =
  | { readonly act: 'adopters_erased'; readonly orders: readonly bigint[] }
  | { readonly act: 'applicants_erased'; readonly applications: readonly bigint[]; readonly extent: ErasureExtent }
  | { readonly act: 'application_link_ended'; readonly application: bigint; readonly number: bigint }
  | { readonly act: 'key_revoked'; readonly key: bigint; readonly webhooks: readonly bigint[] }
  | { readonly act: 'key_rotated'; readonly key: bigint; readonly expiresAt: Date }
  | { readonly act: 'client_suspended'; readonly client: bigint }
  | { readonly act: 'client_resumed'; readonly client: bigint }
  | { readonly act: 'webhook_disabled'; readonly webhook: bigint }
  | { readonly act: 'person_removed'; readonly person: bigint }
  /** Another role or another shelter; null: the whole store. Only what the person may not do any more ends, so a promotion in place has no entry. */
  | { readonly act: 'person_changed'; readonly person: bigint; readonly role: Role; readonly shelter: bigint | null }
  /** Passkeys and accounts at a provider that the person had. */
  | { readonly act: 'sign_ins_ended'; readonly person: bigint }
  | { readonly act: 'passkey_removed'; readonly passkey: bigint };

/** Of an application: everything of its adopter, or all but name and e-mail address, which a shelter needs after an adoption. */
export const erasureExtents = ['all', 'answers'] as const;
export type ErasureExtent = (typeof erasureExtents)[number];

/**
 * Writes an entry before the transaction commits, and returns once it is written. Throws if that fails, so that the
 * transaction rolls back: a restore would undo a change without an entry. An entry whose commit fails afterwards is
 * harmless, since applying it only does what was intended.
 *
 * A full disk does not prevent that an access is ended. The journal first uses the room of its spare file. If that is used
 * up too, it returns false for such an entry: the change is made without its entry, and the caller says so.
 */
export type Journal = (entry: JournalEntry) => boolean;

/** What must be possible on a full disk: the client that fills it may be the one whose access ends. */
const actsThatEndAccess: ReadonlySet<JournalEntry['act']> = new Set([
  'application_link_ended',
  'key_revoked',
  'client_suspended',
  'webhook_disabled',
  'person_removed',
  'person_changed',
  'sign_ins_ended',
  'passkey_removed',
]);

/** Writes to the log, whatever its level, and to `file` unless that is empty. */
export function openJournal({ fd, file }: { readonly fd: number; readonly file: string }): Journal {
  return (entry) => {
    // The format of the log's other lines. Not written by the logger, which ignores a broken pipe.
    const line = { level: 30, time: Date.now(), pid: process.pid, hostname: hostname(), journal: true, ...entry, msg: 'journal' };
    // Ids of this service are below 2^53.
    const text = `${JSON.stringify(line, (_, value) => (typeof value === 'bigint' ? Number(value) : value))}\n`;
    const attempt = (write: () => void): boolean => {
      try {
        write();
        return true;
      } catch (error) {
        if (isDiskFull(error) && actsThatEndAccess.has(entry.act)) return false;
        throw error;
      }
    };
    const isInFile = file !== '' && attempt(() => append(file, text));
    // Standard output or error may be a file on a full disk too.
    const isInLog = attempt(() => writeFully(fd, isatty(fd) ? dimmed(text) : text));
    return file === '' ? isInLog : isInFile;
  };
}

/** On a terminal the lines that are for people stand out. `readJournalLine` reads it all the same. */
const dimmed = (line: string) => `${styleText('dim', line.trimEnd(), { stream: process.stderr })}\n`;

/** The error keeps its code. */
function append(file: string, text: string): void {
  try {
    appendOrUseSpare(file, text);
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    const fix = isDiskFull(error) ? 'Make room on its disk' : 'Check HOMEWARD_JOURNAL and its permissions';
    const problem = `The journal can't be written, so nothing was changed: ${message}. ${fix}.`;
    throw Object.assign(new Error(problem, { cause: error }), { code });
  }
}

function appendOrUseSpare(file: string, text: string): void {
  try {
    appendDurably(file, text);
  } catch (error) {
    // Creating the file, or flushing it: writing has already tried to use the spare file.
    if (!isDiskFull(error) || !deleteSpareFile(file)) throw error;
    appendDurably(file, text);
  }
  try {
    makeSpareFile(file);
  } catch {
    // The line is written. 'homeward doctor' says that there is no spare file.
  }
}

function appendDurably(file: string, text: string): void {
  const opened = openSync(file, 'a+', 0o660);
  try {
    // A line that was cut off by a full disk must not corrupt the next one.
    writeFully(opened, endsWithNewline(opened) ? text : `\n${text}`, () => deleteSpareFile(file));
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

function endsWithNewline(fd: number): boolean {
  const { size } = fstatSync(fd);
  const last = Buffer.alloc(1);
  return size === 0 || readSync(fd, last, 0, 1, size - 1) === 0 || last[0] === 0x0a;
}

const fullPipeTriesMax = 100;
const fullPipeWaitMs = 10;

/**
 * Writes everything; a pipe may be full for a moment if its reader is slow. If the disk is full and `makeRoom` makes room, the rest is
 * written behind what fitted, so that the line is whole.
 */
function writeFully(fd: number, text: string, makeRoom: () => boolean = () => false): void {
  const bytes = Buffer.from(text);
  let tries = 0;
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(fd, bytes, written);
    } catch (error) {
      if (isDiskFull(error) && makeRoom()) continue;
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || ++tries > fullPipeTriesMax) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, fullPipeWaitMs);
    }
  }
}

/** An entry and the time at which it was written, by the clock of the process that wrote it. */
export interface JournalLine {
  readonly at: Date;
  readonly entry: JournalEntry;
}

/** Parses a line of a log. Undefined: it is not a journal line. Throws if it is one and can't be parsed. */
export function readJournalLine(text: string): JournalLine | undefined {
  if (!journalMark.test(text)) return undefined;
  // The line may have been recorded from a terminal, with colours.
  const line = stripVTControlCharacters(text);
  const fields = parseObject(line);
  // Another log line may quote a journal line in a message.
  if (fields?.['journal'] !== true) return undefined;
  const at = new Date(fields['time'] as number | string);
  const entry = readEntry(fields);
  if (!entry || Number.isNaN(at.getTime())) throw new Error(`not a journal line of this release: ${line.slice(0, 200)}`);
  return { at, entry };
}

type Fields = Readonly<Record<string, unknown>>;

function readEntry(fields: Fields): JournalEntry | undefined {
  const [key, client, webhook, person] = ['key', 'client', 'webhook', 'person'].map((name) => idOf(fields[name]));
  const [application, number, passkey, shelter] = ['application', 'number', 'passkey', 'shelter'].map((name) => idOf(fields[name]));
  const role = roles.find((name) => name === fields['role']);
  const [orders, applications, webhooks] = ['orders', 'applications', 'webhooks'].map((name) => idsOf(fields[name]));
  const extent = erasureExtents.find((name) => name === fields['extent']);
  const expiresAt = new Date(String(fields['expiresAt']));
  switch (fields['act'] as JournalEntry['act']) {
    case 'adopters_erased':
      return orders && { act: 'adopters_erased', orders };
    case 'applicants_erased':
      return applications && extent && { act: 'applicants_erased', applications, extent };
    case 'application_link_ended':
      return application && number ? { act: 'application_link_ended', application, number } : undefined;
    case 'key_revoked':
      return key !== undefined && webhooks ? { act: 'key_revoked', key, webhooks } : undefined;
    case 'key_rotated':
      return key === undefined || Number.isNaN(expiresAt.getTime()) ? undefined : { act: 'key_rotated', key, expiresAt };
    case 'client_suspended':
      return client === undefined ? undefined : { act: 'client_suspended', client };
    case 'client_resumed':
      return client === undefined ? undefined : { act: 'client_resumed', client };
    case 'webhook_disabled':
      return webhook === undefined ? undefined : { act: 'webhook_disabled', webhook };
    case 'person_removed':
      return person === undefined ? undefined : { act: 'person_removed', person };
    case 'person_changed':
      if (person === undefined || !role || (shelter === undefined && fields['shelter'] !== null)) return undefined;
      return { act: 'person_changed', person, role, shelter: shelter ?? null };
    case 'sign_ins_ended':
      return person === undefined ? undefined : { act: 'sign_ins_ended', person };
    case 'passkey_removed':
      return passkey === undefined ? undefined : { act: 'passkey_removed', passkey };
    default:
      return undefined;
  }
}

const idOf = (value: unknown): bigint | undefined => (Number.isSafeInteger(value) && Number(value) > 0 ? BigInt(Number(value)) : undefined);

function idsOf(value: unknown): bigint[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const ids = value.map(idOf);
  return ids.every((id) => id !== undefined) ? ids : undefined;
}

/** Also matches inside a string, where a log collector has wrapped the line. */
const journalMark = /\\*"journal\\*":true/;

function parseObject(line: string): Fields | undefined {
  // A log collector may put a time or a name in front, or wrap the line in a field.
  const start = line.indexOf('{');
  try {
    const fields = JSON.parse(line.slice(Math.max(start, 0))) as Fields;
    const wrapped = fields['log'];
    return typeof wrapped === 'string' && journalMark.test(wrapped) ? parseObject(wrapped) : fields;
  } catch {
    throw new Error(`not a journal line of this release: ${line.slice(0, 200)}`);
  }
}
