// The plans of the statements about applications, with the settings of the connections that the service runs them on.
import type pg from 'pg';
import { findPageFacts } from '../service/src/adoption/adopter-page/page-queries.ts';
import * as applicants from '../service/src/adoption/applications/applicant-queries.ts';
import { type ApplicationReader, findApplication, selectApplications } from '../service/src/adoption/applications/application-queries.ts';
import { addToCounts, findHoldings } from '../service/src/adoption/applications/count-queries.ts';
import { findShelterTold, selectJustUnanswered } from '../service/src/adoption/applications/mail-queries.ts';
import * as notes from '../service/src/adoption/applications/note-queries.ts';
import * as transitions from '../service/src/adoption/applications/transition-queries.ts';
import { selectApplicationHistory, selectApplicationStates } from '../service/src/adoption/verify/verify-application-queries.ts';
import { theService } from '../service/src/domain/actor.ts';
import { type Db, Transaction } from '../service/src/platform/db/handles.ts';
import { applicationRole } from '../service/src/platform/db/pool.ts';
import { connectTo } from '../testkit/postgres.ts';
import { lists, type Target } from './applications-requests.ts';

/** What one statement does. */
export interface Explained {
  readonly name: string;
  readonly read: number;
  readonly returned: number;
  readonly blocks: number;
  readonly indexes: readonly string[];
  /** What must not be. */
  readonly faults: readonly string[];
  readonly holds: boolean;
}

interface Question {
  /** Connections for transactions and of workers always use an index, and one plan for all values. */
  readonly on: 'reads' | 'transactions';
  /** Rows that it may read: a page of 21 reads as many of each status, from two indexes, and then itself. */
  readonly readMax?: number;
  ask(db: Transaction): Promise<unknown>;
}

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Heap Fetches'?: number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly Plan[];
}

const pageSize = 21;
const readMaxOfPage = 2 * 8 * pageSize + pageSize;
/** A row that is found by an index costs its height, and one that is changed that of every index. */
const blocksOfRow = { reads: 6, transactions: 60 } as const;
const batch = 100;
const settings = {
  reads: 'set local plan_cache_mode = auto',
  transactions: 'set local enable_seqscan = off; set local enable_bitmapscan = off; set local plan_cache_mode = force_generic_plan',
} as const;

export async function explainStatements(target: Target): Promise<Explained[]> {
  await using client = await connectTo(target.databaseUrl, {
    options: `-c role=${applicationRole} -c jit=off`,
    statement_timeout: 600_000,
  });
  const explained: Explained[] = [];
  for (const [name, question] of Object.entries({ ...pagesOf(target), ...(await statementsOf(target, client)) })) {
    explained.push(...(await explain(client, name, question)));
  }
  return explained;
}

function pagesOf(target: Target): Record<string, Question> {
  const { keys, largeShelterId, oldPetId } = target;
  const readers: Readonly<Record<string, ApplicationReader>> = {
    staff: { clientId: 0n, staffOf: 'all' },
    shelter: { clientId: 0n, staffOf: BigInt(largeShelterId) },
    shelters: { clientId: 0n, staffOf: BigInt(largeShelterId + 1) },
    large: { clientId: BigInt(keys.large.clientId), staffOf: null },
    partner: { clientId: 1n, staffOf: null },
  };
  return Object.fromEntries(
    Object.entries(lists).map(([name, { as, filter }]) => {
      const { petId, shelterId, status } = filter?.(target) ?? {};
      const big = (id: number | undefined) => (id === undefined ? undefined : BigInt(id));
      const [start] = target.starts.get(name) ?? [];
      const page = { afterId: big(start), limit: pageSize };
      const ask = (db: Db) =>
        selectApplications(db, readers[as] as ApplicationReader, { petId: big(petId), shelterId: big(shelterId), status }, page);
      return [`list: ${name}`, { on: 'reads', ask, readMax: petId === oldPetId ? readMaxOfPage * 2 : readMaxOfPage }];
    }),
  );
}

