import type { Post, Role } from '../../domain/roles.ts';
import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';

/** More rights, which wait until the person follows a link. */
export interface Raise extends Post {
  readonly until: Date;
  /** It can still be followed. */
  readonly isOpen: boolean;
  /** Who has decided so; null: a command. */
  readonly by: bigint | null;
}

export interface Person extends Post {
  readonly id: bigint;
  /** Empty once it was erased, which only happens to those who were removed. */
  readonly email: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastSeenAt: Date | null;
  /** When the invitation ends; null: it was accepted. */
  readonly invitedUntil: Date | null;
  /** The invitation can still be accepted. */
  readonly isOpen: boolean;
  /** Who has invited this person; null: a command. */
  readonly invitedBy: bigint | null;
  readonly raise: Raise | null;
}

export type PersonRow = Omit<Person, 'raise'> & {
  readonly raisedRole: Role | null;
  readonly raisedShelterId: bigint | null;
  readonly raisedUntil: Date | null;
  readonly isRaiseOpen: boolean;
  readonly raisedBy: bigint | null;
};

export const personColumns = `people.id, coalesce(people.email, '') as email, coalesce(people.name, '') as name, people.role,
  people.shelter_id as "shelterId", people.created_at as "createdAt", people.last_seen_at as "lastSeenAt",
  people.invited_until as "invitedUntil", coalesce(people.invited_until > now(), false) as "isOpen",
  people.invited_by as "invitedBy", people.raised_role as "raisedRole", people.raised_shelter_id as "raisedShelterId",
  people.raised_until as "raisedUntil", coalesce(people.raised_until > now(), false) as "isRaiseOpen", people.raised_by as "raisedBy"`;

/** Of a row that may have more columns than these. */
export function personOf(row: PersonRow): Person {
  const { id, email, name, role, shelterId, createdAt, lastSeenAt, invitedUntil, isOpen, invitedBy } = row;
  const { raisedRole, raisedUntil: until, raisedShelterId, isRaiseOpen, raisedBy } = row;
  const raise = raisedRole && until && { role: raisedRole, shelterId: raisedShelterId, until, isOpen: isRaiseOpen, by: raisedBy };
  return { id, email, name, role, shelterId, createdAt, lastSeenAt, invitedUntil, isOpen, invitedBy, raise };
}

const firstOf = ([row]: readonly PersonRow[]): Person | undefined => row && personOf(row);

/** Undefined if someone has this address. */
export async function insertPerson(
  tx: Transaction,
  { email, name, role, shelterId, invitedBy }: Pick<Person, 'email' | 'name' | 'role' | 'shelterId' | 'invitedBy'>,
  hours: number,
): Promise<Person | undefined> {
  const { rows } = await tx.query<PersonRow>({
    name: 'insert-person',
    text: `insert into people (email, name, role, shelter_id, invited_until, invited_by)
        values ($1, $2, $3, $4, now() + make_interval(hours => $5), $6)
      on conflict (email) where removed_at is null do nothing returning ${personColumns}`,
    values: [email, name, role, shelterId, hours, invitedBy],
  });
  return firstOf(rows);
}

export async function findPersonById(db: Db, id: bigint): Promise<Person | undefined> {
  const { rows } = await db.query<PersonRow>({
    name: 'person',
    text: `select ${personColumns} from people where id = $1 and removed_at is null`,
    values: [id],
  });
  return firstOf(rows);
}

export async function findPersonByEmail(db: Db, email: string): Promise<Person | undefined> {
  const { rows } = await db.query<PersonRow>({
    name: 'person-by-email',
    text: `select ${personColumns} from people where email = $1 and removed_at is null`,
    values: [email],
  });
  return firstOf(rows);
}

export async function lockPersonByEmail(tx: Transaction, email: string): Promise<Person | undefined> {
  const { rows } = await tx.query<PersonRow>({
    name: 'lock-person-by-email',
    text: `select ${personColumns} from people where email = $1 and removed_at is null for no key update`,
    values: [email],
  });
  return firstOf(rows);
}

export const isStoreAdmin = ({ role, shelterId }: Pick<Person, 'role' | 'shelterId'>): boolean => role === 'admin' && shelterId === null;

