// How long the screens of the console take in a large store, and whether one reads a whole table:
// npm run bench -- console [--applications 5000000] [--audit 10000000] [--samples 40] [--only /adopters] [--json] [--folder PATH]

import { parseArgs } from 'node:util';
import { useInvitation } from '../service/src/access/people/links.ts';
import { invitePerson, type Manager, type Person } from '../service/src/access/people/people.ts';
import { openSession } from '../service/src/access/people/sessions.ts';
import { searchPath } from '../service/src/console/adoptions/list-parts.ts';
import { consoleScreens, type ScreenParts } from '../service/src/console/console-screens.ts';
import { Seals } from '../service/src/console/sessions/cookies.ts';
import { openDependencies } from '../service/src/dependencies.ts';
import { theService } from '../service/src/domain/actor.ts';
import { type Role, rightsOf } from '../service/src/domain/roles.ts';
import { loadConfig } from '../service/src/platform/config.ts';
import { queryAt } from '../testkit/postgres.ts';
import { quantile } from '../testkit/quantile.ts';
import { Store } from '../testkit/store.ts';
import { fillApplications, type Landmarks } from './applications-fill.ts';
import { fillForConsole } from './console-fill.ts';
import { insertKeys } from './seed.ts';

const p50MsMax = 100;
const p99MsMax = 400;
/** Of a search for adopters. */
const searchMsMax = { p50: 50, p99: 200 };
/** What PostgreSQL may well read whole. */
const smallTableRows = 2_000;
/** The links of one page that lead to it with another query: tabs, filters, the next page. */
const variantsMax = 12;
const partnersCount = 1_000;

interface Options {
  readonly only: string | undefined;
  readonly applications: number;
  readonly auditRows: number;
  readonly samples: number;
}

/** Somebody who is signed in. */
interface Visitor {
  readonly who: string;
  readonly person: Person;
  /** Of somebody else for each screen: a person opens 240 pages a minute. */
  readonly cookies: string[];
  readonly ids: Readonly<Record<string, () => number | bigint>>;
  /** Of adopters of theirs. */
  readonly searches: readonly string[];
}

interface Screen {
  readonly path: string;
  readonly who: string;
  readonly timesMs: number[];
  readonly statuses: Set<number>;
  bytes: number;
  readonly scanned: Set<string>;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      applications: { type: 'string', default: '5000000' },
      audit: { type: 'string', default: '10000000' },
      samples: { type: 'string', default: '40' },
      json: { type: 'boolean', default: false },
      folder: { type: 'string' },
      only: { type: 'string' },
    },
  });
  const [applications, auditRows, samples] = [values.applications, values.audit, values.samples].map(Number) as [number, number, number];
  if (![applications, auditRows, samples].every((value) => Number.isSafeInteger(value) && value > 0) || applications < 50_000) {
    console.error(
      'Usage: npm run bench -- console [--applications 5000000] [--audit 10000000] [--samples 40] [--only /adopters] [--json] [--folder PATH]',
    );
    return 2;
  }
  // The servers put their data there, and remove them when they end, even if this process is killed.
  if (values.folder) process.env['TMPDIR'] = values.folder;
  return measure({ applications, auditRows, samples, only: values.only }, values.json);
}

async function measure({ applications, auditRows, samples, only }: Options, asJson: boolean): Promise<number> {
  const settings = { shared_buffers: '2GB', max_wal_size: '8GB', wal_level: 'minimal', max_wal_senders: '0' };
  await using store = await Store.open({ processes: 0, settings, env: { LOG_LEVEL: 'warn' } });
  const databaseUrl = store.postgres.url;
  const partners = await insertKeys(databaseUrl, { clients: partnersCount, perClient: 1, named: 'partner' });
  const progress = (step: string) => say(`Filling a store with ${count(applications)} applications: ${step}`);
  const landmarks = await fillApplications(databaseUrl, {
    applications,
    largeClientId: partners[0]?.clientId ?? 0,
    clients: { firstId: partners[1]?.clientId ?? 0, count: partners.length - 1 },
    progress,
  });
  const visitors = await signIn(store, landmarks);
  await fillForConsole(databaseUrl, { only, auditRows, personId: visitors[0]?.person.id ?? 0n, progress });
  const { url } = await store.openConsole();
  const screens: Screen[] = [];
  for (const visitor of visitors) {
    for (const { path } of consoleScreens({} as ScreenParts).pages) {
      if (only !== undefined && path !== only) continue;
      say(`${visitor.who}: ${path}`);
      const screen = await time({ url, databaseUrl, visitor, path, samples });
      if (screen) screens.push(screen);
    }
  }
  return report(screens, await sizesOf(databaseUrl), { samples, asJson });
}

