// What else a store has that has people: profiles, listings, photos, histories and an audit, beside its animals and applications.
import { connectTo } from '../testkit/postgres.ts';
import { adopterName } from './applications-fill.ts';

interface Fill {
  /** The screen that is measured alone; undefined: all of them. */
  readonly only: string | undefined;
  readonly auditRows: number;
  /** Who has done it all. */
  readonly personId: bigint;
  progress(step: string): void;
}

const statementTimeoutMs = 60 * 60_000;
const namesCount = 5_000;
const photosOf = 2;

/** Of a store that `fillApplications` has filled. */
export async function fillForConsole(databaseUrl: string, { only, auditRows, personId, progress }: Fill): Promise<void> {
  await using client = await connectTo(databaseUrl, { statement_timeout: statementTimeoutMs });
  await client.query(`set maintenance_work_mem = '1GB'`);
  // Neither triggers nor foreign keys.
  await client.query('set session_replication_role = replica');
  // An index is built faster than it is maintained.
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
      where tablename = any($1) and indexname not in (select conname from pg_constraint)`,
    [['profiles', 'listings', 'photos', 'person_history', 'adopter_words']],
  );
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  for (const [step, statement] of Object.entries(rowStatements(auditRows, personId))) {
    if (only === '/adopters' && !step.startsWith('words of')) continue;
    progress(step);
    await client.query(statement);
  }
  for (const { name, definition } of indexes) {
    progress(name);
    await client.query(definition);
  }
  progress('statistics');
  await client.query('vacuum (analyze)');
  await client.query('checkpoint');
}

const rowStatements = (auditRows: number, personId: bigint) => ({
  names: `update pets set name = 'Animal ' || id % ${namesCount} where id % 3 = 0`,
  people: `insert into people (email, name, role, shelter_id, last_seen_at)
    select 'person-' || id || '-' || n || '@example.org', 'Person ' || id || ' ' || n, case n when 1 then 'admin' else 'staff' end, id, now()
    from shelters cross join generate_series(1, 3) n`,
  holds: `update pets set status = 'pending', hold = 'medical', hold_reason = 'medical', hold_releases = true,
      hold_until = case id % 3 when 0 then now() + interval '1 hour' * (id % 100) end where id % 97 = 0 and status = 'available'`,
  mail: `insert into mail (kind, subject_id, is_single, state, created_at, due_at, waiting_since, failure, ended_at)
    select 'application_accepted', id, false, case when id % 50 = 0 then 'failed' else 'sent' end, updated_at, updated_at, updated_at,
      case when id % 50 = 0 then '550 5.1.1' end, updated_at from applications where status in ('accepted', 'declined') and updated_at > now() - interval '90 days'`,
  profiles: `insert into profiles (pet_id, shelter_id, description, breed_primary, birth_date, sex, size, coat, good_with_children, good_with_dogs, good_with_cats)
    select id, shelter_id, 'Calm and curious, and fond of long walks. ' || md5(id::text), 'Breed ' || id % 400, current_date - (id % 4500)::int,
      (array['male', 'female', 'unknown'])[1 + id % 3], (array['small', 'medium', 'large', 'extra_large'])[1 + id % 4],
      (array['short', 'medium', 'long', 'wire'])[1 + id % 4], 'yes', 'no', 'unknown' from pets where id % 5 <> 0`,
  // Two for most animals, of which some have failed.
  photos: `insert into photos (pet_id, client_id, position, status, original_hash, original_name, width, height, placeholder, files, failure, attempts)
    select id, 1, n, case when is_ready then 'ready' else 'failed' end, encode(sha256((id || '.' || n)::bytea), 'hex'), '',
      case when is_ready then 1280 end, case when is_ready then 960 end, case when is_ready then 'AAAA' end,
      case when is_ready then jsonb_build_array(jsonb_build_object('width', 320, 'height', 240, 'hash', md5(id::text))) end,
      case when not is_ready then 'not_an_image' end, 1
    from (select *, id % 1000 <> 0 as is_ready from pets cross join generate_series(0, ${photosOf - 1}) n where id % 3 <> 0) as of_pets`,
  listings: 'insert into listings select * from listings_computed',
  history: `insert into history (pet_id, client_id, person_id, at, from_status, to_status, why, kind)
    select id, 1, case when n = 2 then ${personId} end, now() - interval '1 hour' * (3 - n) - interval '1 second' * (id % 3600),
      case when n > 0 then 'available' end, case when n = 1 then 'pending' else 'available' end, 'set by staff', case when n > 0 then 'pet_status' end
    from pets cross join generate_series(0, 2) n order by 4`,
  'acts of people': `insert into person_history (person_id, at, history_id) select person_id, at, id from history where person_id is not null`,
  // As many as there are applications: those that are erased have others in their place, which are found and not shown.
  'words of adopters': `insert into adopter_words (subject, subject_id, shelter_id, created_at, words)
    select 'application', id, shelter_id, created_at, adopter_words_of(coalesce(adopter_name, ${adopterName('random()', 'random()')}),
      coalesce(adopter_email, 'adopter' || id || '@example.org'), coalesce(adopter_phone, '+44 20 ' || 10000000 + id))
    from applications where status <> 'unconfirmed'`,
  'words of orders': `insert into adopter_words (subject, subject_id, shelter_id, created_at, words)
    select 'order', id, shelter_id, created_at, adopter_words_of(adopter_name, adopter_email, null) from orders where adopter_email is not null`,
  audit: `insert into audit (at, act, target, target_id, shelter_id, person_id, network, after)
    select date_trunc('month', now()) + (now() - date_trunc('month', now())) * n / ${auditRows}, 'person.changed', 'person', n % 5000,
      nullif(n % 20000, 0), ${personId}, '192.0.2.0/24', '{"role": "staff"}' from generate_series(1, ${auditRows}) n`,
});
