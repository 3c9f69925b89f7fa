import type { Post } from '../../domain/roles.ts';
import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';
import { type Person, type PersonRow, personColumns, personOf, theOne } from './person-queries.ts';

/** A raise: with it a person takes up more rights. */
export type LinkKind = 'invitation' | 'sign_in' | 'raise';

export interface Link {
  readonly kind: LinkKind;
  readonly expiresAt: Date;
  /** Neither used nor ended, and its person is still there. */
  readonly isOpen: boolean;
  readonly isUsed: boolean;
}

export async function insertLink(
  tx: Transaction,
  { hash, personId, kind, expiresAt }: { hash: Buffer; personId: bigint; kind: LinkKind; expiresAt: Date | { readonly minutes: number } },
): Promise<Date> {
  const [at, minutes] = expiresAt instanceof Date ? [expiresAt, null] : [null, expiresAt.minutes];
  const { rows } = await tx.query<{ expiresAt: Date }>({
    name: 'insert-person-link',
    text: `insert into person_links (hash, person_id, kind, expires_at) values ($1, $2, $3, coalesce($4, now() + make_interval(mins => $5)))
      returning expires_at as "expiresAt"`,
    values: [hash, personId, kind, at, minutes],
  });
  const [link] = rows;
  if (!link) throw new Error('an insert returned no row');
  return link.expiresAt;
}

export async function findLink(db: Db, hash: Buffer): Promise<{ link: Link; person: Person } | undefined> {
  const { rows } = await db.query<PersonRow & Link & { readonly isLinkOpen: boolean }>({
    name: 'person-link',
    text: `select ${personColumns}, kind, expires_at as "expiresAt", used_at is not null as "isUsed",
        used_at is null and expires_at > now() and case kind when 'invitation' then coalesce(invited_until > now(), false)
          when 'raise' then coalesce(raised_until > now(), false) else invited_until is null end as "isLinkOpen"
      from person_links join people on people.id = person_id where hash = $1 and removed_at is null`,
    values: [hash],
  });
  const [row] = rows;
  if (!row) return undefined;
  const { kind, expiresAt, isUsed, isLinkOpen } = row;
  return { link: { kind, expiresAt, isUsed, isOpen: isLinkOpen }, person: personOf(row) };
}

/** Whose it is. Undefined: there is no such link, it was used, or it has ended. Of several at once one gets it. Its person is locked. */
export async function useLink(tx: Transaction, hash: Buffer, kind: LinkKind): Promise<bigint | undefined> {
  const { rows } = await tx.query<{ personId: bigint }>({
    name: 'use-person-link',
    text: `update person_links set used_at = now() where hash = $1 and kind = $2 and used_at is null and expires_at > now()
      returning person_id as "personId"`,
    values: [hash, kind],
  });
  return rows[0]?.personId;
}

/** Whose link it is. Everybody who changes what a person signs in with has locked the person before. */
export async function lockLinkOwner(tx: Transaction, hash: Buffer): Promise<void> {
  await tx.query({
    name: 'lock-link-owner',
    text: 'select from people where id = (select person_id from person_links where hash = $1) for no key update',
    values: [hash],
  });
}

/** The other links of this kind lead nowhere either from now on. */
export async function endLinks(tx: Transaction, personId: bigint, kind: LinkKind): Promise<void> {
  await tx.query({
    name: 'end-person-links',
    text: 'update person_links set used_at = now() where person_id = $1 and kind = $2 and used_at is null',
    values: [personId, kind],
  });
}

/** Those that ended a day ago or earlier: until then their page says that they were used. Returns how many. */
export async function deleteEndedLinks(db: Writer, limit: number): Promise<number> {
  const { rowCount } = await db.write({
    name: 'delete-ended-person-links',
    text: `delete from person_links where hash in (
      select hash from person_links where expires_at < now() - interval '1 day' order by expires_at limit $1 for update skip locked)`,
    values: [limit],
  });
  return rowCount ?? 0;
}

export async function storeRaise(
  tx: Transaction,
  id: bigint,
  { role, shelterId }: Post,
  { hours, by }: { hours: number; by: bigint | null },
): Promise<Person> {
  const { rows } = await tx.query<PersonRow>({
    name: 'store-raise',
    text: `update people set raised_role = $2, raised_shelter_id = $3, raised_until = now() + make_interval(hours => $4), raised_by = $5
      where id = $1 returning ${personColumns}`,
    values: [id, role, shelterId, hours, by],
  });
  return theOne(rows);
}

export async function clearRaise(tx: Transaction, id: bigint): Promise<Person> {
  const { rows } = await tx.query<PersonRow>({
    name: 'clear-raise',
    text: `update people set raised_role = null, raised_shelter_id = null, raised_until = null, raised_by = null
      where id = $1 returning ${personColumns}`,
    values: [id],
  });
  return theOne(rows);
}
