import type { Db, Transaction } from '../../platform/db/handles.ts';
import type { StaffOf } from './staff-queries.ts';

/** An application or an order of an adopter. */
export interface AdopterMatch {
  readonly subject: 'application' | 'order';
  readonly id: bigint;
}

/** As triggers fold the words of adopters: one function folds both, so that they always agree. */
export async function foldParts(db: Db, parts: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ part: string }>({
    text: 'select adopter_fold(part) as part from unnest($1::text[]) with ordinality as given (part, n) order by n',
    values: [parts],
  });
  return rows.map(({ part }) => part);
}

const hasAll = (parts: string) => `not exists (select from unnest(${parts}::text[]) as part where strpos(words, part) = 0)`;

/** Among the newest `readMax`. How many were read: less than that are all that these staff have. */
export async function selectNewestMatches(
  db: Db,
  staffOf: StaffOf,
  parts: readonly string[],
  { readMax, limit }: { readonly readMax: number; readonly limit: number },
): Promise<{ read: number; matches: AdopterMatch[] }> {
  const values: unknown[] = [parts, readMax, limit];
  // A range of the index: with an equality, the planner may read the newest of every shelter.
  const shelter = staffOf === 'all' ? '' : `$${values.push(staffOf)}::bigint`;
  const where = staffOf === 'all' ? '' : `where (shelter_id, created_at) <= (${shelter}, 'infinity') and shelter_id >= ${shelter}`;
  const order = staffOf === 'all' ? 'created_at desc' : 'shelter_id desc, created_at desc';
  const { rows } = await db.query<{ read: number; matches: Array<[AdopterMatch['subject'], string]> }>({
    text: `with newest as materialized (select subject, subject_id, created_at, words from adopter_words ${where} order by ${order} limit $2),
      found as (select subject, subject_id, created_at from newest where ${hasAll('$1')} order by created_at desc, subject_id desc limit $3)
      select (select count(*)::int from newest) as read,
        (select coalesce(json_agg(json_build_array(subject, subject_id::text) order by created_at desc, subject_id desc), '[]') from found) as matches`,
    values,
  });
  const { read = 0, matches = [] } = rows[0] ?? {};
  return { read, matches: matches.map(([subject, id]) => ({ subject, id: BigInt(id) })) };
}

/**
 * By the index of what is in the words, newest first. Of more than `foundMax`, which has no order in the index, the newest of those that are
 * found first. `indexed` are parts as the index has them, and all parts are looked for in what it finds.
 */
export async function selectMatches(
  db: Db,
  staffOf: StaffOf,
  { indexed, parts }: { readonly indexed: readonly string[]; readonly parts: readonly string[] },
  { foundMax, limit }: { readonly foundMax: number; readonly limit: number },
): Promise<{ found: number; matches: AdopterMatch[] }> {
  const values: unknown[] = [parts, indexed.join(' '), staffOf === 'all' ? null : staffOf, foundMax, limit];
  const { rows } = await db.query<{ found: number; matches: Array<[AdopterMatch['subject'], string]> }>({
    text: `with found as materialized (select subject, subject_id, created_at from adopter_words
        where adopter_grams(shelter_id, words) @> adopter_grams($3::bigint, $2) and ($3::bigint is null or shelter_id = $3) and ${hasAll('$1')} limit $4),
      newest as (select * from found order by created_at desc, subject_id desc limit $5)
      select (select count(*)::int from found) as found,
        (select coalesce(json_agg(json_build_array(subject, subject_id::text) order by created_at desc, subject_id desc), '[]') from newest) as matches`,
    values,
  });
  const { found = 0, matches = [] } = rows[0] ?? {};
  return { found, matches: matches.map(([subject, id]) => ({ subject, id: BigInt(id) })) };
}

/** Whether the worker has still to read adopters of before an upgrade. */
export async function isFilling(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ filling: boolean }>({
    name: 'adopter-words-filling',
    text: 'select exists (select from adopter_words_fill where filled_to < fill_until) as filling',
  });
  return rows[0]?.filling ?? false;
}

/** Reads the next `count` ids of applications and orders that were there before the table. Returns how many ids were read. */
export async function fillNextWords(tx: Transaction, count: number): Promise<number> {
  const applications = await tx.query<{ read: number }>({
    name: 'fill-words-of-applications',
    text: fillFromApplications,
    values: [count],
  });
  const orders = await tx.query<{ read: number }>({ name: 'fill-words-of-orders', text: fillFromOrders, values: [count] });
  return (applications.rows[0]?.read ?? 0) + (orders.rows[0]?.read ?? 0);
}

/** The rows are locked in order of id, as by who erases them: none is put in that is erased meanwhile. One worker at a time. */
const fillOf = (subject: AdopterMatch['subject'], table: string, phone: string, condition: string) => `
  with next as (select filled_to, least(filled_to + $1, fill_until) as fill_to from adopter_words_fill
      where subject = '${subject}' and filled_to < fill_until for update skip locked),
    locked as materialized (select id, shelter_id, created_at, adopter_name, adopter_email, ${phone} as phone from ${table}
      where id > (select filled_to from next) and id <= (select fill_to from next) and adopter_email is not null and ${condition} order by id for share),
    added as (insert into adopter_words (subject, subject_id, shelter_id, created_at, words)
      select '${subject}', id, shelter_id, created_at, adopter_words_of(adopter_name, adopter_email, phone) from locked on conflict do nothing),
    filled as (update adopter_words_fill set filled_to = next.fill_to from next where subject = '${subject}' returning 1)
  select coalesce((select (fill_to - filled_to)::int from next), 0) as read`;
const fillFromApplications = fillOf('application', 'applications', 'adopter_phone', `status <> 'unconfirmed'`);
const fillFromOrders = fillOf('order', 'orders', 'null', 'true');
