import type { KeyRights } from './actor.ts';
import { covers, type Scope } from './scopes.ts';

/** What people do that no scope of a key permits. Within their shelter; people of the store: everywhere. */
const acts = {
  'people:manage': 'Invite people, change their roles, and remove them.',
  'keys:manage': 'Create, rotate and revoke keys.',
  'plans:manage': 'Change the plans of clients, and suspend them.',
  'audit:read': 'Read who has done what.',
  'shelter:settings': 'Change what a shelter says of itself, what it asks, and how its animals are adopted, in the console.',
  'adopters:disclose': 'Get all that is stored about an adopter as a file, and erase it.',
  'acts:undo': 'Undo what others have just done in the console.',
} as const;

export type StaffAct = keyof typeof acts;

interface RoleRow {
  /** For people who are offered it: what they will find in the console. */
  readonly meaning: string;
  /** What it may do in a shelter. */
  readonly shelter: RoleRights;
  /** What it may do for the whole store. Null: nobody of the store has the role. */
  readonly store: RoleRights | null;
}

interface RoleRights {
  /** As of a key: operations know no other rules. */
  readonly scopes: readonly Scope[];
  readonly acts: readonly StaffAct[];
}

const volunteerScopes = ['pets:read', 'pets:write'] as const;
const adoptionScopes = [...volunteerScopes, 'orders:read', 'orders:write', 'applications:write'] as const;
const shelterScopes = [...adoptionScopes, 'shelter:manage'] as const;
const storeScopes = [...adoptionScopes, 'store:manage'] as const;

/** The roles of people: what each permits, in a shelter and for the whole store. The console and its navigation use this table. */
const table = {
  volunteer: {
    meaning: 'Adds animals of the shelter, describes them and sends their photos.',
    shelter: { scopes: volunteerScopes, acts: [] },
    store: null,
  },
  staff: {
    meaning: 'Also changes animals, and decides on applications and orders.',
    shelter: { scopes: shelterScopes, acts: [] },
    store: { scopes: storeScopes, acts: ['shelter:settings'] },
  },
  admin: {
    meaning: 'Also manages people, and what a shelter says, asks and does by itself.',
    shelter: {
      scopes: shelterScopes,
      acts: ['people:manage', 'keys:manage', 'audit:read', 'shelter:settings', 'adopters:disclose', 'acts:undo'],
    },
    store: {
      scopes: storeScopes,
      acts: ['people:manage', 'keys:manage', 'plans:manage', 'audit:read', 'shelter:settings', 'adopters:disclose', 'acts:undo'],
    },
  },
} as const satisfies Record<string, RoleRow>;

export type Role = keyof typeof table;
export const roleTable: Readonly<Record<Role, RoleRow>> = table;
export const roles = Object.keys(table) as Role[];

export const isStaffAct = (text: string): text is StaffAct => Object.hasOwn(acts, text);

/** What a person may do, and where. */
export interface PersonRights extends KeyRights {
  readonly acts: readonly StaffAct[];
}

/** Undefined: there is no such role there. */
export function rightsOf(role: Role, shelterId: bigint | null): PersonRights | undefined {
  const rights = shelterId === null ? roleTable[role].store : roleTable[role].shelter;
  return rights ? { shelterId, ...rights } : undefined;
}

/** A role, and where: null is the whole store. */
export interface Post {
  readonly role: Role;
  readonly shelterId: bigint | null;
}

/** Whether `to` has a place, a scope or an act that `from` does not have. Nothing is a raise for an admin of the store. */
export function isRaise(from: Post, to: Post): boolean {
  const [had, gets] = [rightsOf(from.role, from.shelterId), rightsOf(to.role, to.shelterId)];
  if (!had || !gets) return true;
  if (had.shelterId !== null && had.shelterId !== gets.shelterId) return true;
  return !gets.scopes.every((scope) => covers(had.scopes, scope)) || !gets.acts.every((act) => had.acts.includes(act));
}

/** Whether the person may do so in this shelter; null: for the whole store. */
export const mayDo = (rights: Pick<PersonRights, 'shelterId' | 'acts'>, act: StaffAct, shelterId: bigint | null): boolean =>
  rights.acts.includes(act) && (rights.shelterId === null || rights.shelterId === shelterId);
