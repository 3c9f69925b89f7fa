import type { Role } from '../../domain/roles.ts';
import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';

export interface Person {
  readonly id: bigint;
  /** Empty once it was erased, which only happens to those who were removed. */
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  /** Null: the store itself. */
  readonly shelterId: bigint | null;
  readonly createdAt: Date;
  readonly lastSeenAt: Date | null;
  /** When the invitation ends; null: it was accepted. */
  readonly invitedUntil: Date | null;
  /** The invitation can still be accepted. */
  readonly isOpen: boolean;
}

export const personColumns = `people.id, coalesce(people.email, '') as email, coalesce(people.name, '') as name, people.role,
  people.shelter_id as "shelterId", people.created_at as "createdAt", people.last_seen_at as "lastSeenAt",
  people.invited_until as "invitedUntil", coalesce(people.invited_until > now(), false) as "isOpen"`;

/** Undefined if someone has this address. */
export async function insertPerson(
  tx: Transaction,
  { email, name, role, shelterId }: Pick<Person, 'email' | 'name' | 'role' | 'shelterId'>,
  hours: number,
): Promise<Person | undefined> {
  const { rows } = await tx.query<Person>({
    name: 'insert-person',
    text: `insert into people (email, name, role, shelter_id, invited_until) values ($1, $2, $3, $4, now() + make_interval(hours => $5))
      on conflict (email) where removed_at is null do nothing returning ${personColumns}`,
    values: [email, name, role, shelterId, hours],
  });
  return rows[0];
}

export async function findPersonById(db: Db, id: bigint): Promise<Person | undefined> {
  const { rows } = await db.query<Person>({
    name: 'person',
    text: `select ${personColumns} from people where id = $1 and removed_at is null`,
    values: [id],
  });
  return rows[0];
}

export async function findPersonByEmail(db: Db, email: string): Promise<Person | undefined> {
  const { rows } = await db.query<Person>({
    name: 'person-by-email',
    text: `select ${personColumns} from people where email = $1 and removed_at is null`,
    values: [email],
  });
  return rows[0];
}

export async function lockPersonByEmail(tx: Transaction, email: string): Promise<Person | undefined> {
  const { rows } = await tx.query<Person>({
    name: 'lock-person-by-email',
    text: `select ${personColumns} from people where email = $1 and removed_at is null for no key update`,
    values: [email],
  });
  return rows[0];
}

/**
 * The person, and how many others are admins of the store and have joined. Locks all of them in one order: anyone who removes or demotes
 * another one at the same time waits, and then counts without this one.
 */
export async function lockPerson(tx: Transaction, id: bigint): Promise<{ person: Person; otherAdmins: number } | undefined> {
  const { rows } = await tx.query<Person>({
    name: 'lock-person',
    text: `select ${personColumns} from people
      where removed_at is null and (id = $1 or (role = 'admin' and shelter_id is null)) order by id for no key update`,
    values: [id],
  });
  const person = rows.find((row) => row.id === id);
  const others = rows.filter((row) => row.id !== id && row.invitedUntil === null);
  return person && { person, otherAdmins: others.length };
}

/** Locks a row that something is counted for. False: there is no such person. */
export async function lockForCount(tx: Transaction, id: bigint): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'lock-person-for-count',
    text: 'select from people where id = $1 and removed_at is null for no key update',
    values: [id],
  });
  return rowCount === 1;
}

export async function updatePerson(
  tx: Transaction,
  id: bigint,
  { name, role, shelterId }: Pick<Person, 'name' | 'role' | 'shelterId'>,
): Promise<Person | undefined> {
  const { rows } = await tx.query<Person>({
    name: 'update-person',
    text: `update people set name = $2, role = $3, shelter_id = $4 where id = $1 and removed_at is null returning ${personColumns}`,
    values: [id, name, role, shelterId],
  });
  return rows[0];
}

export async function reopenInvitation(tx: Transaction, id: bigint, hours: number): Promise<void> {
  await tx.query({
    name: 'reopen-invitation',
    text: 'update people set invited_until = now() + make_interval(hours => $2) where id = $1',
    values: [id, hours],
  });
}

/** Undefined: the invitation was accepted before or has ended, or the person was removed. */
export async function closeInvitation(tx: Transaction, id: bigint): Promise<Person | undefined> {
  const { rows } = await tx.query<Person>({
    name: 'close-invitation',
    text: `update people set invited_until = null where id = $1 and removed_at is null and invited_until > now() returning ${personColumns}`,
    values: [id],
  });
  return rows[0];
}

/** Everything that the person could sign in with goes at once. The row stays, for those who read what the person has done. */
export async function removePersonRow(tx: Transaction, id: bigint): Promise<void> {
  await tx.query({
    name: 'remove-person',
    text: `with sessions as (delete from sessions where person_id = $1), links as (delete from person_links where person_id = $1),
        passkeys as (delete from passkeys where person_id = $1), identities as (delete from identities where person_id = $1)
      update people set removed_at = coalesce(removed_at, now()), invited_until = null where id = $1`,
    values: [id],
  });
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

export interface PeopleFilter {
  /** Undefined: everyone. Null: those of the store. */
  readonly shelterId?: bigint | null;
  readonly afterId: bigint;
  readonly limit: number;
}

export async function selectPeople(db: Db, { shelterId, afterId, limit }: PeopleFilter): Promise<Person[]> {
  const place = shelterId === undefined ? '' : shelterId === null ? 'and shelter_id is null' : 'and shelter_id = $3';
  const { rows } = await db.query<Person>({
    text: `select ${personColumns} from people where removed_at is null and id > $1 ${place} order by id limit $2`,
    values: [afterId, limit, ...(typeof shelterId === 'bigint' ? [shelterId] : [])],
  });
  return rows;
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

/** Counts one more link that the person has asked for today (UTC). Undefined: nobody has this address, or it has asked too often. */
export async function countAsked(db: Writer, email: string, max: number): Promise<bigint | undefined> {
  const { rows } = await db.write<{ id: bigint }>({
    name: 'count-asked',
    text: `update people set asked_on = (now() at time zone 'utc')::date,
        asked = case when asked_on = (now() at time zone 'utc')::date then asked + 1 else 1 end
      where email = $1 and removed_at is null and invited_until is null
        and (asked_on is distinct from (now() at time zone 'utc')::date or asked < $2) returning id`,
    values: [email, max],
  });
  return rows[0]?.id;
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
