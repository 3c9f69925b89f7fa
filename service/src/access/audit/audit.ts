import { type Author, theService } from '../../domain/actor.ts';
import { networkOfAddress } from '../../platform/caller-addresses.ts';
import type { Db, Transaction, Transactor } from '../../platform/db/handles.ts';
import { AppError } from '../../platform/errors.ts';
import {
  type AuditedValues,
  type AuditFilter,
  countAuditRow,
  dropAuditPartitions,
  findAuditStart,
  insertAudit,
  makeAuditPartitions,
  type RecordedAct,
  selectActs,
} from './audit-queries.ts';

export type { AuditedValues, AuditFilter, RecordedAct } from './audit-queries.ts';
export { findAuditStart };

/** From where an act came: the network of a request, or the login and host of a command. */
export type Origin = { readonly network: string } | { readonly login: string; readonly host: string };

/** Who does what is audited, and from where. */
export interface AuditAuthor extends Author {
  readonly origin: Origin;
}

/**
 * What is audited, and what each act is about. Acts on animals, orders and applications are in their history instead. What `isCapped` counts
 * towards what its author may add in a day, and is rejected beyond that. What ends something is not: it must always be possible, and so must
 * signing in, which has bounds of its own; so is any act whose transaction ends an authority, such as lowering a role. Neither is what
 * happens once in the course of another act.
 */
export const auditedActs = {
  'person.invited': { target: 'person', isCapped: true },
  'person.joined': { target: 'person', isCapped: true },
  'person.changed': { target: 'person', isCapped: true },
  'person.raise_offered': { target: 'person', isCapped: true },
  'person.raise_withdrawn': { target: 'person', isCapped: false },
  'person.removed': { target: 'person', isCapped: false },
  'person.link_made': { target: 'person', isCapped: true },
  'identity.added': { target: 'person', isCapped: true },
  'passkey.added': { target: 'person', isCapped: true },
  'passkey.removed': { target: 'person', isCapped: false },
  'passkey.rejected': { target: 'person', isCapped: false },
  'session.started': { target: 'person', isCapped: false },
  'session.ended': { target: 'person', isCapped: false },
  'key.created': { target: 'key', isCapped: true },
  'key.rotated': { target: 'key', isCapped: true },
  'key.revoked': { target: 'key', isCapped: false },
  'client.created': { target: 'client', isCapped: false },
  'client.plan_changed': { target: 'client', isCapped: true },
  'client.suspended': { target: 'client', isCapped: false },
  'client.resumed': { target: 'client', isCapped: true },
  'ban.lifted': { target: 'key', isCapped: true },
  'shelter.created': { target: 'shelter', isCapped: true },
  'shelter.changed': { target: 'shelter', isCapped: true },
  'shelter.confirmed': { target: 'shelter', isCapped: true },
  'shelter.questions_set': { target: 'shelter', isCapped: true },
  'site.changed': { target: 'site', isCapped: true },
  'adopter.disclosed': { target: 'adopter', isCapped: true },
  'adopter.erased': { target: 'adopter', isCapped: false },
  'applications.ended': { target: 'client', isCapped: true },
  'applications.taken_back': { target: 'client', isCapped: false },
  // There is always another link to end.
  'application.link_ended': { target: 'application', isCapped: true },
} as const satisfies Record<string, { readonly target: string; readonly isCapped: boolean }>;

/** Of a person or a key in a UTC day. Commands have no limit. */
export const auditRowsPerDay = 1_000;

export type AuditedAct = keyof typeof auditedActs;

interface Audited {
  /** Undefined: what was erased can't be named. */
  readonly targetId?: bigint;
  /** The shelter that it is about, for its admins; null: the store. */
  readonly shelterId: bigint | null;
  /** Listed fields, without adopters' data. */
  readonly before?: AuditedValues;
  readonly after?: AuditedValues;
}

/**
 * Records an act in its transaction: there is neither an act without its row, nor a row without its act. Throws if its author has added as many
 * rows as it may. Until the end of the transaction, other acts of the author wait: call it after what locks anything else.
 */
export async function recordAudit(tx: Transaction, by: AuditAuthor, act: AuditedAct, audited: Audited): Promise<void> {
  const { targetId = null, shelterId, before = null, after = null } = audited;
  const { personId, clientId, keyId, origin } = by;
  const { target, isCapped } = auditedActs[act];
  const author = personId !== null ? `p${personId}` : keyId !== null ? `k${keyId}` : undefined;
  if (isCapped && !tx.hasEnded && author !== undefined && !(await countAuditRow(tx, author, auditRowsPerDay))) throw tooManyRows(personId);
  const place = 'network' in origin ? { ...origin, login: null, host: null } : { ...origin, network: null };
  await insertAudit(tx, { act, target, targetId, shelterId, personId, clientId, keyId, ...place, before, after });
}

function tooManyRows(personId: bigint | null): AppError {
  const count = auditRowsPerDay.toLocaleString('en');
  const [who, ends] = personId === null ? ['This key has', ''] : ['You have', ' Ending sessions and removing are still possible.'];
  return new AppError(
    'recorded_change_limit',
    `${who} made ${count} of ${count} changes today (UTC) that are recorded for good. Nothing was changed. Go on after midnight UTC.${ends}`,
  );
}

/** Who sends a request, as the audit records it. `address` is that of the request. */
export const requestAuthor = ({ clientId, keyId, personId }: Author, address: string): AuditAuthor => ({
  clientId,
  keyId,
  personId,
  origin: { network: networkOfAddress(address) },
});

/** The fields that have changed, as they were and as they are. Undefined: none. */
export function changedValues(before: AuditedValues, after: AuditedValues): { before: AuditedValues; after: AuditedValues } | undefined {
  const changed = Object.keys(after).filter((field) => JSON.stringify(before[field] ?? null) !== JSON.stringify(after[field]));
  if (changed.length === 0) return undefined;
  const only = (values: AuditedValues) => Object.fromEntries(changed.map((field) => [field, values[field] ?? null]));
  return { before: only(before), after: only(after) };
}

/** A job: creates the partitions of the coming months, and drops those that ended more than so many days ago. Returns how many. */
export async function rotateAuditPartitions(db: Transactor, days: number): Promise<number> {
  const made = await db.transaction(makeAuditPartitions, theService);
  return made + (await db.transaction((tx) => dropAuditPartitions(tx, days), theService));
}

/**
 * The audit, and beside it what people did with animals, orders and applications, the newest first. Of one animal, order or application also
 * what keys did.
 */
export const listActs = (db: Db, filter: AuditFilter): Promise<RecordedAct[]> => selectActs(db, filter);

/** Whether the text is a position that a page has ended with. */
export const isPosition = (text: string): boolean => /^\d{1,17}\.[123]\.\d{1,18}$/.test(text);
