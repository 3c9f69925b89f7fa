// Who acts: a key, a person, or the service itself (`theService`). What each may do is said here once, for routes, the console and uploads;
// what it is charged is said by its plan (rate-limit); and whether its right still holds is read again in the transaction that acts
// (`authority`, platform/db/pool.ts).
import type { Actor, Authority } from '../../domain/actor.ts';
import { type PersonRights, type Role, rightsOf } from '../../domain/roles.ts';
import type { Scope } from '../../domain/scopes.ts';
import { networkOfAddress } from '../../platform/caller-addresses.ts';
import { AppError } from '../../platform/errors.ts';
import type { Origin } from '../audit/audit.ts';
import { type Bounds, boundsOf, type Quota } from '../rate-limit/plans.ts';
import { endedKey, endedSession } from './authority-queries.ts';

/** The client and key that sent a request. */
export interface KeyCaller extends Actor {
  readonly clientId: bigint;
  readonly keyId: bigint;
  readonly personId: null;
  readonly bounds: Bounds;
  readonly quota: Quota;
}

/** A person as the operations know callers: what the role permits, for the client of the shelter, within that client's bounds. */
export interface PersonCaller extends Actor, PersonRights {
  readonly clientId: bigint;
  readonly keyId: null;
  readonly personId: bigint;
  readonly bounds: Bounds;
  /** For the audit. */
  readonly origin: Origin;
}

interface Key {
  readonly id: bigint;
  readonly clientId: bigint;
  readonly shelterId: bigint | null;
  readonly scopes: readonly Scope[];
  readonly terms: { readonly bounds: Bounds; readonly quota: Quota };
}

export const keyCaller = ({ id, clientId, shelterId, scopes, terms: { bounds, quota } }: Key): KeyCaller => ({
  clientId,
  keyId: id,
  personId: null,
  shelterId,
  scopes,
  bounds,
  quota,
  authority: authorityOfKey(id),
});

interface SignedIn {
  readonly session: { readonly id: bigint };
  readonly person: { readonly id: bigint; readonly role: Role; readonly shelterId: bigint | null };
  readonly client: Parameters<typeof boundsOf>[0] & { readonly clientId: bigint };
}

/** `address` is that of the request. */
export function personCaller({ session, person, client }: SignedIn, address: string): PersonCaller {
  const { id, role, shelterId } = person;
  const rights = rightsOf(role, shelterId);
  if (!rights) throw new Error(`the store has no ${role}s`);
  return {
    ...rights,
    clientId: client.clientId,
    keyId: null,
    personId: id,
    bounds: boundsOf(client),
    origin: { network: networkOfAddress(address) },
    authority: { ended: endedSession(session.id, role, shelterId), error: (why) => new SignedOut(why as SignedOut['why']) },
  };
}

/** The session of a person has ended while the request was in progress, its rights are others, or its client was suspended. */
export class SignedOut extends Error {
  readonly why: 'ended' | 'changed' | 'suspended';

  constructor(why: SignedOut['why']) {
    super(`the session can't act any more: ${why}`);
    this.why = why;
  }
}

const authorityOfKey = (id: bigint): Authority => ({ ended: endedKey(id), error: (why) => endedMeanwhile(id, why) });

function endedMeanwhile(id: bigint, why: string): Error {
  const meanwhile = 'while this request was in progress. Nothing was changed';
  if (why === 'client_suspended') return new AppError(why, `Your client was suspended ${meanwhile}. Contact the store's staff.`);
  const headers = { 'www-authenticate': 'Bearer error="invalid_token"' };
  if (why === 'api_key_expired') return new AppError(why, `Key ${id} expired ${meanwhile}. Use its successor or a new key.`, { headers });
  return new AppError('api_key_revoked', `Key ${id} was revoked ${meanwhile}. Use another key.`, { headers });
}
