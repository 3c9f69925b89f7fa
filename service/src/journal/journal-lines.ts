import type { JournalEntry } from './journal.ts';

/** An entry and when it was written, by the clock of the process that wrote it. */
export interface JournalLine {
  readonly at: Date;
  readonly entry: JournalEntry;
}

/** Reads a line of a log. Undefined: it is none of the journal. Throws where it is one, and not readable. */
export function readJournalLine(line: string): JournalLine | undefined {
  if (!journalMark.test(line)) return undefined;
  const fields = parseObject(line);
  // A log may quote another's line in a message.
  if (fields?.['journal'] !== true) return undefined;
  const at = new Date(fields['time'] as number | string);
  const entry = readEntry(fields);
  if (!entry || Number.isNaN(at.getTime())) throw new Error(`not a journal line of this release: ${line.slice(0, 200)}`);
  return { at, entry };
}

type Fields = Readonly<Record<string, unknown>>;

function readEntry(fields: Fields): JournalEntry | undefined {
  const [key, client, webhook] = ['key', 'client', 'webhook'].map((name) => idOf(fields[name]));
  const [orders, webhooks] = ['orders', 'webhooks'].map((name) => idsOf(fields[name]));
  const expiresAt = new Date(String(fields['expiresAt']));
  switch (fields['act'] as JournalEntry['act']) {
    case 'adopters_erased':
      return orders && { act: 'adopters_erased', orders };
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

/** Also within a string, where a collector has wrapped the line. */
const journalMark = /\\*"journal\\*":true/;

function parseObject(line: string): Fields | undefined {
  // What collects logs may put a time or a name in front, or the line into a field of its own.
  const start = line.indexOf('{');
  try {
    const fields = JSON.parse(line.slice(Math.max(start, 0))) as Fields;
    const wrapped = fields['log'];
    return typeof wrapped === 'string' && journalMark.test(wrapped) ? parseObject(wrapped) : fields;
  } catch {
    throw new Error(`not a journal line of this release: ${line.slice(0, 200)}`);
  }
}
