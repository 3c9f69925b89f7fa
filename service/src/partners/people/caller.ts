import type { Actor } from '../../domain/actor.ts';
import { type PersonRights, rightsOf } from '../../domain/roles.ts';
import { networkOfAddress } from '../../platform/networks.ts';
import type { Origin } from '../audit/audit.ts';
import { type Bounds, boundsOf } from '../rate-limit/plans.ts';
import type { Person } from './person-queries.ts';
import type { StaffClient } from './session-queries.ts';

/** A person as the operations know callers: what the role permits, for the client of the shelter, within that client's bounds. */
export interface PersonCaller extends Actor, PersonRights {
  readonly clientId: bigint;
  readonly keyId: null;
  readonly personId: bigint;
  readonly bounds: Bounds;
  /** For the audit. */
  readonly origin: Origin;
}

/** `address` is that of the request. */
export function callerOf({ person, client }: { person: Person; client: StaffClient }, address: string): PersonCaller {
  const rights = rightsOf(person.role, person.shelterId);
  if (!rights) throw new Error(`the store has no ${person.role}s`);
  const origin = { network: networkOfAddress(address) };
  return { ...rights, clientId: client.clientId, keyId: null, personId: person.id, bounds: boundsOf(client), origin };
}
