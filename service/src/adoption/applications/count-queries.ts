import { openApplicationStatuses, unconfirmed } from '../../domain/application-states.ts';
import type { AdvisoryLock, Db, Transaction } from '../../platform/db/handles.ts';

/** Serializes what adds to the open and unconfirmed applications of a client. The blank keeps the name apart from Idempotency-Keys. */
const submissionsLock = (clientId: bigint): AdvisoryLock => ({ name: 'open applications', of: clientId });

/** Before an animal is locked. */
export async function lockSubmissions(tx: Transaction, clientId: bigint): Promise<void> {
  const { name, of } = submissionsLock(clientId);
  await tx.query({ name: 'lock-submissions', text: 'select pg_advisory_xact_lock(hashtextextended($1, $2))', values: [name, of] });
}

export interface ApplicationCounts {
  readonly open: number;
  readonly unconfirmed: number;
  readonly confirmations: number;
}

/**
 * What the transaction adds: an open application, an unconfirmed one whose adopter is asked for confirmation, or an open one that staff
 * have entered, whose adopter gets mail without having confirmed the address.
 */
export type Added = 'open' | 'unconfirmed' | 'entered';

/**
 * Adds one to the counts of a client, and returns what they were before. A count below the limit may be too high, since some may have
 * ended that are not counted off; one that reaches the limit is exact. Requires the lock.
 */
export async function addToCounts(tx: Transaction, clientId: bigint, added: Added, limit: number): Promise<ApplicationCounts> {
  const counts = await add(tx, clientId, added);
  const isBelow = counts && counts.open < limit && (added !== 'unconfirmed' || counts.unconfirmed < limit);
  return isBelow ? counts : recount(tx, clientId, added);
}

/** The same for what staff reopen, whatever the client's limit. Nothing is counted yet: then the next submission counts it. */
export async function addReopened(tx: Transaction, clientId: bigint): Promise<void> {
  await add(tx, clientId, 'open');
}

interface Counted {
  readonly open: bigint;
  readonly unconfirmed: bigint;
  readonly confirmations: bigint;
}

const today = `(now() at time zone 'utc')::date`;
const before = 'open_at_most - $2 as open, unconfirmed_at_most - $3 as unconfirmed, confirmations - $4 as confirmations';
const amounts = { open: [1n, 0n, 0n], unconfirmed: [0n, 1n, 1n], entered: [1n, 0n, 1n] } as const satisfies Record<
  Added,
  readonly bigint[]
>;

/** Undefined: there is nothing to add to. */
async function add(tx: Transaction, clientId: bigint, added: Added): Promise<ApplicationCounts | undefined> {
  const { rows } = await tx.query<Counted>({
    name: 'add-to-application-counts',
    text: `update application_counts set open_at_most = open_at_most + $2::bigint, unconfirmed_at_most = unconfirmed_at_most + $3::bigint,
        confirmations = case when day = ${today} then confirmations else 0 end + $4::bigint, day = ${today}
      where client_id = $1 returning ${before}`,
    values: [clientId, ...amounts[added]],
  });
  return rows[0] && countsOf(rows[0]);
}

/** Takes as long as the client has open ones. Confirmations are counted already, if there is a row. */
async function recount(tx: Transaction, clientId: bigint, added: Added): Promise<ApplicationCounts> {
  const { rows } = await tx.query<Counted>({
    name: 'recount-applications',
    // `offset 0` keeps the planner from reading what has ended too, and joining it.
    text: `insert into application_counts (client_id, open_at_most, unconfirmed_at_most, day, confirmations)
      select $1, count(*) filter (where wanted.status <> '${unconfirmed}') + $2::bigint,
          count(*) filter (where wanted.status = '${unconfirmed}') + $3::bigint, ${today}, $4::bigint
        from unnest($5::application_status[]) as wanted (status),
          lateral (select from applications where client_id = $1 and applications.status = wanted.status offset 0) as found
      on conflict (client_id) do update set open_at_most = excluded.open_at_most, unconfirmed_at_most = excluded.unconfirmed_at_most
      returning ${before}`,
    values: [clientId, ...amounts[added], [...openApplicationStatuses, unconfirmed]],
  });
  const [row] = rows;
  if (!row) throw new Error('the counts of a client were not stored');
  return countsOf(row);
}

const countsOf = ({ open, unconfirmed: waiting, confirmations }: Counted): ApplicationCounts => ({
  open: Number(open),
  unconfirmed: Number(waiting),
  confirmations: Number(confirmations),
});

/** How many open applications an animal has. `offset 0` keeps the planner from reading those that have ended too, and joining them. */
export async function countOfPet(db: Db, petId: bigint): Promise<number> {
  const { rows } = await db.query<{ open: bigint }>({
    name: 'count-applications-of-pet',
    text: `select count(*) as open from unnest($2::application_status[]) as wanted (status),
      lateral (select from applications where pet_id = $1 and applications.status = wanted.status offset 0) as found`,
    values: [petId, openApplicationStatuses],
  });
  return Number(rows[0]?.open ?? 0);
}

/** The open applications of one client for an animal. */
export interface Holding {
  readonly clientId: bigint;
  readonly isSuspended: boolean;
  readonly sent: number;
  /** By staff. */
  readonly entered: number;
}

/** How many applications the shelter takes for an animal, and who has open ones. Exact if the animal is locked. */
export async function findHoldings(db: Db, petId: bigint): Promise<{ max: number; holdings: Holding[] }> {
  const { rows } = await db.query<{ max: number } & (Holding | { clientId: null })>({
    name: 'holdings-of-pet',
    // `offset 0` as above. Clients are looked up one by one: there are many more of them.
    text: `select applications_max as max, holding.*,
        (select suspended_at is not null from clients where clients.id = holding."clientId") as "isSuspended"
      from pets join shelters on shelters.id = pets.shelter_id left join lateral (
        select client_id as "clientId", count(*) filter (where not is_entered)::int as sent, count(*) filter (where is_entered)::int as entered
          from unnest($2::application_status[]) as wanted (status),
            lateral (select client_id, is_entered from applications where pet_id = $1 and applications.status = wanted.status offset 0) as found
          group by client_id) as holding on true
      where pets.id = $1`,
    values: [petId, openApplicationStatuses],
  });
  return { max: rows[0]?.max ?? 0, holdings: rows.filter((row) => row.clientId !== null) };
}
