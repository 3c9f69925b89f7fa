import { stripVTControlCharacters } from 'node:util';
import { roles } from '../../domain/roles.ts';
import { erasureExtents, type JournalEntry } from './journal.ts';

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