/** One of the whole store, one of a shelter that has a twentieth of everything, and one of a usual shelter. */
async function signIn(store: Store, { largeShelterId, crowdedPets, oldPetId }: Landmarks): Promise<Visitor[]> {
  const config = loadConfig({ DATABASE_URL: store.postgres.url, REDIS_URL: store.redis.url, LOG_LEVEL: 'silent' });
  await using dependencies = await openDependencies(config);
  const { db, secret } = dependencies;
  const usual = largeShelterId + 1;
  const visitors: Visitor[] = [];
  const people = [
    ['the store', 'admin', null],
    ['a shelter with a twentieth of everything', 'admin', largeShelterId],
    ['a usual shelter', 'admin', usual],
  ] as const satisfies ReadonlyArray<readonly [string, Role, number | null]>;
  for (const [who, role, shelter] of people) {
    const shelterId = shelter === null ? null : BigInt(shelter);
    const join = (email: string) =>
      db.transaction(async (tx) => {
        const { token } = await invitePerson(tx, operator, { email, name: who, role, shelterId });
        return useInvitation(tx, token, { network: 'unknown' });
      }, theService);
    const person = await join(`${visitors.length}@example.org`);
    const cookies: string[] = [];
    for (const [n] of consoleScreens({} as ScreenParts).pages.entries()) {
      const { id } = n === 0 ? person : await join(`${visitors.length}.${n}@example.org`);
      const { token } = await db.transaction((tx) => openSession(tx, id, { from: '192.0.2.7', method: 'link' }), theService);
      cookies.push(`session=${new Seals(secret).seal('session', token)}`);
    }
    const ofShelter = shelter === null ? '' : `and shelter_id = ${shelter}`;
    const draw = async (table: string, limit = 200) => {
      const rows = await queryAt<{ id: string }>(
        store.postgres.url,
        `select id from (select id from ${table} where ${isConfirmed(table)} ${ofShelter} order by id desc limit 5000) as last order by md5(id::text) limit ${limit}`,
      );
      return rows.map(({ id }) => Number(id));
    };
    const drawn = { petId: await draw('pets'), applicationId: await draw('applications'), orderId: await draw('orders') };
    // Those with the most applications.
    const pets = shelter === null ? [...crowdedPets.slice(0, 20), oldPetId, ...drawn.petId.slice(0, 40)] : drawn.petId;
    const adopters = await queryAt<{ name: string; email: string; phone: string | null }>(
      store.postgres.url,
      `select adopter_name as name, adopter_email as email, adopter_phone as phone from applications
        where id = any($1::bigint[]) and adopter_name is not null limit 5`,
      [drawn.applicationId],
    );
    visitors.push({
      searches: adopters.flatMap(searchesOf),
      who,
      person,
      cookies,
      ids: {
        personId: () => person.id,
        petId: turns(pets),
        applicationId: turns(drawn.applicationId),
        orderId: turns(drawn.orderId),
        shelterId: () => shelter ?? usual,
      },
    });
  }
  return visitors;
}

/** One that its adopter has not confirmed is shown to nobody. */
const isConfirmed = (table: string) => (table === 'applications' ? `status <> 'unconfirmed'` : 'true');

const operator: Manager = {
  clientId: null,
  keyId: null,
  personId: null,
  shelterId: null,
  acts: rightsOf('admin', null)?.acts ?? [],
  origin: { login: 'operator', host: 'store-1' },
};

/** As a caller says it, and what is too common. */
const searchesOf = ({ name, email, phone }: { name: string; email: string; phone: string | null }): string[] => [
  name,
  name.replace(/^\S+ /, ''),
  name.slice(-4),
  email,
  email.slice(0, 10),
  ...(phone === null ? [] : [phone, phone.slice(-6)]),
  'anna',
  'example.org',
];

function turns(ids: readonly number[]): () => number {
  let turn = 0;
  return () => {
    turn += 1;
    return ids[turn % ids.length] ?? 0;
  };
}

interface Visit {
  readonly url: string;
  readonly databaseUrl: string;
  readonly visitor: Visitor;
  readonly path: string;
  readonly samples: number;
}