async function statementsOf(
  { keys, oldPetId, largeShelterId, openOfLargeClient, starts }: Target,
  client: pg.Client,
): Promise<Record<string, Question>> {
  const [clientId, petId] = [BigInt(keys.large.clientId), BigInt(oldPetId)];
  const id = BigInt(starts.get("the store's, submitted, middle")?.[0] ?? 0);
  const { rows } = await client.query<{ ids: bigint[]; address: string }>(
    `select array_agg(id) as ids, max(adopter_address) as address from applications where pet_id = $1 and status in ('submitted', 'reviewing', 'accepted')`,
    [oldPetId],
  );
  const { ids = [], address = '' } = rows[0] ?? {};
  const toOthers = { to: 'closed', closedReason: 'adopted', message: null, orderId: undefined, reopenDays: undefined } as const;
  const adopter = { name: 'Grace', email: 'grace@example.org' };
  const given = {
    clientId,
    petId,
    status: 'submitted',
    isMailed: true,
    isEntered: false,
    adopter,
    address: adopter.email,
    answers: '[]',
  } as const;
  const moved = ids.map((one) => ({ id: one, orderId: null, from: 'submitted', to: 'closed', why: 'adopted' }) as const);
  const author = { clientId: null, keyId: null, personId: null };
  const steps: Record<string, Question['ask']> = {
    'submit: of the adopter': (tx) => transitions.findOpenOfAdopter(tx, { clientId, address, petId }),
    'submit: the row': (tx) => transitions.insertApplication(tx, given),
    'act: what to lock': (tx) => transitions.findParts(tx, id),
    'act: the lock': (tx) => transitions.lockApplication(tx, id),
    'act: the note': (tx) => notes.insertNote(tx, id, theService, 'Called.', 50),
    'erase-unconfirmed': (tx) => transitions.deleteUnconfirmedRow(tx, 1, batch),
    'erase-adopters': (tx) => applicants.selectOld(tx, 'declined', 20, batch),
    'adopters erase': (tx) => applicants.selectEnded(tx, { email: address, address, shelterId: null }, batch),
    'erase with orders': (tx) => applicants.lockOfOrders(tx, ids.map(BigInt), ['completed']),
    "the adopter's page": (tx) => findPageFacts(tx, id),
    'unanswered for 14 days': (tx) => selectJustUnanswered(tx, 14, undefined, batch),
    'verify: applications': (tx) => selectApplicationStates(tx, id, batch / 5),
    'verify: history': (tx) => selectApplicationHistory(tx, { applicationId: id, id: 0n }, id + 1_000n, batch),
    'close-unanswered': (tx) => transitions.selectUnanswered(tx, 30, batch),
    'close-unanswered: the locks': (tx) => transitions.lockUnanswered(tx, ids.slice(0, batch), 30),
  };
  const manySteps: Record<string, Question['ask']> = {
    "submit: the animal's": (tx) => findHoldings(tx, petId),
    'settle 500: the locks': (tx) => transitions.lockOpenApplications(tx, petId),
    'settle 500: the rows': (tx) => transitions.moveApplications(tx, ids.map(BigInt), toOthers),
    'settle 500: the history': (tx) => transitions.insertApplicationTransitions(tx, author, 'service', moved),
    'moving an animal': (tx) =>
      tx.query({
        text: `update applications set shelter_id = $2, note = null
      where pet_id = $1 and status in ('unconfirmed', 'submitted', 'reviewing', 'accepted')`,
        values: [petId, 3n],
      }),
  };
  const of = (asks: typeof steps, readMax: number) =>
    Object.entries(asks).map(([name, ask]) => [name, { on: 'transactions', ask, readMax }] as const);
  return {
    "the shelter's mail": {
      on: 'reads',
      ask: (db) => findShelterTold(db, BigInt(largeShelterId), { days: 14, countMax: batch, oldestMax: 10 }),
      readMax: 2 * 2 * batch,
    },
    // Both: the sum, and what is counted only at the client's limit.
    'submit: the counts': {
      on: 'transactions',
      ask: (tx) => addToCounts(tx, clientId, 'open', 100_000),
      readMax: Math.ceil(openOfLargeClient * 1.1),
    },
    'one application': { on: 'reads', ask: (db) => findApplication(db, { clientId, staffOf: null }, id), readMax: 1 },
    ...Object.fromEntries([...of(steps, 2 * batch), ...of(manySteps, 3 * Math.max(ids.length, batch))]),
  };
}

/** Explains the statements that a query function sends; nothing that they do stays. */
async function explain(client: pg.Client, name: string, { on, ask, readMax = batch }: Question): Promise<Explained[]> {
  const explained: Explained[] = [];
  const query = async ({ text, values = [] }: pg.QueryConfig) => {
    const literals = values.map((value) => (value == null ? 'null' : client.escapeLiteral(literalOf(value)))).join(', ');
    await client.query(`prepare explained as ${text}`);
    const { rows } = await client.query(`explain (analyze, buffers, format json) execute explained${literals && `(${literals})`}`);
    await client.query('deallocate explained');
    explained.push(judge(name, rows[0]['QUERY PLAN'][0].Plan, { readMax, blocksMax: Math.max(readMax, pageSize) * blocksOfRow[on] }));
    return { rows: [] };
  };
  await client.query(`begin; ${settings[on]}`);
  // What a query makes of no rows does not matter.
  await ask(new Transaction({ query: query as unknown as Db['query'] })).catch((error: unknown) => {
    if (explained.length === 0) throw error;
  });
  await client.query('rollback');
  return explained;
}

function judge(name: string, root: Plan, { readMax, blocksMax }: { readMax: number; blocksMax: number }): Explained {
  const nodes = nodesOf(root);
  const read = nodes
    .filter(({ 'Relation Name': relation, Plans }) => relation !== undefined && !Plans)
    .reduce((sum, node) => sum + readBy(node), 0);
  const blocks = root['Shared Hit Blocks'] + root['Shared Read Blocks'];
  const faults = nodes
    .filter((node) => node['Node Type'] === 'Seq Scan')
    .map((node) => `reads all of ${node['Relation Name']}`)
    .concat(read > readMax ? [`may read ${readMax} rows`] : [], blocks > blocksMax ? [`may touch ${blocksMax} blocks`] : []);
  const indexes = [...new Set(nodes.flatMap((node) => node['Index Name'] ?? []))];
  return { name, read, returned: root['Actual Rows'], blocks, indexes, faults, holds: faults.length === 0 };
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** What an index removes by itself is cheap: its blocks are counted. */
const readBy = (node: Plan) =>
  node['Actual Rows'] * node['Actual Loops'] +
  (node['Heap Fetches'] ?? ((node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)) * node['Actual Loops']);

const literalOf = (value: unknown): string => (Array.isArray(value) ? `{${value.map(elementOf).join(',')}}` : String(value));
const elementOf = (value: unknown) => (value == null ? 'null' : JSON.stringify(`${value as string | bigint}`));
