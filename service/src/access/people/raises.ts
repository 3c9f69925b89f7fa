// More rights for somebody who works here. Until that person follows a link, they wait, and nothing changes: an account may be in the hands of
// somebody else, such as of who has invited a colleague that was never there. So the link goes by mail alone, or a command prints it; and what
// the account could sign in with until then ends with it, in the same transaction.
import { isRaise, mayDo, type Post, rightsOf } from '../../domain/roles.ts';
import type { Transaction } from '../../platform/db/handles.ts';
import type { Journal } from '../../platform/journal/journal.ts';
import { type AuditAuthor, type AuditedAct, type Origin, recordAudit } from '../audit/audit.ts';
import { clearRaise, endLinks, storeRaise } from './link-queries.ts';
import { deleteSignIns, findPersonById, type Person, updatePerson } from './person-queries.ts';

/** As long as an invitation is open. */
export const raiseHours = 72;

/** In place of one that waits. The person is locked. */
export async function offerRaise(tx: Transaction, by: AuditAuthor, person: Person, to: Post): Promise<Person> {
  await endLinks(tx, person.id, 'raise');
  const offered = await storeRaise(tx, person.id, to, { hours: raiseHours, by: by.personId });
  await record(tx, by, 'person.raise_offered', person, to);
  return offered;
}

/** The person is locked. */
export async function withdrawRaise(tx: Transaction, by: AuditAuthor, person: Person): Promise<Person> {
  if (!person.raise) return person;
  await endLinks(tx, person.id, 'raise');
  const left = await clearRaise(tx, person.id);
  await record(tx, by, 'person.raise_withdrawn', person, person.raise);
  return left;
}

/**
 * By who has followed its link, and is locked. Undefined: it has ended, or who has decided so may not any more. `isJournaled` is false if the
 * journal's disk is full: the raise is taken up all the same.
 */
export async function takeUpRaise(
  tx: Transaction,
  journal: Journal,
  person: Person,
  origin: Origin,
): Promise<{ readonly person: Person; readonly isJournaled: boolean } | undefined> {
  const { id, raise } = person;
  if (!raise?.isOpen || !(await mayStillManage(tx, raise.by, [person.shelterId, raise.shelterId]))) return undefined;
  const areEndsJournaled = await endSignInsOf(tx, journal, id);
  await clearRaise(tx, id);
  const raised = await updatePerson(tx, id, { name: person.name, role: raise.role, shelterId: raise.shelterId });
  await record(tx, { personId: id, clientId: null, keyId: null, origin }, 'person.changed', person, raise);
  return { person: raised, isJournaled: journalPost(journal, person, raised) && areEndsJournaled };
}

/** Ends everything that a person could sign in with, who is locked. False: the journal's disk is full, and it is ended all the same. */
export async function endSignInsOf(tx: Transaction, journal: Journal, id: bigint): Promise<boolean> {
  await deleteSignIns(tx, id);
  tx.endsAuthority();
  return journal({ act: 'sign_ins_ended', person: id });
}

/** A restore would give back what the person could do before, and can't now. False: the journal's disk is full. */
export function journalPost(journal: Journal, before: Post, { id: person, role, shelterId: shelter }: Person): boolean {
  const isSame = role === before.role && shelter === before.shelterId;
  return isSame || !isRaise({ role, shelterId: shelter }, before) || journal({ act: 'person_changed', person, role, shelter });
}

/** Whether the person who has decided about others manages the people of these places still. Null: a command has decided. */
export async function mayStillManage(tx: Transaction, by: bigint | null, places: ReadonlyArray<bigint | null>): Promise<boolean> {
  if (by === null) return true;
  const decided = await findPersonById(tx, by);
  const rights = decided && decided.invitedUntil === null ? rightsOf(decided.role, decided.shelterId) : undefined;
  return rights !== undefined && places.every((place) => mayDo(rights, 'people:manage', place));
}

const record = (tx: Transaction, by: AuditAuthor, act: AuditedAct, person: Person, to: Post): Promise<void> =>
  recordAudit(tx, by, act, { targetId: person.id, shelterId: person.shelterId, before: valuesOf(person), after: valuesOf(to) });

const valuesOf = ({ role, shelterId }: Post) => ({ role, shelterId: shelterId === null ? null : String(shelterId) });
