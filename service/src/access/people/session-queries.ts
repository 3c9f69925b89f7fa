import type { Authority } from '../../domain/actor.ts';
import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';
import type { PlanName } from '../rate-limit/plans.ts';
import { type Person, type PersonRow, personColumns, personOf } from './person-queries.ts';

export type SignInMethod = 'passkey' | 'oidc' | 'link';

export interface Session {
  readonly id: bigint;
  readonly personId: bigint;
  readonly method: SignInMethod;
  /** The network that the person signed in from, such as 192.0.2.0/24. */
  readonly network: string;
  /** When the person has shown who it is: with a provider, that may have been before the session. */
  readonly signedInAt: Date;
  /** Up to a minute ago if it is in use. */
  readonly lastSeenAt: Date;
  /** At the latest. It ends sooner if nobody uses it. */
  readonly expiresAt: Date;
  /** Signed in within the last ten minutes, as acts on people and erasures need it. */
  readonly isFresh: boolean;
}

/** The client that the person's shelter places orders for, with its bounds. */
export interface StaffClient {
  readonly clientId: bigint;
  readonly plan: PlanName;
  readonly perMinute: number | null;
  readonly perDay: number | null;
  readonly openOrdersMax: number | null;
  readonly newCategoriesMax: number | null;
}

export const freshMinutes = 10;

const sessionColumns = `sessions.id as "sessionId", person_id as "personId", method, network, signed_in_at as "signedInAt",
  sessions.last_seen_at as "sessionSeenAt", sessions.expires_at as "expiresAt", signed_in_at > now() - interval '${freshMinutes} minutes' as "isFresh"`;
const clientColumns = `client_id as "clientId", plan, per_minute as "perMinute", per_day as "perDay", open_orders_max as "openOrdersMax",
  new_categories_max as "newCategoriesMax"`;
/** Idle for 8 hours, or 7 days old: it has ended, also before it is deleted. */
const isOpen = `sessions.expires_at > now() and sessions.last_seen_at > now() - interval '8 hours'`;

type SessionRow = Omit<Session, 'id' | 'lastSeenAt'> & { readonly sessionId: bigint; readonly sessionSeenAt: Date };

const sessionOf = ({ sessionId, personId, method, network, signedInAt, sessionSeenAt, expiresAt, isFresh }: SessionRow): Session => ({
  id: sessionId,
  personId,
  method,
  network,
  signedInAt,
  lastSeenAt: sessionSeenAt,
  expiresAt,
  isFresh,
});

interface SignIn {
  readonly shelterId: bigint | null;
  /** In this hour, with this one. */
  readonly count: number;
  /** Minutes until the count begins again. */
  readonly minutesLeft: number;
}

/** Who signs in is seen, and counted. Undefined: the person was removed meanwhile, or has not accepted the invitation. */
export async function countSignIn(tx: Transaction, personId: bigint): Promise<SignIn | undefined> {
  const isOver = `sign_ins_since is null or sign_ins_since <= now() - interval '1 hour'`;
  const { rows } = await tx.query<{ shelterId: bigint | null; count: bigint; minutesLeft: number }>({
    name: 'count-sign-in',
    text: `update people set last_seen_at = now(), sign_ins = case when ${isOver} then 1 else sign_ins + 1 end,
        sign_ins_since = case when ${isOver} then now() else sign_ins_since end
      where id = $1 and removed_at is null and invited_until is null
      returning shelter_id as "shelterId", sign_ins as count,
        ceil(extract(epoch from sign_ins_since + interval '1 hour' - now()) / 60)::int as "minutesLeft"`,
    values: [personId],
  });
  const [row] = rows;
  return row && { ...row, count: Number(row.count) };
}

export async function insertSession(
  tx: Transaction,
  session: { personId: bigint; hash: Buffer; method: SignInMethod; network: string; days: number; signedInAt: Date | undefined },
): Promise<Session> {
  const { rows } = await tx.query<SessionRow>({
    name: 'insert-session',
    text: `insert into sessions (person_id, hash, method, network, expires_at, signed_in_at)
        values ($1, $2, $3, $4, now() + make_interval(days => $5), least($6::timestamptz, now()))
      returning ${sessionColumns}`,
    values: [session.personId, session.hash, session.method, session.network, session.days, session.signedInAt ?? null],
  });
  const [row] = rows;
  if (!row) throw new Error('an insert returned no row');
  return sessionOf(row);
}

