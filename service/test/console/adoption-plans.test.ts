import type pg from 'pg';
import { expect, test } from 'vitest';
import { selectNewestMatches } from '../../src/adoption/applications/adopter-search-queries.ts';
import { toldKinds } from '../../src/adoption/applications/application-mail.ts';
import {
  countListedApplications,
  findListedApplication,
  selectApplicationMoments,
  selectApplicationsById,
  selectListedApplications,
  selectUntold,
  selectWaitingApplications,
} from '../../src/adoption/applications/staff-queries.ts';
import {
  countListedOrders,
  findListedOrder,
  selectListedOrders,
  selectOldPromises,
  selectOrderMoments,
  selectOrdersById,
  selectUnapprovedOrders,
} from '../../src/adoption/orders/staff-queries.ts';
import { selectEndingHolds } from '../../src/animals/pets/pet-queries.ts';
import { selectFailedPhotos } from '../../src/animals/photos/photo-queries.ts';
import type { Db } from '../../src/platform/db/handles.ts';
import { addShelter } from './console-steps.ts';
import { openTestConsole } from './test-console.ts';

const site = await openTestConsole();
const { store } = site;
const shelterId = await addShelter(site, 'Danube Shelter', 'Europe/Vienna');
const other = await addShelter(site, 'Inn Shelter', 'Europe/Vienna');
const { clientId } = await store.createKey();
await store.asOwner(`insert into shelters (name) select 'Shelter ' || i from generate_series(1, 2000) i`);
// A shelter with few among others with many: what an index does not begin with costs what the others have.
await store.asOwner(
  `insert into pets (category_id, status, name, shelter_id, hold, hold_reason, hold_until, hold_releases)
    select 1, 'pending', 'Pet ' || i, case when i % 100 = 0 then $1::bigint else $2::bigint end, 'medical', 'medical', now() + i * interval '1 minute', true
    from generate_series(1, 20000) i`,
  shelterId,
  other,
);
await store.asOwner(
  `insert into orders (client_id, pet_id, expires_at, status, adopter_name, adopter_email, updated_at)
    select $1, id, now() + interval '1 hour', (array['placed', 'approved'])[1 + id % 2]::order_status, 'Ada', 'ada' || id || '@example.org', now() - id * interval '1 minute'
    from pets where name like 'Pet %'`,
  clientId,
);
await store.asOwner(
  `insert into orders (client_id, pet_id, expires_at, status, adopter_name, adopter_email)
    select $1, id, now(), 'completed', 'Ada', 'ada' || id || '@example.org' from pets where name like 'Pet %'`,
  clientId,
);
await store.asOwner(
  `insert into applications (client_id, pet_id, shelter_id, status, is_mailed, adopter_name, adopter_email, adopter_address, answers, acted_at)
    select $1, id, shelter_id, (array['submitted', 'reviewing', 'declined', 'withdrawn'])[1 + n % 4]::application_status, true, 'Ada', 'ada', 'ada' || id || n, '[]', now() - n * interval '1 day'
    from pets, generate_series(0, 3) n where name like 'Pet %'`,
  clientId,
);
await store.asOwner(
  `insert into application_history (application_id, to_status, by, why) select id, 'submitted', 'client', 'submitted' from applications`,
);
await store.asOwner(
  `insert into mail (kind, subject_id, is_single, state, due_at, waiting_since, ended_at, failure)
    select 'declined', id, false, (array['sent', 'failed'])[1 + (id / 4) % 2], now(), now(), now() - id * interval '1 minute', '550' from applications where status = 'declined'`,
);
await store.asOwner(
  `insert into photos (pet_id, client_id, position, original_hash, original_name, status, failure)
    select id, $1, 0, encode(sha256(id::text::bytea), 'hex'), 'x', 'failed', 'unreadable' from pets where name like 'Pet %' and id % 7 = 0`,
  clientId,
);
await store.asOwner(
  `insert into photos (pet_id, client_id, position, original_hash, original_name)
    select id, $1, 0, encode(sha256(id::text::bytea), 'hex'), 'x' from pets where name like 'Pet %' and id % 7 > 0`,
  clientId,
);
await store.asOwner('analyze');

const [application] = await selectListedApplications(store.dependencies.db, shelterId, {
  statuses: ['submitted'],
  cursor: undefined,
  limit: 1,
});
const [order] = await selectListedOrders(store.dependencies.db, shelterId, { statuses: ['placed'], cursor: undefined, limit: 1 });
if (!application || !order) throw new Error('nothing was added');
const { id, petId } = application;

