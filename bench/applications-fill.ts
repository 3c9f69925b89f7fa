// Fills a store's database with animals, and with applications for them as they would be after two years: most have ended, and most of
// those are erased.
import { connectTo } from '../testkit/postgres.ts';

/** What requests are made for. */
export interface Landmarks {
  readonly applications: number;
  readonly largeShelterId: number;
  /** Each has 500 open applications, or as many as a small store has room for; one is accepted. */
  readonly crowdedPets: readonly number[];
  /** As many open ones, and many more that have ended. */
  readonly oldPetId: number;
  readonly openOfLargeClient: number;
}

interface Fill {
  readonly applications: number;
  /** The client that has a third of what is open. */
  readonly largeClientId: number;
  /** The others, with consecutive ids. */
  readonly clients: { readonly firstId: number; readonly count: number };
  progress(step: string): void;
}

const applicationsOfAnimal = 5;
const animalsOfShelter = 50;
const openOfCrowded = 500;
export const largeShelterId = 2;
/** The part that is new enough to be open. With two years it is 44 days. */
const newPart = 0.06;
/** Animals that can still be adopted. */
const herePart = 0.3;
const statementTimeoutMs = 60 * 60_000;

const tables = ['pets', 'orders', 'applications', 'application_history'];

export async function fillApplications(databaseUrl: string, given: Fill): Promise<Landmarks> {
  const { applications, largeClientId, progress } = given;
  await using client = await connectTo(databaseUrl, { statement_timeout: statementTimeoutMs });
  await client.query(`set maintenance_work_mem = '1GB'`);
  // Neither triggers nor foreign keys.
  await client.query('set session_replication_role = replica');
  // An index is built faster than it is maintained.
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes where tablename = any($1) and indexname not in (select conname from pg_constraint)`,
    [tables],
  );
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  const crowded = Math.max(Math.floor((applications * newPart) / 10 / openOfCrowded), 1);
  for (const [step, statement] of Object.entries(rowStatements(given, crowded))) {
    progress(step);
    await client.query(statement);
  }
  for (const { name, definition } of indexes) {
    progress(name);
    await client.query(definition);
  }
  progress('statistics');
  for (const table of tables) await client.query(`vacuum (analyze) ${table}`);
  await client.query('checkpoint');
  const { rows } = await client.query<{ open: bigint }>(
    `select count(*) as open from applications where client_id = $1 and status in ('submitted', 'reviewing', 'accepted')`,
    [largeClientId],
  );
  return {
    applications,
    largeShelterId,
    crowdedPets: Array.from({ length: crowded }, (_, i) => i + 1),
    oldPetId: crowded + 1,
    openOfLargeClient: Number(rows[0]?.open),
  };
}

/** `j` counts the new ones, from 1 on: their statuses, clients and animals follow from it, those of the others are random. */
function rowStatements({ applications, largeClientId, clients }: Fill, crowded: number) {
  const animals = Math.ceil(applications / applicationsOfAnimal);
  const shelters = Math.ceil(animals / animalsOfShelter);
  const newCount = Math.round(applications * newPart);
  const firstFree = crowded + 2;
  const shelterOf = (pet: string) => `case ${pet} % 20 when 0 then ${largeShelterId} else 1 + ${pet}::bigint * 7919 % ${shelters} end`;
  const accepted = `(j % 20 = 17 and ${firstFree} + j / 20 < ${Math.floor(animals * herePart)})`;
  return {
    categories: 'insert into categories (id) select generate_series(1, 20) on conflict do nothing',
    shelters: `insert into shelters (name) select 'Shelter ' || n from generate_series(2, ${shelters}) n`,
    pets: `insert into pets (name, category_id, status, shelter_id)
      select 'Animal ' || n, 1 + n % 20, case when n > ${Math.floor(animals * herePart)} then 'sold' else 'available' end::pet_status,
        ${shelterOf('n')} from generate_series(1, ${animals}) n`,
    applications: `insert into applications (client_id, pet_id, shelter_id, order_id, created_at, updated_at, acted_at, status, is_mailed, closed_reason,
        adopter_name, adopter_email, adopter_address, adopter_phone, answers, note, message)
      select case when is_large then ${largeClientId} else ${clients.firstId} + floor(${clients.count} * of_client ^ 3) end, of_pet, ${shelterOf('of_pet')},
        case when drawn.status in ('accepted', 'completed') then i end, created, ended, ended, drawn.status, true,
        case when drawn.status = 'closed' then (array['adopted', 'adopted', 'unavailable', 'cancelled', 'unanswered'])[1 + i % 5] end,
        case when is_known then ${adopterName('of_client', 'of_large')} end, case when is_known then 'Adopter' || i || '@example.org' end,
        case when is_known then 'adopter' || i || '@example.org' end, case when has_answers then '+44 20 ' || 10000000 + i end,
        case when has_answers then '[' || array_to_string(array(select ${answer} from generate_series(1, 12) as q), ',') || ']' end,
        case when has_answers and i % 3 = 0 then 'Has called twice, and has a garden. ' || md5(i::text) end,
        case when has_answers and drawn.status = 'declined' then 'Somebody else is nearer. ' || md5(i::text) end
      from (select states.*, status not in ('completed', 'declined', 'withdrawn', 'closed') or ended > now() - interval '30 days' as has_answers,
          status not in ('declined', 'withdrawn', 'closed') or ended > now() - interval '30 days' as is_known
        from (select *, least(created + interval '14 days' * of_time, now()) as ended,
            case when j > 0.94 * ${newCount} and j % 5 = 0 then 'unconfirmed'
              when j <= 0 or j % 4 = 0 then case when of_status < 0.45 then 'declined' when of_status < 0.75 then 'closed' when of_status < 0.85 then 'withdrawn' else 'completed' end
              when ${accepted} then 'accepted' when j % 8 < 5 then 'submitted' else 'reviewing' end::application_status as status,
            case when j > 0 and j % 4 <> 0 then j % 20 < 10 and j <= 0.94 * ${newCount} else of_large < 0.1 end as is_large
          from (select i, i - ${applications - newCount} as j, random() as of_status, random() as of_client, random() as of_large, random() as of_time,
              now() - interval '2 years' * (1 - i / ${applications}::float8) as created from generate_series(1, ${applications}) as i) as numbered) as states) as drawn
        cross join lateral (select case
          when drawn.status = 'completed' then ${Math.floor(animals * herePart)} + 1 + floor(${Math.floor(animals * (1 - herePart)) - 1} * of_time)
          when j > 0 and j % 20 in (11, 13) then 1 + j / 20 % ${crowded}
          when j > 0 and j % 20 = 15 and j / 20 % ${Math.max(Math.floor(newCount / 20 / openOfCrowded), 1)} = 0 then ${crowded + 1}
          when j > 0 and ${accepted} then ${firstFree} + j / 20
          when j <= 0 and i % 250 = 0 then ${crowded + 1}
          when j > 0 then ${firstFree} + floor(${Math.floor(animals * herePart) - firstFree} * of_time)
          else ${firstFree} + floor(${animals - firstFree} * of_client) end::bigint as of_pet) as chosen`,
    // The first of each crowd.
    accepted: `update applications set status = 'accepted', order_id = id
      where id in (select min(id) from applications where pet_id <= ${crowded} and status = 'submitted' group by pet_id)`,
    orders: `insert into orders (id, client_id, pet_id, shelter_id, created_at, updated_at, expires_at, status, adopter_name, adopter_email, application_id)
      overriding system value select order_id, client_id, pet_id, shelter_id, updated_at, updated_at, updated_at + interval '2 days',
        case status when 'accepted' then 'approved' else 'completed' end::order_status, adopter_name, adopter_email, id
        from applications where order_id is not null order by order_id`,
    'ids of orders': `select setval(pg_get_serial_sequence('orders', 'id'), max(order_id)) from applications`,
    'reserved animals': `update pets set status = 'pending' where id in (select pet_id from orders where status = 'approved')`,
    history: `insert into application_history (application_id, order_id, client_id, key_id, at, from_status, to_status, by, why)
      select id, case when to_status = status::text then order_id end, client_id, 1, case from_status when 'submitted' then created_at else updated_at end,
        from_status, to_status, by, case to_status when 'closed' then 'somebody else adopted the animal' else to_status end
      from applications cross join lateral (values (null, 'submitted', 'client', true),
          ('submitted', 'reviewing', 'staff', id % 2 = 0 or status = 'reviewing'),
          (case id % 2 when 0 then 'reviewing' else 'submitted' end, status::text, 'staff', status not in ('submitted', 'reviewing')))
        as steps (from_status, to_status, by, is_made)
      where is_made and status <> 'unconfirmed'`,
  };
}

const firstNames =
  "'{Anna,Ben,Carla,David,Élodie,François,Grace,Hans,Ines,Jürgen,Karin,Lukasz,María,Nora,Olga,Piotr,Renée,Søren,Thea,Uwe}'::text[]";
const syllables = "'{mü,ber,schmi,kow,ski,o’nei,lar,son,ger,val,ti,rei,dor,an,hof,mei,fel,gar,lin,stra}'::text[]";

/** Of 20 first names and 8,000 last ones, of which some are common: random numbers from 0 to 1 choose. */
export const adopterName = (first: string, last: string): string =>
  `(${firstNames})[1 + floor(20 * ${first} ^ 2)] || ' ' || (select initcap((${syllables})[1 + n % 20] || (${syllables})[1 + n / 20 % 20] || (${syllables})[1 + n / 400])
    from (select floor(8000 * ${last} ^ 2)::int as n) as drawn)`;

/** Some 1.8 kB for twelve questions, of which half is the text of the question. */
const answer = `json_build_object('question', 'question_' || q, 'text', 'What should we know about your home and its people, number ' || q || '?',
  'answer', md5(i::text || q) || ' ' || md5(q || i::text))`;
