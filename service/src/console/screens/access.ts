import { isStaffAct, type StaffAct } from '../../domain/roles.ts';
import { hasOne, type Scope } from '../../domain/scopes.ts';
import type { PersonCaller } from '../../partners/principals/principals.ts';

/** What a screen needs: a scope or one of several, as an operation does; an act that no scope covers; or only that somebody is signed in. */
export type Needs = Scope | StaffAct | readonly Scope[] | 'a person';

/** Whether the role of a person permits it. Which shelters it permits it in is for the operations to say. */
export function mayUse({ scopes, acts }: Pick<PersonCaller, 'scopes' | 'acts'>, needs: Needs): boolean {
  if (needs === 'a person') return true;
  if (typeof needs === 'string' && isStaffAct(needs)) return acts.includes(needs);
  return hasOne(scopes, [needs].flat());
}
