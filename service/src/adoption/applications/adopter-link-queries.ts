import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';

/** What an adopter does by a link that is mailed on request. */
export type AdopterAct = 'withdraw' | 'erase';

/** Such a link. */
export interface AdopterLink {
  readonly id: bigint;
  readonly number: bigint;
  readonly act: AdopterAct;
}

/** Without the animal's lock: what follows waits for nothing more. False: who has the link of this number may not ask for another. */
export async function lockAsked(tx: Transaction, id: bigint, linkNumber: bigint): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'lock-asked-application',
    text: `select from applications where id = $1 and link_number = $2 and is_mailed and is_confirmed and adopter_email is not null for no key update`,
    values: [id, linkNumber],
  });
  return rowCount === 1;
}

export interface AskedLink {
  /** Today (UTC). */
  readonly count: number;
  /** Of an act; null: none today. */
  readonly lastAt: Date | null;
  /** When the next day begins. */
  readonly resetAt: Date;
}

const today = `date_trunc('day', now() at time zone 'utc') at time zone 'utc'`;

export async function countAsked(db: Db, id: bigint, act: AdopterAct): Promise<AskedLink> {
  const { rows } = await db.query<Omit<AskedLink, 'count'> & { count: bigint }>({
    name: 'count-adopter-links',
    text: `select count(*) as count, max(asked_at) filter (where act = $2) as "lastAt", ${today} + interval '1 day' as "resetAt"
      from adopter_links where application_id = $1 and asked_at >= ${today}`,
    values: [id, act],
  });
  const [row] = rows;
  if (!row) throw new Error('a count is one row');
  return { ...row, count: Number(row.count) };
}

/** Those of the days before go: they have ended. */
export async function insertAdopterLink(tx: Transaction, { id, number, act }: AdopterLink): Promise<void> {
  await tx.query({
    name: 'delete-old-adopter-links',
    text: `delete from adopter_links where application_id = $1 and asked_at < ${today}`,
    values: [id],
  });
  await tx.query({
    name: 'insert-adopter-link',
    text: 'insert into adopter_links (application_id, number, act) values ($1, $2, $3)',
    values: [id, number, act],
  });
}

/** The last one that was asked for works from now on. Undefined: there is none any more, or it was used. */
export async function beginAdopterLink(db: Writer, id: bigint, act: AdopterAct, minutes: number): Promise<bigint | undefined> {
  const { rows } = await db.write<{ number: bigint }>({
    name: 'begin-adopter-link',
    text: `update adopter_links set ends_at = now() + make_interval(mins => $3) where application_id = $1 and used_at is null
        and number = (select number from adopter_links where application_id = $1 and act = $2 order by asked_at desc, number limit 1)
      returning number`,
    values: [id, act, minutes],
  });
  return rows[0]?.number;
}

const isLive = 'application_id = $1 and number = $2 and act = $3 and used_at is null and ends_at > now()';

export async function isLinkLive(db: Db, { id, number, act }: AdopterLink): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'live-adopter-link',
    text: `select from adopter_links where ${isLive}`,
    values: [id, number, act],
  });
  return rowCount === 1;
}

/** Requires the lock of the application. Returns whether it was live: the act is true then, and the link has ended. */
export async function useAdopterLink(tx: Transaction, { id, number, act }: AdopterLink): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'use-adopter-link',
    text: `update adopter_links set used_at = now() where ${isLive}`,
    values: [id, number, act],
  });
  return rowCount === 1;
}

/** Requires the locks of the applications. */
export async function deleteAdopterLinks(tx: Transaction, ids: readonly bigint[]): Promise<void> {
  await tx.query({
    name: 'delete-adopter-links',
    text: 'delete from adopter_links where application_id = any($1::bigint[])',
    values: [ids],
  });
}

/** Links to the page with a lower number have ended. Requires the lock of the application. */
export async function raiseLinkNumber(tx: Transaction, id: bigint, number: bigint): Promise<void> {
  await tx.query({
    name: 'raise-link-number',
    text: 'update applications set link_number = greatest(link_number, $2) where id = $1',
    values: [id, number],
  });
}
