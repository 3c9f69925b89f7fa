import type { Author } from '../../domain/actor.ts';
import type { Transaction, Transactor } from '../../platform/db/handles.ts';
import { networkOfAddress } from '../../platform/networks.ts';
import { type AuditedValues, dropPartitions, findAuditStart, insertAudit, makePartitions } from './audit-queries.ts';

export type { AuditedValues } from './audit-queries.ts';
export { findAuditStart };

/** From where an act came: the network of a request, or the login and host of a command. */
export type Origin = { readonly network: string } | { readonly login: string; readonly host: string };

/** Who does what is audited, and from where. */
export interface AuditAuthor extends Author {
  readonly origin: Origin;
}

/** What is audited, and what each act is about. Acts on animals, orders and applications are in their history instead. */
export const auditedActs = {
  'person.invited': 'person',
  'person.joined': 'person',
  'person.changed': 'person',
  'person.removed': 'person',
  'person.link_made': 'person',
  'passkey.added': 'person',
  'passkey.removed': 'person',
  'key.created': 'key',
  'key.rotated': 'key',
  'key.revoked': 'key',
  'client.created': 'client',
  'client.plan_changed': 'client',
  'client.suspended': 'client',
  'client.resumed': 'client',
  'ban.lifted': 'key',
  'shelter.created': 'shelter',
  'shelter.changed': 'shelter',
  'shelter.questions_set': 'shelter',
  'adopter.erased': 'adopter',
} as const;

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

/** Records an act in its transaction: there is neither an act without its row, nor a row without its act. */
export async function recordAudit(tx: Transaction, by: AuditAuthor, act: AuditedAct, audited: Audited): Promise<void> {
  const { targetId = null, shelterId, before = null, after = null } = audited;
  const { personId, clientId, keyId, origin } = by;
  const place = 'network' in origin ? { ...origin, login: null, host: null } : { ...origin, network: null };
  await insertAudit(tx, { act, target: auditedActs[act], targetId, shelterId, personId, clientId, keyId, ...place, before, after });
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
  const made = await db.transaction(makePartitions);
  return made + (await db.transaction((tx) => dropPartitions(tx, days)));
}
