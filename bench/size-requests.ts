// The requests that are timed at each size: how long a response takes, and how many blocks PostgreSQL touches for it.
import type pg from 'pg';
import { selectPets } from '../service/src/animals/pets/pet-queries.ts';
import type { PetStatus } from '../service/src/domain/pet-statuses.ts';
import type { Db } from '../service/src/platform/db/handles.ts';
import { applicationRole } from '../service/src/platform/db/pool.ts';
import { HttpClient } from '../testkit/http.ts';
import { quantile } from '../testkit/quantile.ts';
import { categoriesCount, type Progress, withClient } from './size-fill.ts';

export const listKinds = ['first page', 'random cursor', 'by status', 'by category', 'by both'] as const;
export const kinds = [...listKinds, 'one animal', 'create'] as const;
type ListKind = (typeof listKinds)[number];
export type Kind = (typeof kinds)[number];

/** Milliseconds, in the order in which they were measured. */
export type Samples = Readonly<Record<Kind, number[]>>;

interface Filter {
  readonly kind: ListKind;
  readonly status: PetStatus | undefined;
  readonly categoryId: bigint | undefined;
}

/** A filter in one store. After any id up to `afterIdMax` there is a full page, and a further one. */
interface Pages extends Filter {
  readonly query: string;
  /** The suffix of the service's cursors for this filter. */
  readonly mark: string;
  readonly afterIdMax: number;
}

/** One store under measurement. */
export interface Target {
  readonly url: string;
  readonly key: string;
  readonly animals: number;
  readonly pages: ReadonlyMap<ListKind, readonly Pages[]>;
}

interface Call {
  readonly path: string;
  readonly body?: unknown;
  /** How many animals the response must have: a shorter page would be cheaper. */
  readonly animals: number;
}

export const pageSize = 20;
const warmUpRounds = 150;
const explainedPages = 101;

/**
 * The filters for which even the smallest store has more than a page. All sizes use the same filters, because the cost of a
 * page depends on how sparse its animals are among the others.
 */
export async function findFilters(databaseUrl: string): Promise<Filter[]> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ status: PetStatus | null; categoryId: bigint | null }>(
      `select status, category_id as "categoryId" from pets group by cube (status, category_id) having count(*) >= ${2 * pageSize}`,
    );
    return rows.map(({ status, categoryId }) => ({
      kind: kindOf(status, categoryId),
      status: status ?? undefined,
      categoryId: categoryId ?? undefined,
    }));
  });
}

function kindOf(status: unknown, categoryId: unknown): ListKind {
  if (status !== null && categoryId !== null) return 'by both';
  if (status !== null) return 'by status';
  return categoryId === null ? 'random cursor' : 'by category';
}

/** Learns the format of the service's cursors from its links. */
export async function prepareTarget(
  store: { readonly url: string; readonly key: string; readonly databaseUrl: string; readonly animals: number },
  filters: readonly Filter[],
): Promise<Target> {
  using http = new HttpClient(1);
  const pages = await withClient(store.databaseUrl, async (client) => {
    const all: Pages[] = [];
    for (const filter of filters) {
      const query = queryOf(filter);
      const response = await http.send(`${store.url}/pets?${query}`, { key: store.key });
      const cursor = /[?&]cursor=([^&>]+)>; rel="next"/.exec(String(response.headers.link))?.[1];
      const mark = Buffer.from(cursor ?? '', 'base64url')
        .toString('latin1')
        .split('.')[1];
      if (!mark) throw new Error(`the first page of "${query}" got ${response.status} without a link to the next`);
      all.push({ ...filter, query, mark, afterIdMax: await findLastStart(client, filter) });
    }
    return all;
  });
  const byKind = new Map(listKinds.map((kind) => [kind, pages.filter((one) => one.kind === kind)]));
  byKind.set('first page', byKind.get('random cursor') ?? []);
  return { url: store.url, key: store.key, animals: store.animals, pages: byKind };
}

function queryOf({ status, categoryId }: Filter): string {
  const query = new URLSearchParams({ limit: String(pageSize) });
  if (status !== undefined) query.set('status', status);
  if (categoryId !== undefined) query.set('categoryId', String(categoryId));
  return query.toString();
}

async function findLastStart(client: pg.Client, { status, categoryId }: Filter): Promise<number> {
  const { rows } = await client.query<{ id: bigint }>({
    text: `select id from pets where ($1::pet_status is null or status = $1) and ($2::bigint is null or category_id = $2)
      order by id desc offset ${pageSize + 1} limit 1`,
    values: [status, categoryId],
  });
  const [row] = rows;
  if (!row) throw new Error('a filter has too few animals');
  return Number(row.id);
}