/**
 * These people, and how many others are admins of the store and have joined. Locks all of them in one order: anyone who removes or demotes
 * another one at the same time waits, and then counts without these.
 */
export async function lockPeople(
  tx: Transaction,
  ids: readonly bigint[],
  by: bigint | null,
): Promise<{ people: Person[]; otherAdmins: number }> {
  const { rows } = await tx.query<PersonRow>({
    name: 'lock-people',
    text: `select ${personColumns} from people
      where removed_at is null and (id = any($1::bigint[]) or id = $2 or (role = 'admin' and shelter_id is null)) order by id for no key update`,
    values: [ids, by],
  });
  const others = rows.filter((row) => !ids.includes(row.id) && isStoreAdmin(row) && row.invitedUntil === null);
  return { people: rows.filter((row) => ids.includes(row.id)).map(personOf), otherAdmins: others.length };
}

/** Of one who signs in, or adds what to sign in with; or whose things are counted. False: there is no such person. */
export async function lockPerson(tx: Transaction, id: bigint): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'lock-person',
    text: 'select from people where id = $1 and removed_at is null for no key update',
    values: [id],
  });
  return rowCount === 1;
}

export async function updatePerson(
  tx: Transaction,
  id: bigint,
  { name, role, shelterId }: Pick<Person, 'name' | 'role' | 'shelterId'>,
): Promise<Person> {
  const { rows } = await tx.query<PersonRow>({
    name: 'update-person',
    text: `update people set name = $2, role = $3, shelter_id = $4,
        post_changed_at = case when (role, shelter_id) is distinct from ($3, $4::bigint) then now() else post_changed_at end
      where id = $1 and removed_at is null returning ${personColumns}`,
    values: [id, name, role, shelterId],
  });
  return theOne(rows);
}

/** As if the person had not been known before. */
export async function reopenInvitation(
  tx: Transaction,
  { id, name, role, shelterId, invitedBy }: Pick<Person, 'id' | 'name' | 'role' | 'shelterId' | 'invitedBy'>,
  hours: number,
): Promise<Person> {
  const { rows } = await tx.query<PersonRow>({
    name: 'reopen-invitation',
    text: `update people set name = $2, role = $3, shelter_id = $4, invited_by = $5, invited_until = now() + make_interval(hours => $6),
        created_at = now()
      where id = $1 returning ${personColumns}`,
    values: [id, name, role, shelterId, invitedBy, hours],
  });
  return theOne(rows);
}

/** Undefined: the invitation was accepted before or has ended, or the person was removed. */
export async function closeInvitation(tx: Transaction, id: bigint): Promise<Person | undefined> {
  const { rows } = await tx.query<PersonRow>({
    name: 'close-invitation',
    text: `update people set invited_until = null where id = $1 and removed_at is null and invited_until > now() returning ${personColumns}`,
    values: [id],
  });
  return firstOf(rows);
}

/** Everything that the person could sign in with. Those who add to it have locked the person, as the caller of this has. */
export async function deleteSignIns(tx: Transaction, id: bigint): Promise<void> {
  await tx.query({
    name: 'delete-sign-ins',
    text: `with ended as (delete from sessions where person_id = $1), links as (delete from person_links where person_id = $1),
        passkeys as (delete from passkeys where person_id = $1)
      delete from identities where person_id = $1`,
    values: [id],
  });
}

/** The row stays, for those who read what the person has done. */
export async function removePersonRow(tx: Transaction, id: bigint): Promise<void> {
  await deleteSignIns(tx, id);
  await tx.query({
    name: 'remove-person',
    text: `update people set removed_at = coalesce(removed_at, now()), invited_until = null, raised_role = null, raised_shelter_id = null,
        raised_until = null, raised_by = null
      where id = $1`,
    values: [id],
  });
}

/** Of a person that is locked. */
export function theOne(rows: readonly PersonRow[]): Person {
  const person = firstOf(rows);
  if (!person) throw new Error('a locked person is gone');
  return person;
}

/** After a restore. False: there is no such person, or the id is that of someone who was invited after `at`. */
export async function removePersonFromBefore(tx: Transaction, id: bigint, at: Date): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: `select from people where id = $1 and created_at <= $2::timestamptz + interval '1 minute' for update`,
    values: [id, at],
  });
  if (rowCount !== 1) return false;
  await removePersonRow(tx, id);
  return true;
}

