import type { KeyRights } from '../../domain/key-rights.ts';
import { hasOne, type Permission, type Scope, scopesThat } from '../../domain/scopes.ts';
import { AppError } from '../../platform/errors.ts';

/** What is checked against the shelter of an animal, as an error says it. */
const intentions = {
  changePets: 'change or remove it',
  describePets: 'write its profile or photos',
  manageOrders: 'decide on its orders and applications',
} as const satisfies Partial<Record<Permission, string>>;

export type ShelterPermission = keyof typeof intentions;

/** Throws unless a key may do this with an animal of this shelter, or with its orders. */
export function requireAccess(
  key: KeyRights,
  permission: ShelterPermission,
  { petId, shelterId }: { readonly petId: bigint; readonly shelterId: bigint },
): void {
  const isOwnShelter = key.shelterId === shelterId;
  const accepted = [...scopesThat(permission, 'any shelter'), ...(isOwnShelter ? scopesThat(permission, 'own shelter') : [])];
  if (hasOne(key.scopes, accepted)) return;
  const bound = key.shelterId === null ? 'no shelter' : `shelter ${key.shelterId}`;
  throw insufficientScope(
    `Animal ${petId} belongs to shelter ${shelterId}. To ${intentions[permission]}, use ${whoMay(permission)}. This key is bound to ${bound} and has ${key.scopes.join(', ') || 'no scope'}.`,
    accepted,
  );
}

/** For messages and documents: the keys that may do this with an animal. */
export const whoMay = (permission: ShelterPermission): string =>
  `a key with ${scopesThat(permission, 'any shelter').join(' or ')}, or one that is bound to the animal's shelter and has ${scopesThat(permission, 'own shelter').join(' or ')}`;

/** The header has no way to say "or", so it names the first scope that would do. */
export const insufficientScope = (message: string, accepted: readonly Scope[]): AppError =>
  new AppError('insufficient_scope', message, {
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${accepted[0]}"` },
  });