/** All that a page needs: the session, whose it is, and for which client the person acts. */
export async function findSessionByHash(
  db: Db,
  hash: Buffer,
): Promise<{ session: Session; person: Person; client: StaffClient; isSuspended: boolean; isSeenLongAgo: boolean } | undefined> {
  const { rows } = await db.query<
    PersonRow & SessionRow & StaffClient & { readonly isSuspended: boolean; readonly isSeenLongAgo: boolean }
  >({
    name: 'session',
    text: `select ${personColumns}, ${sessionColumns}, ${clientColumns}, sessions.last_seen_at < now() - interval '1 minute' as "isSeenLongAgo",
        suspended_at is not null and people.shelter_id is not null as "isSuspended"
      from sessions join people on people.id = person_id join staff_clients on staff_clients.shelter_id = coalesce(people.shelter_id, 0)
        join clients on clients.id = client_id
      where hash = $1 and ${isOpen} and removed_at is null`,
    values: [hash],
  });
  const [row] = rows;
  if (!row) return undefined;
  const { clientId, plan, perMinute, perDay, openOrdersMax, newCategoriesMax } = row;
  return {
    session: sessionOf(row),
    person: personOf(row),
    client: { clientId, plan, perMinute, perDay, openOrdersMax, newCategoriesMax },
    isSuspended: row.isSuspended,
    isSeenLongAgo: row.isSeenLongAgo,
  };
}

/** At most once a minute, however many processes and pages there are. */
export async function touchSession(db: Writer, id: bigint): Promise<void> {
  await db.write({
    name: 'touch-session',
    text: `with seen as (
        update sessions set last_seen_at = now() where id = $1 and last_seen_at < now() - interval '1 minute' returning person_id)
      update people set last_seen_at = now() from seen where people.id = seen.person_id`,
    values: [id],
  });
}

/** Of this person. What ends it has locked the person. */
export async function isOpenSession(tx: Transaction, personId: bigint, id: bigint): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'is-open-session',
    text: `select from sessions where id = $2 and person_id = $1 and ${isOpen}`,
    values: [personId, id],
  });
  return rowCount === 1;
}

/** Why what somebody acts by has ended; null: it has not. For who has waited for a lock since the transaction began. */
export async function findEnd(tx: Transaction, { ended }: Authority): Promise<string | null> {
  const { rows } = await tx.query<{ why: string | null }>({ text: `select ${ended} as why` });
  return rows[0]?.why ?? null;
}

export async function selectSessions(db: Db, personId: bigint, limit: number): Promise<Session[]> {
  const { rows } = await db.query<SessionRow>({
    name: 'sessions-of-person',
    text: `select ${sessionColumns} from sessions where person_id = $1 and ${isOpen} order by id desc limit $2`,
    values: [personId, limit],
  });
  return rows.map(sessionOf);
}

/** Of this person alone. Undefined: the person has no such session. */
export async function deleteSession(
  tx: Transaction,
  personId: bigint,
  id: bigint,
): Promise<Pick<Session, 'method' | 'network'> | undefined> {
  const { rows } = await tx.query<Pick<Session, 'method' | 'network'>>({
    name: 'delete-session',
    text: 'delete from sessions where id = $2 and person_id = $1 returning method, network',
    values: [personId, id],
  });
  return rows[0];
}

/** Returns how many. */
export async function deleteSessions(tx: Transaction, personId: bigint, exceptId: bigint | null): Promise<number> {
  const { rowCount } = await tx.query({
    name: 'delete-sessions',
    text: 'delete from sessions where person_id = $1 and id is distinct from $2',
    values: [personId, exceptId],
  });
  return rowCount ?? 0;
}

/** All but the newest ones. */
export async function deleteOldSessions(tx: Transaction, personId: bigint, max: number): Promise<void> {
  await tx.query({
    name: 'delete-old-sessions',
    text: 'delete from sessions where id in (select id from sessions where person_id = $1 order by id desc offset $2)',
    values: [personId, max],
  });
}

