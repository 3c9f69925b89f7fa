import { type Author, type KeyRights, staffReach } from '../../domain/actor.ts';
import { hasOne, type Permission, type Scope, scopesInWords, scopesThat } from '../../domain/scopes.ts';
import { AppError } from '../../platform/errors.ts';

/** What is checked against the shelter of an animal, as an error says it. */
const intentions = {
  changePets: 'change or remove it',
  editPets: 'change or remove it',
  describePets: 'write its profile or photos',
  manageOrders: 'decide on its orders and applications',
} as const satisfies Partial<Record<Permission, string>>;

export type ShelterPermission = keyof typeof intentions;

/** The same for a shelter itself. */
const intentionsOfShelters = { manageShelters: 'change the details and questions' } as const satisfies Partial<Record<Permission, string>>;

/** The same for all that staff work with. */
const intentionsOfStaff = {
  changePets: 'list animals that have left',
  manageOrders: 'decide on orders and applications',
} as const satisfies Partial<Record<Permission, string>>;

type OfShelters = keyof typeof intentionsOfShelters;

/** What decides who may do something with an animal, or with its orders. */
export interface Placement {
  readonly petId: bigint;
  readonly shelterId: bigint;
  /** The client that has added the animal without a shelter, until staff place it in one. Null: none. */
  readonly ownerId?: bigint | null;
}

/** The key that acts, and its client. */
export type ActingKey = KeyRights & Pick<Author, 'clientId'>;

/** Throws unless a key may do this with an animal, or with its orders. */
export function requireAccess(key: ActingKey, permission: ShelterPermission, placement: Placement): void {
  if (hasAccess(key, permission, placement)) return;
  const { petId, shelterId } = placement;
  throw insufficientScope(
    `Animal ${petId} belongs to shelter ${shelterId}. To ${intentions[permission]}, use ${whoMay(permission)}. ${rightsOf(key)}`,
    acceptedScopes(key, permission, placement),
  );
}

export const hasAccess = (key: ActingKey, permission: ShelterPermission, placement: Placement): boolean =>
  hasOne(key.scopes, acceptedScopes(key, permission, placement));

const acceptedScopes = (key: ActingKey, permission: ShelterPermission, { shelterId, ownerId = null }: Placement): readonly Scope[] => [
  ...scopesFor(key, permission, shelterId),
  ...(isOwn(key, ownerId) ? scopesThat(permission, 'own client') : []),
];

/** Whether the client of this key has added the animal. A key that is bound to a shelter reaches nothing outside it. */
const isOwn = ({ shelterId, clientId }: ActingKey, ownerId: bigint | null): boolean =>
  shelterId === null && ownerId !== null && clientId === ownerId;

/** Throws unless a key may do this with a shelter itself. */
export function requireShelter(key: KeyRights, permission: OfShelters, shelterId: bigint): void {
  const accepted = scopesFor(key, permission, shelterId);
  if (hasOne(key.scopes, accepted)) return;
  throw insufficientScope(
    `To ${intentionsOfShelters[permission]} of shelter ${shelterId}, use ${whoMay(permission)}. ${rightsOf(key)}`,
    accepted,
  );
}

/** Whose animals, orders and applications staff may do this with: those of every shelter, or of their own. Throws for others. */
export function requireStaff(key: KeyRights, permission: keyof typeof intentionsOfStaff): 'all' | bigint {
  const reach = staffReach(key, permission);
  if (reach !== null) return reach;
  throw insufficientScope(`To ${intentionsOfStaff[permission]}, use ${whoMay(permission)}. ${rightsOf(key)}`, scopesThat(permission));
}

/** For messages and documents: the keys that may do this with an animal, or with a shelter. */
export function whoMay(permission: ShelterPermission | OfShelters): string {
  const anywhere = `a key with ${scopesInWords(permission, 'any shelter')}`;
  const shelters = permission in intentionsOfShelters ? 'that' : "the animal's";
  const inShelter = `one that is bound to ${shelters} shelter and has ${scopesInWords(permission, 'own shelter')}`;
  const ofClient = scopesInWords(permission, 'own client');
  if (ofClient === '') return `${anywhere}, or ${inShelter}`;
  const unplaced = 'if its client added the animal and staff have not placed it in a shelter since';
  return `${anywhere}, ${inShelter}, or one without a shelter that has ${ofClient}, ${unplaced}`;
}

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
