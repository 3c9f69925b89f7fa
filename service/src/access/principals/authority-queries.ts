import type { Authority } from '../../domain/actor.ts';
import type { Role } from '../../domain/roles.ts';

export const endedKey = (id: bigint): Authority['ended'] => `ended_key(${id})`;

/** With the role and the shelter that its person had when the request began. */
export const endedSession = (id: bigint, role: Role, shelterId: bigint | null): Authority['ended'] =>
  `ended_session(${id}, '${role}', ${shelterId ?? 0n})`;