/** A screen with what its tabs, filters and further pages lead to, one request at a time. Undefined: it is of something that is not measured. */
async function time({ url, databaseUrl, visitor, path, samples }: Visit): Promise<Screen | undefined> {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  if (names.some((name) => !visitor.ids[name])) return undefined;
  const screen: Screen = { path, who: visitor.who, timesMs: [], statuses: new Set(), bytes: 0, scanned: new Set() };
  const cookie = visitor.cookies.pop() ?? '';
  const get = async (target: string, isCounted: boolean): Promise<string> => {
    const startedAtMs = performance.now();
    const response = await fetch(new URL(target, url), {
      redirect: 'manual',
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
    });
    const text = await response.text();
    if (!isCounted) return text;
    screen.timesMs.push(performance.now() - startedAtMs);
    screen.statuses.add(response.status);
    screen.bytes = Math.max(screen.bytes, Buffer.byteLength(text));
    return text;
  };
  const fill = () => path.replaceAll(/:(\w+)/g, (_, name: string) => String(visitor.ids[name]?.()));
  const first = fill();
  // A named statement is planned again each time until the sixth.
  for (let n = 0; n < 6; n += 1) await get(fill(), false);
  const searches = path === searchPath ? visitor.searches.map((q) => `?q=${encodeURIComponent(q)}`) : [];
  const queries = ['', ...searches, ...queriesOf(await get(first, false), first)];
  const before = await scansOf(databaseUrl);
  for (let n = 0; n < Math.max(samples, queries.length * 4); n += 1) {
    const query = queries[n % queries.length] ?? '';
    await get(query === '' || names.length === 0 ? `${fill()}${query}` : `${first}${query}`, true);
  }
  const after = await scansOf(databaseUrl);
  for (const [table, scans] of after) if (scans > (before.get(table) ?? 0)) screen.scanned.add(table);
  return screen;
}

function queriesOf(text: string, path: string): string[] {
  const links = [...text.matchAll(/href="([^"?#]*)(\?[^"#]*)"/g)].filter(([, target = '']) => target === path || target === '');
  return [...new Set(links.map(([, , query = '']) => query.replaceAll('&#38;', '&').replaceAll('&amp;', '&')))].slice(0, variantsMax);
}

/** The sequential scans of tables that are not small. */
async function scansOf(url: string): Promise<Map<string, number>> {
  // Counts of a connection are written when it is idle for a second.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const rows = await queryAt<{ name: string; scans: string }>(
    url,
    `select relname as name, seq_scan as scans from pg_stat_user_tables where n_live_tup > ${smallTableRows}`,
  );
  return new Map(rows.map(({ name, scans }) => [name, Number(scans)]));
}

const sizesOf = (url: string) =>
  queryAt<{ name: string; rows: string }>(
    url,
    `select relname as name, n_live_tup as rows from pg_stat_user_tables where n_live_tup > 10000 order by 2 desc`,
  );

function report(
  screens: readonly Screen[],
  sizes: ReadonlyArray<{ name: string; rows: string }>,
  { samples, asJson }: { samples: number; asJson: boolean },
): number {
  const rows = screens.map(({ path, who, timesMs, statuses, bytes, scanned }) => {
    const [p50Ms, p99Ms] = [quantile(timesMs, 0.5), quantile(timesMs, 0.99)];
    const isShown = [...statuses].every((status) => status === 200 || status === 303);
    const holds =
      isShown &&
      p50Ms <= (path === searchPath ? searchMsMax.p50 : p50MsMax) &&
      p99Ms <= (path === searchPath ? searchMsMax.p99 : p99MsMax) &&
      scanned.size === 0;
    return { path, who, requests: timesMs.length, p50Ms, p99Ms, statuses: [...statuses], bytes, scanned: [...scanned], holds };
  });
  console.log(`Rows: ${sizes.map(({ name, rows: n }) => `${name} ${count(Number(n))}`).join(', ')}.`);
  console.log(
    `Median and 99th percentile in ms of ${samples} requests of each screen or more, with its tabs, filters and further pages.\n`,
  );
  console.log('| Screen | Who | p50 | p99 | kB | Status | Read whole | |\n|---|---|---|---|---|---|---|---|');
  for (const { path, who, p50Ms, p99Ms, bytes, statuses, scanned, holds } of rows) {
    console.log(
      `| \`${path}\` | ${who} | ${p50Ms.toFixed(1)} | ${p99Ms.toFixed(1)} | ${(bytes / 1_000).toFixed(0)} | ${statuses.join(', ')} | ${scanned.join(', ')} | ${holds ? 'holds' : 'BROKEN'} |`,
    );
  }
  console.log(
    `\nA screen may take ${p50MsMax} ms at the median and ${p99MsMax} ms at the 99th percentile, a search for adopters ${searchMsMax.p50} and ${searchMsMax.p99}, and reads no table whole.`,
  );
  const holds = rows.every((row) => row.holds);
  console.log(holds ? '\nAll hold.' : '\nBROKEN');
  if (asJson) console.log(JSON.stringify({ samples, rows, holds }));
  return holds ? 0 : 1;
}

const count = (value: number) => value.toLocaleString('en');
const say = (sentence: string) => void process.stderr.write(`${sentence}\n`);

process.exitCode = await main();