/**
 * Sends one request at a time, on one connection for each store. Every round sends every store one request of each kind, in
 * a new random order, so that other load on the machine affects all of them alike.
 */
export async function timeRequests(targets: readonly Target[], rounds: number, progress: Progress): Promise<Samples[]> {
  using http = new HttpClient(1);
  const samples = targets.map(() => Object.fromEntries(kinds.map((kind) => [kind, []])) as unknown as Samples);
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    for (const kind of shuffle(kinds)) {
      for (const index of shuffle(targets.keys())) {
        const tookMs = await timeRequest(http, targets[index] as Target, kind);
        if (round >= 0) samples[index]?.[kind].push(tookMs);
      }
    }
    progress('requests', (round + warmUpRounds + 1) / (rounds + warmUpRounds));
  }
  return samples;
}

async function timeRequest(http: HttpClient, target: Target, kind: Kind): Promise<number> {
  const { path, body, animals } = drawCall(target, kind);
  const options = { key: target.key, ...(body !== undefined && { method: 'POST', body }) };
  const startMs = performance.now();
  const { status, text } = await http.send(`${target.url}${path}`, options);
  const tookMs = performance.now() - startMs;
  const received = status < 300 ? [JSON.parse(text)].flat().length : 0;
  if (received !== animals) throw new Error(`${path} got ${status} with ${received} animals instead of ${animals}`);
  return tookMs;
}

function drawCall(target: Target, kind: Kind): Call {
  if (kind === 'create')
    return { path: '/pets', body: { name: 'Animal 000000000', categoryId: 1 + drawBelow(categoriesCount) }, animals: 1 };
  if (kind === 'one animal') return { path: `/pets?id=${1 + drawBelow(target.animals)}`, animals: 1 };
  const { query, mark, afterIdMax } = drawOne(target.pages.get(kind) ?? []);
  if (kind === 'first page') return { path: `/pets?${query}`, animals: pageSize };
  const cursor = Buffer.from(`${drawBelow(afterIdMax + 1)}.${mark}`).toString('base64url');
  return { path: `/pets?${query}&cursor=${cursor}`, animals: pageSize };
}

/** The median number of 8 KiB blocks, cached or not, that the service's own statements touch, for each kind of page. */
export async function countBlocks(databaseUrl: string, target: Target): Promise<Record<ListKind, number>> {
  return withClient(
    databaseUrl,
    async (client) => {
      const medians: Partial<Record<ListKind, number>> = {};
      for (const kind of listKinds) {
        const counts: number[] = [];
        for (let i = 0; i < explainedPages; i += 1) counts.push(await explainPage(client, kind, drawOne(target.pages.get(kind) ?? [])));
        medians[kind] = quantile(counts, 0.5);
      }
      return medians as Record<ListKind, number>;
    },
    applicationRole,
  );
}

/** Runs the service's own query function, then explains the statement by the name under which that prepared it. */
async function explainPage(client: pg.Client, kind: ListKind, { status, categoryId, afterIdMax }: Pages): Promise<number> {
  const sent: pg.QueryConfig[] = [];
  const db: Db = {
    query: (statement) => {
      sent.push(statement);
      return client.query(statement);
    },
  };
  const afterId = kind === 'first page' ? undefined : BigInt(drawBelow(afterIdMax + 1));
  await selectPets(db, { status, categoryId, ids: undefined }, { afterId, limit: pageSize + 1 });
  const [statement, ...more] = sent;
  if (!statement?.name || more.length > 0) throw new Error('a page is expected to be one statement with a name');
  const literals = (statement.values ?? []).map((value) => client.escapeLiteral(String(value))).join(', ');
  const { rows } = await client.query(
    `explain (analyze, buffers, format json) execute ${client.escapeIdentifier(statement.name)}(${literals})`,
  );
  const plan = rows[0]['QUERY PLAN'][0].Plan;
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}

const drawBelow = (bound: number) => Math.floor(Math.random() * bound);

function drawOne<T>(values: readonly T[]): T {
  const value = values[drawBelow(values.length)];
  if (value === undefined) throw new Error('the list is empty');
  return value;
}

function shuffle<T>(values: Iterable<T>): T[] {
  return [...values]
    .map((value) => ({ value, rank: Math.random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ value }) => value);
}