/** Returns how many. */
export async function deleteEndedSessions(db: Writer, limit: number): Promise<number> {
  const { rowCount } = await db.write({
    name: 'delete-ended-sessions',
    text: `delete from sessions where id in (
      select id from sessions where expires_at < now() order by expires_at limit $1 for update skip locked)`,
    values: [limit],
  });
  return rowCount ?? 0;
}

/** Waits for anyone who makes the client of this shelter at the same time. Undefined: there is none yet. */
export async function lockStaffClient(tx: Transaction, shelterId: bigint | null): Promise<bigint | undefined> {
  await tx.query({
    name: 'lock-staff-client',
    text: `select pg_advisory_xact_lock(hashtextextended('staff client', $1))`,
    values: [shelterId ?? 0n],
  });
  const { rows } = await tx.query<{ clientId: bigint }>({
    name: 'staff-client',
    text: 'select client_id as "clientId" from staff_clients where shelter_id = $1',
    values: [shelterId ?? 0n],
  });
  return rows[0]?.clientId;
}

export async function findShelterName(tx: Transaction, shelterId: bigint): Promise<string | undefined> {
  const { rows } = await tx.query<{ name: string }>({
    name: 'name-of-shelter-with-people',
    text: 'select name from shelters where id = $1',
    values: [shelterId],
  });
  return rows[0]?.name;
}

export async function insertStaffClient(tx: Transaction, shelterId: bigint | null, clientId: bigint): Promise<void> {
  await tx.query({
    name: 'insert-staff-client',
    text: 'insert into staff_clients (shelter_id, client_id) values ($1, $2)',
    values: [shelterId ?? 0n, clientId],
  });
}

/** So many sign-ins that failed, of a kind, from a network. */
export interface FailedCount {
  readonly kind: string;
  readonly network: string;
  readonly count: number;
}

/** In an hour (UTC). */
export interface FailedHour extends FailedCount {
  readonly hour: Date;
}

/** In place of the networks for which an hour has no row left. */
export const otherNetworks = 'others';

/** Adds to this hour. `networksMax` bounds its rows, whatever networks a stranger comes from: one process after the other looks for the room. */
export async function addFailedSignIns(tx: Transaction, counts: readonly FailedCount[], networksMax: number): Promise<void> {
  await tx.query({ text: `select pg_advisory_xact_lock(hashtextextended('failed_sign_ins', 0))` });
  await tx.query({
    name: 'add-failed-sign-ins',
    text: `with known as (select kind, network from failed_sign_ins where hour = date_trunc('hour', now(), 'UTC') and network <> '${otherNetworks}'),
      given as (select kind, network, count, known.network is not null as is_known,
          row_number() over (partition by known.network is null order by network = '${otherNetworks}', count desc) as place
        from unnest($1::text[], $2::text[], $3::bigint[]) as given (kind, network, count) left join known using (kind, network)),
      placed as (select kind, count, case when is_known or place <= $4 - (select count(*) from known) then network else '${otherNetworks}' end as network
        from given)
      insert into failed_sign_ins as stored (hour, kind, network, count)
        select date_trunc('hour', now(), 'UTC'), kind, network, sum(count) from placed group by kind, network
      on conflict (hour, kind, network) do update set count = stored.count + excluded.count`,
    values: [counts.map(({ kind }) => kind), counts.map(({ network }) => network), counts.map(({ count }) => count), networksMax],
  });
}

/** The newest hour first, and in it the most. */
export async function selectFailedSignIns(db: Db, since: Date, limit: number): Promise<FailedHour[]> {
  const { rows } = await db.query<Omit<FailedHour, 'count'> & { readonly count: bigint }>({
    text: `select hour, kind, network, count from failed_sign_ins where hour > $1::timestamptz - interval '1 hour'
      order by hour desc, count desc, kind, network limit $2`,
    values: [since, limit],
  });
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

/** Returns how many rows. */
export async function deleteOldFailedSignIns(db: Writer, days: number, limit: number): Promise<number> {
  const { rowCount } = await db.write({
    name: 'delete-old-failed-sign-ins',
    text: `delete from failed_sign_ins where (hour, kind, network) in (select hour, kind, network from failed_sign_ins
      where hour < now() - make_interval(days => $1) order by hour limit $2 for update skip locked)`,
    values: [days, limit],
  });
  return rowCount ?? 0;
}
