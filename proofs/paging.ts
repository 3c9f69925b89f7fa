// Millions of animals: what a page costs at any depth and behind removed animals, and whether reading all pages misses an animal or
// returns one twice.
import type pg from 'pg';
import { selectPets } from '../service/src/animals/pets/pet-queries.ts';
import { type PetStatus, petStatuses } from '../service/src/domain/pet-statuses.ts';
import type { Db } from '../service/src/platform/db/handles.ts';
import { applicationRole } from '../service/src/platform/db/pool.ts';
import { HttpClient } from '../testkit/http.ts';
import { connectTo } from '../testkit/postgres.ts';
import { quantile } from '../testkit/quantile.ts';
import { Staff } from '../testkit/staff.ts';
import { SteadyLoad } from '../testkit/steady-load.ts';
import { Store } from '../testkit/store.ts';
import type { Claim, Proof, ProofContext } from './proof.ts';

const pageSizes = [100, 20];
const costMax = 1.3;
const arrivalsPerSecond = 20;

const filters = [
  { status: undefined, categoryId: undefined },
  ...petStatuses.map((status) => ({ status, categoryId: undefined })),
  { status: undefined, categoryId: 3n },
  { status: 'pending', categoryId: 3n },
] as const;

/** Returns how many blocks the page at this depth touches. Depth 0 is the first page, 1 the last. */
type Explain = (depth: number) => Promise<number>;

interface Pages {
  readonly animals: number;
  readonly status: PetStatus | undefined;
  readonly categoryId: bigint | undefined;
  readonly limit: number;
}

export const paging: Proof = {
  name: 'paging',
  promise: 'a page of ten million animals costs the same at any depth and behind removed ones, and all pages return each animal once',
  hasMutant: true,
  isNightly: true,
  about: ['service/migrations', 'service/src/animals/pets', 'service/src/platform/http', 'proofs/paging.ts'],
  run,
};

async function run({ short, mutant, progress }: ProofContext): Promise<Claim[]> {
  const animals = short ? 100_000 : 10_000_000;
  await using store = await Store.open({ processes: 1 });
  progress(`${animals.toLocaleString('en')} animals`);
  await fill(store.postgres.url, animals);
  await using client = await connectTo(store.postgres.url, { options: `-c role=${applicationRole}` });
  const costs: Claim[] = [];
  for (const filter of filters) {
    for (const limit of pageSizes) {
      const pages = { ...filter, animals, limit };
      progress(`pages of ${limit}, ${nameOf(pages)}`);
      const explain = mutant ? await prepareOffset(client, pages) : explainKeyset(client, pages);
      costs.push(await compareCosts(explain, pages, mutant ? 5 : 101));
    }
  }
  if (mutant) return costs;
  const read = await readAllPages(store, client, short ? undefined : 'pending', progress);
  return [...costs, read, await removeInFront(store.postgres.url, client, animals, short ? animals / 4 : 1_000_000, progress)];
}

/**
 * All rows have the same size, and older animals are mostly sold: all pending ones are among the newest fifth. One statement
 * inserts them all, without checks of the foreign key, which is safe because every store starts with these categories.
 */
async function fill(connectionString: string, animals: number): Promise<void> {
  await using client = await connectTo(connectionString);
  await client.query('set session_replication_role = replica');
  await client.query('select setseed(0.5)');
  await client.query({
    text: `insert into pets (name, category_id, status)
      select 'Animal ' || lpad(i::text, 8, '0'), 1 + i % 10,
        (case when r < 0.1 then 'available' when i <= 0.8 * $1::int or r < 0.4 then 'sold' when r < 0.65 then 'pending' else 'available' end)::pet_status
      from (select i, random() as r from generate_series(1, $1::int) as i) as drawn`,
    values: [animals],
  });
  await client.query('vacuum (analyze) pets');
}

/** Runs the service's query function, then explains the prepared statement that it used, by its name. */
function explainKeyset(client: pg.Client, { animals, status, categoryId, limit }: Pages): Explain {
  return async (depth) => {
    const sent: pg.QueryConfig[] = [];
    const db: Db = {
      query: (statement) => {
        sent.push(statement);
        return client.query(statement);
      },
    };
    await selectPets(db, { status, categoryId, ids: undefined }, { afterId: BigInt(Math.floor(depth * animals)), limit: limit + 1 });
    const [statement, ...more] = sent;
    if (!statement?.name || more.length > 0) throw new Error('a page is expected to be one statement with a name');
    return buffersOf(client, statement.name, statement.values ?? []);
  };
}

/** The mutant: OFFSET skips all rows before the page. */
async function prepareOffset(client: pg.Client, { status, categoryId, limit }: Pages): Promise<Explain> {
  const conditions = [status && `status = ${client.escapeLiteral(status)}`, categoryId && `category_id = ${categoryId}`].filter(Boolean);
  const where = conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
  const { rows } = await client.query<{ count: bigint }>(`select count(*) from pets ${where}`);
  await client.query('deallocate all');
  await client.query(`prepare page as select id, name, category_id, status from pets ${where} order by id limit $2 offset $1`);
  return (depth) => buffersOf(client, 'page', [Math.floor(depth * Number(rows[0]?.count)), limit + 1]);
}

