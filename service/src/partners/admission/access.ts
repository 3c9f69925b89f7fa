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

/** The same for a shelter itself. */
const intentionsOfShelters = { manageShelters: 'change the details and questions' } as const satisfies Partial<Record<Permission, string>>;

type OfShelters = keyof typeof intentionsOfShelters;

/** Throws unless a key may do this with an animal of this shelter, or with its orders. */
export function requireAccess(
  key: KeyRights,
  permission: ShelterPermission,
  { petId, shelterId }: { readonly petId: bigint; readonly shelterId: bigint },
): void {
  const accepted = scopesFor(key, permission, shelterId);
  if (hasOne(key.scopes, accepted)) return;
  throw insufficientScope(
    `Animal ${petId} belongs to shelter ${shelterId}. To ${intentions[permission]}, use ${whoMay(permission)}. ${rightsOf(key)}`,
    accepted,
  );
}

/** Throws unless a key may do this with a shelter itself. */
export function requireShelter(key: KeyRights, permission: OfShelters, shelterId: bigint): void {
  const accepted = scopesFor(key, permission, shelterId);
  if (hasOne(key.scopes, accepted)) return;
  throw insufficientScope(
    `To ${intentionsOfShelters[permission]} of shelter ${shelterId}, use ${whoMay(permission)}. ${rightsOf(key)}`,
    accepted,
  );
}

/** For messages and documents: the keys that may do this with an animal, or with a shelter. */
export const whoMay = (permission: ShelterPermission | OfShelters): string =>
  `a key with ${scopesThat(permission, 'any shelter').join(' or ')}, or one that is bound to ${permission in intentionsOfShelters ? 'that' : "the animal's"} shelter and has ${scopesThat(permission, 'own shelter').join(' or ')}`;

/** The scopes of which this key needs one, to do something in this shelter. */
function scopesFor(key: KeyRights, permission: Permission, shelterId: bigint): readonly Scope[] {
  const isOwnShelter = key.shelterId === shelterId;
  return [...scopesThat(permission, 'any shelter'), ...(isOwnShelter ? scopesThat(permission, 'own shelter') : [])];
}

const rightsOf = ({ shelterId, scopes }: KeyRights) =>
  `This key is bound to ${shelterId === null ? 'no shelter' : `shelter ${shelterId}`} and has ${scopes.join(', ') || 'no scope'}.`;

/** The header has no way to say "or", so it names the first scope that would do. */
export const insufficientScope = (message: string, accepted: readonly Scope[]): AppError =>
  new AppError('insufficient_scope', message, {
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${accepted[0]}"` },
  });
