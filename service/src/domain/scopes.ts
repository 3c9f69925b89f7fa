/**
 * The scopes of a key: who gets each, what it means, and what it permits. Routes, checks of access, visibility of orders and events,
 * conditions in SQL, the command line and the documents all use this table.
 */
const table = {
  'pets:read': { givenTo: 'every key', meaning: 'Read animals, listings, shelters, categories and events.', permits: {} },
  'pets:write': {
    givenTo: 'every key',
    meaning:
      'Add animals. If the key is bound to a shelter: write the profiles and photos of its animals. If not: describe, rename and remove what its client has added, until staff place it in a shelter.',
    permits: { editPets: 'own client', describePets: ['own shelter', 'own client'] },
  },
  'orders:read': {
    givenTo: 'every key',
    meaning: "Read the client's own orders and applications, and the events about them.",
    permits: { seeOrders: 'own client' },
  },
  'orders:write': {
    givenTo: 'every key',
    meaning: "Place orders and submit applications, and cancel or withdraw the client's own.",
    permits: {},
  },
  'applications:write': {
    givenTo: 'every key',
    meaning: "Submit applications for adopters, and withdraw the client's own.",
    permits: {},
  },
  'webhooks:manage': { givenTo: 'every key', meaning: "Manage the client's own webhook endpoints.", permits: {} },
  'store:manage': {
    givenTo: 'staff',
    meaning: 'Change all animals, describe them and decide on all orders and applications; manage shelters and categories.',
    permits: {
      changePets: 'any shelter',
      editPets: 'any shelter',
      describePets: 'any shelter',
      seeOrders: 'any shelter',
      manageOrders: 'any shelter',
      manageShelters: 'any shelter',
    },
    isUnlimited: true,
  },
  'shelter:manage': {
    givenTo: 'staff',
    meaning: 'Change the shelter that the key is bound to and its animals, describe them and decide on their orders and applications.',
    permits: {
      changePets: 'own shelter',
      editPets: 'own shelter',
      describePets: 'own shelter',
      seeOrders: 'own shelter',
      manageOrders: 'own shelter',
      manageShelters: 'own shelter',
    },
    needsShelter: true,
  },
} as const satisfies Record<string, ScopeRow>;

export interface ScopeRow {
  /** Every key: unless it is created with other scopes. So a client that uses only the documented interface never gets a 403. */
  readonly givenTo: 'every key' | 'staff';
  /** For the documents and the command line. */
  readonly meaning: string;
  readonly permits: Permits;
  /** A key with this scope must be bound to a shelter. */
  readonly needsShelter?: true;
  /** The limits of the plan on categories and photos don't apply. */
  readonly isUnlimited?: true;
}

interface Permits {
  /** Whatever staff may do with them, such as to set their status. */
  readonly changePets?: ShelterReach;
  /** To change their names and categories, and to remove them. */
  readonly editPets?: ShelterReach | 'own client';
  /** To write their profiles and photos. */
  readonly describePets?: ShelterReach | ReadonlyArray<ShelterReach | 'own client'>;
  readonly seeOrders?: ShelterReach | 'own client';
  /** To decide on them as staff. */
  readonly manageOrders?: ShelterReach;
  /** To change the shelters themselves, and what they ask applicants. */
  readonly manageShelters?: ShelterReach;
}

export type Permission = keyof Permits;

/** With animals of any shelter and their orders, or with those of the shelter that the key is bound to. */
type ShelterReach = 'any shelter' | 'own shelter';
/** Of an animal, that is the one that has added it without a shelter, until staff place it in one. */
type Reach = ShelterReach | 'own client';

export type Scope = keyof typeof table;

export const scopeTable: Readonly<Record<Scope, ScopeRow>> = table;
export const scopes = Object.keys(table) as Scope[];

const scopesWhere = (matches: (row: ScopeRow) => boolean): readonly Scope[] => scopes.filter((scope) => matches(scopeTable[scope]));

export const defaultScopes = scopesWhere(({ givenTo }) => givenTo === 'every key');
export const scopesOfBoundKeys = scopesWhere(({ needsShelter }) => needsShelter === true);
const unlimitedScopes = scopesWhere(({ isUnlimited }) => isUnlimited === true);

/** The scopes that permit something, with any reach or with this one. A key needs one of them. */
export const scopesThat = (permission: Permission, reach?: Reach): readonly Scope[] =>
  scopesWhere(({ permits }) => {
    const reaches: readonly Reach[] = [permits[permission] ?? []].flat();
    return reach === undefined ? reaches.length > 0 : reaches.includes(reach);
  });

/** The same in a sentence. */
export const scopesInWords = (permission: Permission, reach: Reach): string => scopesThat(permission, reach).join(' or ');

/** Whether a key has one of these scopes. A key may also have scopes that this release doesn't know. */
export const hasOne = (held: readonly Scope[], accepted: readonly Scope[]): boolean => accepted.some((scope) => held.includes(scope));

/** Whether who has these scopes may do all that this one permits: who manages the store manages each shelter. */
export function covers(held: readonly Scope[], scope: Scope): boolean {
  const permissions = Object.keys(scopeTable[scope].permits) as Permission[];
  return (
    held.includes(scope) ||
    (permissions.length > 0 && permissions.every((permission) => hasOne(held, scopesThat(permission, 'any shelter'))))
  );
}

export const isUnlimited = (held: readonly Scope[]): boolean => hasOne(held, unlimitedScopes);

export const isScope = (text: string): text is Scope => Object.hasOwn(table, text);