const day = { days: 1 };
const queries: Readonly<Record<string, (db: Db, of: bigint | 'all') => Promise<unknown>>> = {
  'open applications': (db, of) => selectListedApplications(db, of, { statuses: ['submitted', 'reviewing'], cursor: 5n, limit: 51 }),
  'ended applications': (db, of) =>
    selectListedApplications(db, of, { statuses: ['declined', 'withdrawn', 'closed'], cursor: undefined, limit: 51, isNewestFirst: true }),
  'applications for an animal': (db, of) =>
    selectListedApplications(db, of, { statuses: ['submitted', 'reviewing'], petId, cursor: undefined, limit: 4, hasAnswers: true }),
  'applications that were found': (db, of) => selectApplicationsById(db, of, [id, 1n]),
  'the newest adopters of a name': (db, of) => selectNewestMatches(db, of, ['ad', 'nobody'], { readMax: 1_000, limit: 51 }),
  'counts of applications': (db, of) => countListedApplications(db, of, undefined, 101),
  'counts of the applications for an animal': (db, of) => countListedApplications(db, of, petId, 101),
  'an application': (db, of) => findListedApplication(db, of, id),
  'the history of an application': (db) => selectApplicationMoments(db, id, 50),
  'open orders': (db, of) => selectListedOrders(db, of, { statuses: ['placed', 'approved'], cursor: 5n, limit: 51 }),
  'ended orders': (db, of) => selectListedOrders(db, of, { statuses: ['completed'], cursor: undefined, limit: 51, isNewestFirst: true }),
  'orders of an animal': (db, of) =>
    selectListedOrders(db, of, { statuses: ['completed'], petId, cursor: undefined, limit: 51, isNewestFirst: true }),
  'orders that were found': (db, of) => selectOrdersById(db, of, [order.id, 1n]),
  'counts of orders': (db, of) => countListedOrders(db, of, ['placed', 'approved', 'completed'], 101),
  'an order': (db, of) => findListedOrder(db, of, order.id),
  'the history of an order': (db) => selectOrderMoments(db, order, 50),
  'new applications': (db, of) => selectWaitingApplications(db, of, { status: 'submitted', days: 0 }, 101),
  'applications in review': (db, of) => selectWaitingApplications(db, of, { status: 'reviewing', ...day }, 101),
  'adopters whom no mail reaches': (db, of) => selectUntold(db, of, { told: toldKinds, days: 14 }, 101),
  'orders that wait': (db, of) => selectUnapprovedOrders(db, of, 101),
  'old promises': (db, of) => selectOldPromises(db, of, 1, 101),
  'holds that end': (db, of) => selectEndingHolds(db, of === 'all' ? null : of, new Date(), 101),
  'failed photos': (db, of) => selectFailedPhotos(db, of === 'all' ? null : of, 101),
};

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly PlanNode[];
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** Its plans, as they were carried out. */
async function explain(run: (db: Db) => Promise<unknown>): Promise<PlanNode[]> {
  const plans: PlanNode[] = [];
  await run({
    query: async <Row extends pg.QueryResultRow>(statement: pg.QueryConfig) => {
      const { text, values = [] } = statement;
      const [row] = await store.read<{ 'QUERY PLAN': Array<{ Plan: PlanNode }> }>(`explain (analyze, format json) ${text}`, ...values);
      plans.push(...(row?.['QUERY PLAN'].map(({ Plan }) => Plan) ?? []));
      return store.dependencies.db.query<Row>(statement);
    },
  });
  return plans.flatMap(nodesOf);
}

const rowsOf = (node: PlanNode) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];

test.each(
  Object.entries(queries).flatMap(([name, run]) => [
    { name, run, of: shelterId, whose: 'a shelter' },
    { name, run, of: 'all' as const, whose: 'every shelter' },
  ]),
)('$name of $whose are read from an index, and no more rows than a page needs', async ({ run, of }) => {
  const nodes = await explain((db) => run(db, of));
  const scans = nodes.filter((node) => node['Node Type'] === 'Seq Scan' && rowsOf(node) > 100);
  expect(scans.map((node) => node['Relation Name'])).toEqual([]);
  const read = nodes.reduce((sum, node) => sum + (node['Relation Name'] ? rowsOf(node) : 0), 0);
  expect(read).toBeLessThan(12_000);
});
