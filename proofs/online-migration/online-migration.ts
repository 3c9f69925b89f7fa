// The schema is changed under load, each time behind a reader that stays open: no request fails or waits for long.
import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { castOf, insertAnimals, place, queryStore } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { plantMutant } from '../../testkit/mutant.ts';
import { connectTo } from '../../testkit/postgres.ts';
import { type Sample, SteadyLoad } from '../../testkit/steady-load.ts';
import { type Key, type ServeProcess, Store } from '../../testkit/store.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';

const waitMsMax = 1_000;
const warmUpCount = 50;
/** From the end of the reader to the end of the migration: the longest pause between two attempts, and the work itself. */
const finishMsMax = 20_000;

interface Size {
  readonly animals: number;
  readonly readerMs: number;
  readonly perSecond: { readonly lists: number; readonly writes: number };
}

const sizes: Record<'short' | 'long', Size> = {
  short: { animals: 20_000, readerMs: 2_500, perSecond: { lists: 40, writes: 10 } },
  long: { animals: 500_000, readerMs: 30_000, perSecond: { lists: 100, writes: 25 } },
};

interface Change {
  readonly name: string;
  readonly what: string;
  readonly sql: string;
}

const changes: readonly Change[] = [
  {
    name: '9001_index',
    what: 'An index, built concurrently',
    sql: 'create index concurrently if not exists pets_by_name on pets (name, id) where removed_at is null;',
  },
  { name: '9002_column', what: 'A column', sql: 'alter table pets add column colour text;' },
  {
    name: '9003_constraint',
    what: 'A constraint for new rows',
    sql: 'alter table pets add constraint pets_colour check (char_length(colour) < 50) not valid;',
  },
  { name: '9004_validated', what: 'The same for existing rows', sql: 'alter table pets validate constraint pets_colour;' },
  { name: '9005_dropped', what: 'An index, dropped concurrently', sql: 'drop index concurrently if exists pets_by_name;' },
];

export const onlineMigration: Proof = {
  name: 'online-migration',
  promise: 'the schema changes while the store runs, also behind a long reader: no request fails, and none waits for a second',
  hasMutant: true,
  isNightly: true,
  about: ['service/migrations', 'service/src/platform/db', 'proofs/online-migration'],
  run,
};

async function run({ short, mutant, progress }: ProofContext): Promise<Claim[]> {
  // A copy, since the migrations of this proof are added to its folder. The mutant waits for a lock for as long as it takes.
  using tree = plantMutant(
    mutant ? [{ file: 'platform/db/migrate.ts', from: 'const lockTimeoutMs = 200;', to: 'const lockTimeoutMs = 60_000;' }] : [],
  );
  const size = sizes[short ? 'short' : 'long'];
  await using store = await Store.open({ processes: 1, root: tree.root, env: { LOG_LEVEL: 'warn' } });
  const uncached = await store.serve({ HOMEWARD_PAGE_CACHE: 'off' });
  const { manager, partners } = await castOf(store, 10);
  progress(`${size.animals.toLocaleString('en')} animals`);
  await fill(store, size.animals);
  const folder = path.join(tree.root, 'service/migrations');
  const send = loadOn([store.processes[0] ?? uncached, uncached], { manager, partners }, size);
  using http = new HttpClient(256);
  // The first requests of a process take longer, whatever else happens.
  for (let i = 0; i < warmUpCount; i += 1) await Promise.all([send.read(http), send.write(http)]);
  const claims: Claim[] = [];
  for (const change of changes) {
    progress(change.name);
    writeFileSync(path.join(folder, `${change.name}.sql`), `-- Up Migration\n\n${change.sql}\n`);
    const loads = [
      new SteadyLoad(size.perSecond.lists, () => send.read(http)),
      new SteadyLoad(size.perSecond.writes, () => send.write(http)),
    ];
    const behindMs = await migrateBehindReader(store, size.readerMs);
    const samples = (await Promise.all(loads.map((load) => load.stop()))).flat();
    claims.push(judge(change, samples, behindMs, size));
  }
  return claims;
}

async function fill(store: Store, animals: number): Promise<void> {
  await insertAnimals(store, animals);
  await queryStore(store, 'vacuum analyze pets');
}

/** Lists and single animals, of both processes; animals that are added and ordered. */
function loadOn(processes: readonly ServeProcess[], { manager, partners }: { manager: Key; partners: readonly Key[] }, { animals }: Size) {
  const anyUrl = () => processes[randomInt(processes.length)]?.url ?? '';
  return {
    read(http: HttpClient) {
      const paths = [`/pets?limit=20&categoryId=${1 + randomInt(10)}`, '/pets?status=available', `/pets/${1 + randomInt(animals)}`];
      return http.send(anyUrl() + paths[randomInt(paths.length)], { key: manager.key });
    },
    write(http: HttpClient) {
      const partner = partners[randomInt(partners.length)] ?? manager;
      if (randomInt(2) === 0) return place(http, anyUrl(), partner, 1 + randomInt(animals));
      return http.send(`${anyUrl()}/pets`, { method: 'POST', key: manager.key, body: { name: 'Biscuit', categoryId: 1 } });
    },
  };
}

/** Returns how long after the end of the reader the command ended; negative: before. */
async function migrateBehindReader(store: Store, readerMs: number): Promise<number> {
  const reader = await connectTo(store.postgres.url, { application_name: 'backup' });
  await reader.query('begin isolation level repeatable read');
  await reader.query('select count(*) from pets');
  let endedAtMs = Number.POSITIVE_INFINITY;
  const reading = sleep(readerMs).then(async () => {
    endedAtMs = performance.now();
    await reader.query('commit');
    await reader.end();
  });
  await store.homeward('migrate');
  const migratedAtMs = performance.now();
  await reading;
  return migratedAtMs - endedAtMs;
}

function judge({ name, what }: Change, samples: readonly Sample[], behindMs: number, { readerMs }: Size): Claim {
  const failed = samples.filter(({ response }) => !response || response.status >= 500).length;
  const longestMs = Math.max(...samples.map(({ tookMs }) => tookMs));
  // Validating takes no lock that a reader has.
  const mustWait = name !== '9004_validated';
  const isApplied = behindMs < finishMsMax && (!mustWait || behindMs > 0);
  const ended = behindMs < 0 ? 'it ended before the reader' : `it ended ${(behindMs / 1_000).toFixed(1)} s after the reader`;
  return {
    claim: `${what}, behind a reader of ${readerMs / 1_000} s, under load: requests that fail, and the longest wait of one`,
    bar: `0; ${waitMsMax} ms`,
    figure: `${failed} of ${samples.length.toLocaleString('en')}; ${longestMs.toFixed(0)} ms; ${ended}`,
    holds: failed === 0 && longestMs <= waitMsMax && isApplied && samples.length > 0,
    isTimed: failed === 0 && isApplied,
  };
}
