// Which statements use each index of the tables that are written most, by plans over many rows, also in a revision before.
// An index that no plan uses can go: npm run bench -- indexes [--rows 1000000] [--base REV]
import { globSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { migrate } from '../service/src/platform/db/migrate.ts';
import { connectTo } from '../testkit/postgres.ts';
import { checkOut, ownRoot } from '../testkit/revision-checkout.ts';
import { startPostgres } from '../testkit/servers.ts';

const { values } = parseArgs({ options: { rows: { type: 'string', default: '1000000' }, base: { type: 'string' } } });
const rowsCount = Number(values.rows);
if (!(Number.isSafeInteger(rowsCount) && rowsCount >= 1_000)) {
  console.error('Usage: npm run bench -- indexes [--rows 1000000] [--base REV]');
  process.exit(2);
}
const tables = ['pets', 'orders', 'history', 'outbox', 'events', 'applications', 'application_history'];

/** Query functions of a tree: each explains its statement on this database in place of running it. */
// biome-ignore lint/suspicious/noExplicitAny: the functions of another revision have no types here.
type Queries = Record<string, (...args: any[]) => Promise<unknown>>;

interface Question {
  readonly of: string;
  ask(queries: Queries, db: unknown): Promise<unknown>;
}

const page = { afterId: 1_000n, limit: 21 };
const inFeed = { after: 1_000n, upTo: 900_000n, limit: 100 };
const ofClient = { clientId: 7n, shelterId: null };
const ofShelter = { clientId: 7n, shelterId: 3n };
const subscription = {
  clientId: 7n,
  shelterId: 3n,
  publicTypes: ['pet.moved'],
  privateTypes: ['order.placed'],
  interests: { shelterIds: [], categoryIds: [] },
};
const call =
  (name: string, ...args: unknown[]): Question['ask'] =>
  (queries, db) => {
    const query = queries[name];
    if (!query) throw new Error(`there is no query ${name}`);
    return query(db, ...args);
  };

const questions: readonly Question[] = [
  { of: 'GET /v1/pets', ask: call('selectPets', {}, page) },
  { of: 'GET /v1/pets?status=', ask: call('selectPets', { status: 'pending' }, page) },
  { of: 'GET /v1/pets?categoryId=', ask: call('selectPets', { categoryId: 3n }, page) },
  { of: 'GET /v1/pets?categoryId=&status=', ask: call('selectPets', { categoryId: 3n, status: 'pending' }, page) },
  { of: 'GET /v1/pets/{petId}', ask: call('findPet', 5_000n) },
  { of: 'GET /v1/listings?shelterId=', ask: call('findNewest', { today: '2026-11-16', shelterId: 3n }, { after: undefined, limit: 21 }) },
  { of: 'GET /v1/listings?q=', ask: call('findRelevant', { today: '2026-11-16', q: 'rare' }, { after: undefined, limit: 21 }) },
  { of: 'deleting a category: the foreign key of pets', ask: foreignKey('pets', 'category_id') },
  { of: 'deleting a shelter: the foreign key of pets', ask: foreignKey('pets', 'shelter_id') },
  { of: 'GET /v1/store/orders, staff', ask: call('selectOrders', 'all', {}, page) },
  { of: 'GET /v1/store/orders?status=, staff', ask: call('selectOrders', 'all', { status: 'approved' }, page) },
  { of: 'GET /v1/store/orders?petId=', ask: call('selectOrders', 'all', { petId: 50n }, page) },
  { of: 'GET /v1/store/orders, a partner', ask: call('selectOrders', ofClient, {}, page) },
  { of: 'GET /v1/store/orders, a shelter', ask: call('selectOrders', ofShelter, {}, page) },
  { of: 'placing an order: the open ones of the client', ask: call('countOpenOrders', 7n, 'a7@example.org') },
  { of: 'changing the status of an animal: its open order', ask: call('findOpenOrder', 50n) },
  { of: 'moving an animal: its orders', ask: call('lockOrdersOfPetAtOnce', 50n) },
  {
    of: 'metrics: orders by status',
    ask: statement(`select count(*) from (select from orders where status = 'approved' limit 10000) as counted`),
  },
  { of: 'expire-orders', ask: call('expireOrders', 100) },
  { of: 'erase-adopters', ask: call('lockOrdersToErase', 'completed', 30, 100) },
  { of: 'homeward adopters erase', ask: call('lockClosedOrdersOfAdopter', { email: 'a7@example.org', shelterId: null }, 100) },
  { of: 'homeward verify: orders', ask: call('selectOrderStates', { petId: 5_000n, id: 0n }, 6_000n, 1_000) },
  { of: 'homeward verify: history', ask: call('selectHistory', { petId: 5_000n, id: 0n }, { petId: 6_000n, id: 0n }, 10_000) },
  { of: 'homeward doctor: the ids of the history', ask: statement('select max(id) from history') },
  { of: 'publish-events', ask: call('selectUnpublished', 500) },
  { of: 'GET /v1/events', ask: call('selectEvents', ofShelter, { after: 1_000n, limit: 100, spanMax: 10_000 }) },
  { of: 'GET /v1/events?type=, a shelter', ask: call('selectEventsOfType', 'order.placed', ofShelter, { after: 1_000n, limit: 100 }) },
  { of: 'webhooks far behind', ask: call('selectSubscribed', subscription, inFeed) },
];

/** Of the present release alone. */
const newQuestions: readonly Question[] = [
  { of: 'GET /v1/applications, a partner', ask: applications({ clientId: 7n, staffOf: null }, {}) },
  { of: 'GET /v1/applications?shelterId=, a partner', ask: applications({ clientId: 7n, staffOf: null }, { shelterId: 3n }) },
  { of: 'GET /v1/applications, a shelter', ask: applications({ clientId: null, staffOf: 3n }, {}) },
  { of: 'GET /v1/applications?petId=', ask: applications({ clientId: null, staffOf: 'all' }, { petId: 50n }) },
  { of: 'GET /v1/applications, staff', ask: applications({ clientId: null, staffOf: 'all' }, {}) },
  { of: 'GET /v1/applications/{applicationId}', ask: call('findApplication', { clientId: 7n, staffOf: null }, 5_000n) },
  { of: "submitting: the client's", ask: call('addToCounts', 7n, 'open', 1_000) },
  { of: "submitting: the adopter's", ask: call('findOpenOfAdopter', { clientId: 7n, address: 'a7@example.org', petId: 50n }) },
  { of: "submitting: the animal's", ask: call('findHoldings', 50n) },
  { of: 'completing an order: the applications for its animal', ask: call('lockOpenApplications', 50n) },
  { of: 'erasing an order', ask: call('lockOfOrders', [50n], ['completed']) },
  { of: 'close-unanswered-applications', ask: call('selectUnanswered', 60, 100) },
  { of: 'end-undoable-outcomes', ask: call('endUndoable', 100) },
  { of: 'delete-unconfirmed-applications', ask: call('deleteUnconfirmedRow', 72, 100) },
  { of: 'erase-adopters', ask: call('selectOld', 'declined', 30, 100) },
  { of: 'homeward adopters erase', ask: call('selectEnded', { email: 'a7@example.org', address: 'a7@example.org' }, 100) },
  { of: 'homeward verify: applications', ask: call('selectApplicationHistory', { applicationId: 5_000n, id: 0n }, 6_000n, 1_000) },
];

function applications(reader: object, filter: object): Question['ask'] {
  return call('selectApplications', reader, filter, page);
}

function foreignKey(table: string, column: string): Question['ask'] {
  return statement(`select 1 from only ${table} x where $1::bigint operator(pg_catalog.=) ${column} for key share of x`, 3n);
}

function statement(text: string, ...parameters: unknown[]): Question['ask'] {
  return (_, db) => (db as { query(asked: unknown): Promise<unknown> }).query({ text, values: parameters });
}

await using server = await startPostgres({ settings: { shared_buffers: '1GB' } });
await migrate(server.url);
await using client = await connectTo(server.url);
console.error(`Filling ${rowsCount.toLocaleString('en')} rows of each table`);
await fill();
const users = new Map<string, Map<string, string[]>>();
await explain('present', await queriesOf(ownRoot), [...questions, ...newQuestions]);
if (values.base !== undefined) {
  using before = checkOut(values.base);
  await explain(values.base, await queriesOf(before.root), questions);
}
await report();

async function fill(): Promise<void> {
  await client.query('set session_replication_role = replica');
  await client.query(`insert into shelters (name) select 'Shelter ' || i from generate_series(2, 500) as i`);
  await client.query(`insert into clients (name, plan) select 'Client ' || i, 'free' from generate_series(1, 1000) as i`);
  await client.query(
    `insert into pets (name, category_id, status, shelter_id, removed_at)
      select case when i % 5000 = 0 then 'Rare ' else 'Biscuit ' end || i, 1 + i % 10, (array['available', 'pending', 'sold'])[1 + i % 3]::pet_status,
        1 + i % 500, case when i % 100 = 0 then now() end from generate_series(1, $1::int) as i`,
    [rowsCount],
  );
  await client.query(
    `insert into orders (client_id, pet_id, expires_at, status, adopter_name, adopter_email, shelter_id, updated_at)
      select 1 + i % 1000, i, now() + (i % 48) * interval '1 hour',
        (case i % 100 when 0 then 'placed' when 1 then 'approved' when 2 then 'returned' else (array['completed', 'cancelled', 'expired'])[1 + i % 3] end)::order_status, 'Ada', 'a' || i || '@example.org', 1 + i % 500,
        now() - (i % 100) * interval '1 day' from generate_series(1, $1::int) as i`,
    [rowsCount],
  );
  await client.query(
    `insert into history (pet_id, to_status, why, at) select i, 'available', 'added', now() - (i % 90) * interval '1 day' from generate_series(1, $1::int) as i`,
    [rowsCount],
  );
  await client.query(
    `insert into applications (client_id, pet_id, shelter_id, order_id, status, closed_reason, is_mailed, adopter_name, adopter_email, adopter_address,
        answers, created_at, updated_at, acted_at)
      select client, i, shelter, case when status in ('accepted', 'completed') then i end, status, case status when 'closed' then 'adopted' end, true, 'Ada', email,
        email, case when i % 20 < 6 then '[]' end, at, at, at
      from (select i, 1 + i % 1000 as client, 1 + i % 500 as shelter, 'a' || i || '@example.org' as email, now() - (i % 100) * interval '1 day' as at,
          (case i % 100 when 0 then 'unconfirmed' when 1 then 'submitted' when 2 then 'reviewing' when 3 then 'accepted'
            else (array['completed', 'declined', 'withdrawn', 'closed'])[1 + i % 4] end)::application_status as status
        from generate_series(1, $1::int) as i) as made`,
    [rowsCount],
  );
  await client.query(
    `insert into application_history (application_id, to_status, by, why) select i, 'submitted', 'client', 'submitted' from generate_series(1, $1::int) as i`,
    [rowsCount],
  );
  await client.query(`insert into outbox (type, pet_id, data) select 'pet.created', i, '{}' from generate_series(1, 1000) as i`);
  await client.query(
    `insert into events (position, published_at, type, pet_id, client_id, at, data, shelter_id)
      select i, now() + i * interval '1 day' / $1::int, case when i % 3 = 0 then 'order.placed' when i % 1000 = 1 then 'pet.moved' else 'pet.created' end, i,
        case when i % 3 = 0 then 1 + i % 1000 end, now(), '{}', 1 + i % 500 from generate_series(1, $1::int) as i`,
    [rowsCount],
  );
  await client.query('update feed set last_position = $1', [rowsCount]);
  await client.query('set session_replication_role = default');
  await client.query('vacuum analyze');
}

async function queriesOf(root: string): Promise<Queries> {
  const files = ['pet', 'order', 'verify', 'listing', 'event', 'subscribed'];
  // Only of the present release.
  const more = ['verify-application', 'outcome', 'application', 'transition', 'applicant', 'count'];
  const names = root === ownRoot ? [...files, ...more] : files;
  const found = globSync(`service/src/**/{${names.join(',')}}-queries.ts`, { cwd: root });
  return Object.assign({}, ...(await Promise.all(found.map((file) => import(pathToFileURL(path.join(root, file)).href)))));
}

async function explain(tree: string, queries: Queries, asked: readonly Question[]): Promise<void> {
  for (const { of, ask } of asked) {
    let plan: string | undefined;
    const query = async ({ text, values: parameters = [] }: { text: string; values?: unknown[] }) => {
      const { rows } = await client.query(`explain (format json) ${text}`, parameters);
      plan = JSON.stringify(rows[0]);
      return { rows: [] };
    };
    // What a query makes of no rows does not matter.
    await ask(queries, { query }).catch((error: unknown) => {
      if (plan === undefined) throw error;
    });
    for (const [, index = ''] of plan?.matchAll(/"Index Name":\s*"([^"]+)"/g) ?? []) {
      const byTree = users.get(await nameOf(index)) ?? new Map<string, string[]>();
      users.set(await nameOf(index), byTree);
      byTree.set(tree, [...new Set([...(byTree.get(tree) ?? []), of])]);
    }
  }
}