/** The number of 8 KiB blocks that the statement touches, cached or not. */
async function buffersOf(client: pg.Client, prepared: string, values: readonly unknown[]): Promise<number> {
  const literals = values.map((value) => client.escapeLiteral(String(value))).join(', ');
  const { rows } = await client.query(`explain (analyze, buffers, format json) execute ${client.escapeIdentifier(prepared)}(${literals})`);
  const plan = rows[0]['QUERY PLAN'][0].Plan;
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}

async function compareCosts(explain: Explain, pages: Pages, depths: number): Promise<Claim> {
  const { animals, limit } = pages;
  // PostgreSQL chooses between a custom and a generic plan after five executions.
  for (let i = 0; i < 6; i += 1) await explain(0);
  const first = await explain(0);
  const deep: number[] = [];
  for (let i = 0; i < depths; i += 1) deep.push(await explain(Math.random() * 0.999));
  const median = quantile(deep, 0.5);
  return {
    claim: `Blocks that a page of ${limit} at a random depth touches (${depths} pages of ${animals.toLocaleString('en')} animals, ${nameOf(pages)})`,
    bar: `at the median at most ${costMax} times the first page`,
    figure: `${median}; the first page ${first}, the most expensive ${Math.max(...deep)}`,
    holds: median <= costMax * first,
  };
}

/**
 * Removes the animals with the lowest ids, of every status alike. Vacuumed as autovacuum does it: until then, the indexes have the
 * entries of removed animals too.
 */
async function removeInFront(
  connectionString: string,
  client: pg.Client,
  animals: number,
  removed: number,
  progress: ProofContext['progress'],
): Promise<Claim> {
  const all: Pages[] = filters.flatMap((filter) => pageSizes.map((limit) => ({ ...filter, animals, limit })));
  const readFirst = async () => {
    const blocks: number[] = [];
    for (const pages of all) blocks.push(await explainKeyset(client, pages)(0));
    return blocks;
  };
  const before = await readFirst();
  progress(`removing ${removed.toLocaleString('en')} animals`);
  const owner = await connectTo(connectionString);
  const statuses = petStatuses.map((status) => owner.escapeLiteral(status)).join(', ');
  await owner.query(`update pets set removed_at = now(), status = (array[${statuses}]::pet_status[])[1 + id % 3] where id <= ${removed}`);
  const unvacuumed = await readFirst();
  await owner.query('vacuum (analyze) pets');
  await owner.end();
  const after = await readFirst();
  const worse = (index: number) => (after[index] ?? Infinity) / (before[index] ?? 0);
  const worst = all.map((_, index) => index).reduce((one, other) => (worse(other) > worse(one) ? other : one));
  return {
    claim: `Blocks that the first page touches with ${removed.toLocaleString('en')} removed animals in front, for every filter and size`,
    bar: `at most ${costMax} times those without them`,
    figure: `at most ${worse(worst).toFixed(2)} times: ${after[worst]} against ${before[worst]}; ${Math.max(...unvacuumed).toLocaleString('en')} at most before vacuum`,
    holds: after.every((_, index) => worse(index) <= costMax),
  };
}

const nameOf = ({ status, categoryId }: Pages) => [categoryId && 'one category', status].filter(Boolean).join(', ') || 'unfiltered';

/** Follows the links to the end while more animals are added. */
async function readAllPages(
  store: Store,
  client: pg.Client,
  status: PetStatus | undefined,
  progress: ProofContext['progress'],
): Promise<Claim> {
  await using staff = await Staff.of(store);
  using http = new HttpClient();
  const key = await staff.createKey('reader', { perMinute: 1_000_000_000, perDay: 1_000_000_000 });
  const [serve] = store.processes;
  if (!serve) throw new Error('the store has no process');
  const { rows } = await client.query<{ id: bigint }>('select id from pets where $1::pet_status is null or status = $1', [status]);
  const expected = new Set(rows.map(({ id }) => Number(id)));
  const arrivals = new SteadyLoad(arrivalsPerSecond, () =>
    http.send(`${serve.url}/pets`, { key: key.key, method: 'POST', body: { name: 'Late', categoryId: 1, status: status ?? 'available' } }),
  );
  const seen = new Set<number>();
  let duplicates = 0;
  let pages = 0;
  let next: string | undefined = `/v1/pets?limit=100${status ? `&status=${status}` : ''}`;
  // Twice as many pages as the animals need, to leave room for those that are added meanwhile.
  for (const pagesMax = expected.size / 50; next && pages < pagesMax; pages += 1) {
    const response = await http.send(new URL(next, serve.url).href, { key: key.key });
    if (response.status !== 200) throw new Error(`a page got ${response.status}`);
    for (const { id } of JSON.parse(response.text) as Array<{ id: number }>) {
      if (seen.has(id)) duplicates += 1;
      seen.add(id);
    }
    next = /<([^>]+)>; rel="next"/.exec(String(response.headers.link))?.[1];
    if (pages % 100 === 0) progress(`reading page ${pages}`);
  }
  const created = await arrivals.stop();
  const missed = [...expected].filter((id) => !seen.has(id));
  return {
    claim: `Reading all ${pages.toLocaleString('en')} pages (${status ?? 'unfiltered'}), while ${created.length} animals are added, returns each animal that existed before`,
    bar: 'once',
    figure: `${(expected.size - missed.length).toLocaleString('en')} of ${expected.size.toLocaleString('en')}, ${duplicates} of them twice${next ? ', and no last page' : ''}`,
    holds: !next && missed.length === 0 && duplicates === 0,
  };
}