/** After a restore. False: there is no such person, or the id is that of someone who was invited, or whose post was changed, after `at`. */
export async function changePostFromBefore(tx: Transaction, { id, role, shelterId }: Pick<Person, 'id' | 'role' | 'shelterId'>, at: Date) {
  const { rowCount } = await tx.query({
    text: `select from people where id = $1 and removed_at is null
      and greatest(created_at, post_changed_at) <= $2::timestamptz + interval '1 minute' for update`,
    values: [id, at],
  });
  if (rowCount !== 1) return false;
  const changed = await tx.query({
    text: `update people set role = $2, shelter_id = $3, post_changed_at = $4
      where id = $1 and exists (select from staff_clients where shelter_id = coalesce($3::bigint, 0))`,
    values: [id, role, shelterId, at],
  });
  // Nobody worked there yet: the new place is lost, and the old one is not theirs any more.
  if (changed.rowCount !== 1) await removePersonRow(tx, id);
  return true;
}

/** After a restore: passkeys and accounts from before `at`. False: there are none. */
export async function deleteSignInsFromBefore(tx: Transaction, personId: bigint, at: Date): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: `with passkeys as (delete from passkeys where person_id = $1 and created_at <= $2::timestamptz + interval '1 minute' returning id),
        identities as (delete from identities where person_id = $1 and created_at <= $2::timestamptz + interval '1 minute' returning subject)
      select id::text from passkeys union all select subject from identities`,
    values: [personId, at],
  });
  return (rowCount ?? 0) > 0;
}

export interface PeopleFilter {
  /** Undefined: everyone. Null: those of the store. */
  readonly shelterId?: bigint | null;
  /** Only those whom this person has invited. */
  readonly invitedBy?: bigint;
  readonly afterId: bigint;
  readonly limit: number;
}

export async function selectPeople(db: Db, { shelterId, invitedBy, afterId, limit }: PeopleFilter): Promise<Person[]> {
  const values: unknown[] = [afterId, limit];
  const conditions = ['removed_at is null', 'id > $1'];
  if (shelterId === null) conditions.push('shelter_id is null');
  else if (shelterId !== undefined) conditions.push(`shelter_id = $${values.push(shelterId)}`);
  if (invitedBy !== undefined) conditions.push(`invited_by = $${values.push(invitedBy)}`);
  const { rows } = await db.query<PersonRow>({
    text: `select ${personColumns} from people where ${conditions.join(' and ')} order by id limit $2`,
    values,
  });
  return rows.map(personOf);
}

/** How many a shelter has, or the store; counts to `max`. */
export async function countPeople(tx: Transaction, shelterId: bigint | null, max: number): Promise<number> {
  const place = shelterId === null ? 'shelter_id is null' : 'shelter_id = $2';
  const { rows } = await tx.query<{ count: bigint }>({
    text: `select count(*) as count from (select from people where ${place} and removed_at is null limit $1) as counted`,
    values: [max, ...(shelterId === null ? [] : [shelterId])],
  });
  return Number(rows[0]?.count ?? 0);
}

/** Counts one more person that this one has invited today (UTC). False: as many as allowed. */
export async function countInvite(tx: Transaction, id: bigint, max: number): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'count-invite',
    text: `update people set invites_on = (now() at time zone 'utc')::date,
        invites = case when invites_on = (now() at time zone 'utc')::date then invites + 1 else 1 end
      where id = $1 and removed_at is null and (invites_on is distinct from (now() at time zone 'utc')::date or invites < $2)`,
    values: [id, max],
  });
  return rowCount === 1;
}

/** Erases names and addresses of people who were removed before this. Returns how many. */
export async function eraseRemoved(db: Writer, before: Date, limit: number): Promise<number> {
  const { rowCount } = await db.write({
    name: 'erase-removed-people',
    text: `update people set email = null, name = null where id in (
      select id from people where removed_at < $1 and email is not null order by removed_at limit $2 for update skip locked)`,
    values: [before, limit],
  });
  return rowCount ?? 0;
}