/** Of the index of the partitioned table, if it is one of a partition. */
async function nameOf(index: string): Promise<string> {
  const { rows } = await client.query(
    'select coalesce((select inhparent::regclass::text from pg_inherits where inhrelid = $1::text::regclass), $1::text) as name',
    [index],
  );
  return rows[0].name;
}

async function report(): Promise<void> {
  const { rows } = await client.query<{ table: string; index: string; unique: boolean; mb: number }>(
    `select indrelid::regclass::text as table, indexrelid::regclass::text as index, indisunique as unique,
        round(coalesce((select sum(pg_relation_size(relid)) from pg_partition_tree(indexrelid)), pg_relation_size(indexrelid)) / 1e6)::int as mb
      from pg_index where indrelid::regclass::text = any($1) order by array_position($1, indrelid::regclass::text), 2`,
    [tables],
  );
  const { base } = values;
  console.log(
    `| Table | Index | MB | Used by |${base === undefined ? '' : ` by ${base} |`}\n|---|---|---|---|${base === undefined ? '' : '---|'}`,
  );
  for (const { table, index, unique, mb } of rows) {
    const [present = [], before = []] = ['present', base ?? ''].map((tree) => users.get(index)?.get(tree));
    const used = present.length > 0 ? present.join('; ') : unique ? 'uniqueness' : 'NO PLAN';
    const usedBefore = before.length > 0 ? 'yes' : unique ? 'uniqueness' : 'no';
    console.log(`| \`${table}\` | \`${index}\` | ${mb} | ${used} |${base === undefined ? '' : ` ${usedBefore} |`}`);
  }
}
