// A store loses its disk while partners write. It is restored from a backup and its archive, and made ready with `homeward restore-check`.
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDependencies } from '../../service/src/dependencies.ts';
import { loadConfig } from '../../service/src/platform/config.ts';
import { openJournal } from '../../service/src/platform/journal/journal.ts';
import { act, addAnimals, castOf, place, queryStore, verify } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { startRedis } from '../../testkit/servers.ts';
import { addStaffThings, countEndedToo, countRevived, endStaffThings, staffEnds, staffThings } from '../../testkit/staff-ends.ts';
import { type Key, Store } from '../../testkit/store.ts';
import { untilArchived } from '../../testkit/store-waits.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import { none } from '../claims.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { openReceiver, Partner, type Receiver } from './partners.ts';
import { RestorableServer, type Tool } from './restored-server.ts';

export const restore: Proof = {
  name: 'restore',
  promise:
    'a store whose disk is lost is restored with at most a minute of writes lost, and no cursor, key, erasure, passkey or role of that time is revived',
  /** In the mutant the feed goes on from the position of the backup. */
  mutant: [
    {
      file: 'changes/events/event-queries.ts',
      from: `update feed set last_position = "to",`,
      to: 'update feed set last_position = last_position,',
    },
    { file: 'operations/recovery/restore-queries.ts', from: 'set first_position = last_position + 1,', to: 'set' },
  ],
  isNightly: true,
  about: [
    'service/src/operations/recovery',
    'service/src/access/people',
    'service/src/platform/journal',
    'service/migrations',
    'docs/backup.md',
    'proofs/restore',
  ],
  run,
};

interface Drill {
  readonly tool: Tool;
  /** A point in time before the loss; otherwise the end of the archive. */
  readonly toTime?: true;
}

interface Size {
  readonly drills: readonly Drill[];
  readonly archiveTimeoutSeconds: number;
  readonly lossSecondsMax: number;
  /** How long partners write before the backup, and how long after it. */
  readonly beforeMs: number;
  readonly afterMs: number;
  readonly writesAfterwards: number;
}

const sizes: Record<'short' | 'long', Size> = {
  short: {
    drills: [{ tool: 'base backup', toTime: true }],
    archiveTimeoutSeconds: 2,
    lossSecondsMax: 60,
    beforeMs: 500,
    afterMs: 2_000,
    writesAfterwards: 20,
  },
  long: {
    drills: [{ tool: 'base backup' }, { tool: 'pgBackRest' }, { tool: 'base backup', toTime: true }, { tool: 'pgBackRest', toTime: true }],
    // As docs/backup.md has it.
    archiveTimeoutSeconds: 30,
    lossSecondsMax: 60,
    beforeMs: 5_000,
    afterMs: 75_000,
    writesAfterwards: 200,
  },
};
const arrivalTimeoutMs = 30_000;
const archiveTimeoutMs = 120_000;
const erased = 'ada@restore.example';

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  const size = sizes[short ? 'short' : 'long'];
  const claims: Claim[] = [];
  for (const drill of size.drills) claims.push(...(await runDrill(drill, size, root, progress)));
  return claims;
}

async function runDrill(drill: Drill, size: Size, root: string | undefined, progress: ProofContext['progress']): Promise<Claim[]> {
  await using resources = new AsyncDisposableStack();
  const { path: folder } = resources.use(temporaryFolder('journal'));
  const journal = path.join(folder, 'journal.log');
  const server = resources.use(await RestorableServer.open(drill.tool, size.archiveTimeoutSeconds));
  const { postgres } = server;
  const redis = resources.use(await startRedis());
  const receiver = resources.use(await openReceiver());
  const open = (processes: number) =>
    Store.open({
      processes,
      root,
      beside: { postgres, redis },
      env: { LOG_LEVEL: 'warn', HOMEWARD_JOURNAL: journal, HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' },
    });

  progress(`${drill.tool}: a store`);
  const lost = resources.use(await open(1));
  const url = lost.processes[0]?.url ?? '';
  const cast = await fill(lost, url, receiver);
  lost.work();
  const partner = new Partner(url, cast.valid, 'before');
  await sleep(size.beforeMs);
  progress(`${drill.tool}: the backup`);
  await server.backUp();
  await sleep(size.afterMs);
  const targetMs = drill.toTime && Date.now();
  progress(`${drill.tool}: erased, revoked and suspended`);
  await lost.homeward('orders', 'erase', '--email', erased);
  await lost.homeward('keys', 'revoke', String(cast.revoked.id));
  await lost.homeward('clients', 'suspend', 'partner 2');
  await endStaff(lost, journal);
  // Recovery can end at a time only if the archive goes further.
  if (drill.toTime) await untilArchived(lost, archiveTimeoutMs);

  progress(`${drill.tool}: the disk is lost`);
  const lostAtMs = Date.now();
  await server.loseDisk();
  await partner.stop();
  await lost[Symbol.asyncDispose]();

  progress(`${drill.tool}: the restore`);
  const startMs = performance.now();
  await server.restore(targetMs === undefined ? undefined : new Date(targetMs));
  const restoredMs = performance.now() - startMs;
  const store = resources.use(await open(0));
  const names = new Set((await queryStore<{ name: string }>(store, 'select name from pets')).map(({ name }) => name));
  const endedBefore = await readEnded(store, cast);
  const revivedBefore = await countRevived(readOne(store));
  const checks = [await check(store, journal), await check(store, journal)];
  const checkedMs = performance.now() - startMs;

  progress(`${drill.tool}: the restored store`);
  const [first, second] = [await store.serve(), await store.serve()];
  store.work();
  const ended = await readEnded(store, cast);
  const revived = await countRevived(readOne(store));
  const endedToo = await countEndedToo(readOne(store));
  const statuses = await readStatuses(first.url, [cast.valid, cast.revoked, cast.suspended]);
  const valid = await findValidCursors(first.url, cast.valid, partner);
  const stale = await writeAndList([first.url, second.url], cast.valid, size.writesAfterwards);
  const missing = await untilReceived(store, receiver);
  const { holds, rows } = await verify(store);

  const title = `${drill.tool}${drill.toTime ? ', to a point in time' : ''}`;
  return [
    judgeLoss(title, partner, names, { lostAtMs, targetMs, size }),
    {
      claim: `${title}: \`restore-check\` makes the store ready; run again, it has nothing to do; \`verify\` passes`,
      bar: 'moved, then not; holds',
      figure: `${checks.map(({ feed }) => (feed.moved ? 'moved' : 'not')).join(', then ')}; ${holds ? 'holds' : 'VIOLATION'} (${rows} rows); restored in ${seconds(restoredMs)}, ready in ${seconds(checkedMs)}`,
      holds: checks[0]?.feed.moved === true && checks[1]?.feed.moved === false && checks.every(({ ready }) => ready) && holds && rows > 0,
    },
    none(`${title}: cursors of the feed from before the loss that are not 410`, valid, { of: partner.cursors.length }),
    {
      claim: `${title}: with a valid, a revoked and a suspended client's key; adopters of orders and applications, keys and clients that were erased, revoked and suspended before \`restore-check\`, and after it`,
      bar: `200, 401, 403; ${drill.toTime ? 'none' : 'any number'}; all 4`,
      figure: `${statuses.join(', ')}; ${endedBefore}; ${ended}`,
      holds: statuses.join(', ') === '200, 401, 403' && (endedBefore === 0 || !drill.toTime) && ended === 4,
    },
    {
      claim: `${title}: of ${staffEnds} passkeys, roles, accounts and people that were ended among ${staffThings}: revived before \`restore-check\`, and after it; others that it has ended`,
      bar: `${drill.toTime ? staffEnds : 'any number'}; 0; 0`,
      figure: `${revivedBefore}; ${revived}; ${endedToo}`,
      holds: (revivedBefore === staffEnds || !drill.toTime) && revived === 0 && endedToo === 0,
    },
    none(`${title}: animals added afterwards that the next list of another process does not show`, stale, { of: size.writesAfterwards }),
    {
      claim: `${title}: animals of the restored store of which no webhook arrived; ids of webhooks that were used for two events`,
      bar: '0; 0',
      figure: `${missing} of ${receiver.received().size}; ${receiver.reusedIds().length}`,
      holds: missing === 0 && receiver.received().size > 0 && receiver.reusedIds().length === 0,
    },
  ];
}

interface Cast {
  readonly valid: Key;
  readonly revoked: Key;
  readonly suspended: Key;
}

async function fill(store: Store, url: string, receiver: Receiver): Promise<Cast> {
  const { manager, partners } = await castOf(store, 3);
  const [valid, revoked, suspended] = partners as [Key, Key, Key];
  using http = new HttpClient();
  const [petId = 0, otherId = 0, wantedId = 0] = await addAnimals(store, manager, 3);
  const order = await http.send(`${url}/store/orders`, {
    method: 'POST',
    key: valid.key,
    body: { petId, adopter: { name: 'Ada', email: erased } },
  });
  const { id } = JSON.parse(order.text) as { id: number };
  const closed = await act(http, url, valid, id, 'cancel');
  const open = await place(http, url, valid, otherId);
  const application = await http.send(`${url}/applications`, {
    method: 'POST',
    key: valid.key,
    body: { petId: wantedId, adopter: { name: 'Ada', email: erased } },
  });
  const { id: applicationId } = JSON.parse(application.text) as { id: number };
  const withdrawn = await http.send(`${url}/applications/${applicationId}/withdraw`, { method: 'POST', key: valid.key });
  const added = await http.send(`${url}/webhooks`, { method: 'POST', key: valid.key, body: { url: receiver.url, types: ['pet.created'] } });
  const statuses = [order, closed, open, application, withdrawn, added].map(({ status }) => status).join();
  if (statuses !== '201,200,201,201,200,201') throw new Error(`the store could not be filled: ${statuses}`);
  await addStaffThings((text) => queryStore(store, text), BigInt(valid.clientId));
  return { valid, revoked, suspended };
}

/** As the console and commands do it, with their journal. */
async function endStaff(store: Store, journal: string): Promise<void> {
  const env = { DATABASE_URL: store.postgres.url, REDIS_URL: store.redis.url, LOG_LEVEL: 'silent' };
  await using dependencies = await openDependencies(loadConfig(env));
  await endStaffThings(dependencies.db, openJournal({ fd: 2, file: journal }));
}

const readOne = (store: Store) => async (text: string) => (await queryStore<{ count: number }>(store, text))[0];

interface Checked {
  readonly ready: boolean;
  readonly feed: { readonly moved: boolean };
}

const check = async (store: Store, journal: string): Promise<Checked> =>
  JSON.parse(await store.homeward('restore-check', journal, '--json')) as Checked;

/** How many of the four are erased, revoked and suspended. */
async function readEnded(store: Store, { revoked }: Cast): Promise<number> {
  const [row] = await queryStore<{ count: number }>(
    store,
    `select (select count(*) from api_keys where id = $2 and revoked_at is not null)::int
        + (select count(*) from clients where name = 'partner 2' and suspended_at is not null)::int
        + (select (count(*) = 0)::int from orders where adopter_email = $1)
        + (select (count(*) = 0)::int from applications where adopter_email = $1) as count`,
    [erased, revoked.id],
  );
  return row?.count ?? 0;
}

async function readStatuses(url: string, keys: readonly Key[]): Promise<number[]> {
  using http = new HttpClient();
  const statuses: number[] = [];
  for (const { key } of keys) statuses.push((await http.send(`${url}/pets`, { key })).status);
  return statuses;
}

async function findValidCursors(url: string, { key }: Key, { cursors }: Partner): Promise<number> {
  using http = new HttpClient();
  let valid = 0;
  for (const { cursor } of cursors) if ((await http.send(`${url}/events?cursor=${cursor}`, { key })).status !== 410) valid += 1;
  return valid;
}

/** Each animal is added through one process, and must be in the next list of the other. */
async function writeAndList([first = '', second = '']: readonly string[], { key }: Key, count: number): Promise<number> {
  using http = new HttpClient();
  let stale = 0;
  for (let i = 0; i < count; i += 1) {
    const [to, from] = i % 2 === 0 ? [first, second] : [second, first];
    // Several categories, so that each fits into one page.
    const categoryId = 2 + (i % 8);
    const added = await http.send(`${to}/pets`, { method: 'POST', key, body: { name: `after ${i}`, categoryId } });
    const listed = await http.send(`${from}/pets?categoryId=${categoryId}&limit=100`, { key });
    if (added.status !== 201 || !listed.text.includes(`"after ${i}"`)) stale += 1;
  }
  return stale;
}

/** Returns the number of animals of which no event arrived, before the loss or after it. */
async function untilReceived(store: Store, receiver: Receiver): Promise<number> {
  // The animals that were added before the endpoint was.
  const rows = await queryStore<{ name: string }>(store, `select name from pets where name not like 'Animal %'`);
  const deadlineMs = performance.now() + arrivalTimeoutMs;
  for (;;) {
    const received = receiver.received();
    const missing = rows.filter(({ name }) => !received.has(name)).length;
    if (missing === 0 || performance.now() > deadlineMs) return missing;
    await sleep(50);
  }
}

interface Loss {
  readonly lostAtMs: number;
  readonly targetMs: number | undefined;
  readonly size: Size;
}

function judgeLoss(title: string, { animals }: Partner, names: ReadonlySet<string>, { lostAtMs, targetMs, size }: Loss): Claim {
  const lost = animals.filter(({ name }) => !names.has(name));
  if (targetMs !== undefined) {
    const before = lost.filter(({ atMs }) => atMs < targetMs).length;
    // An animal that was committed just before is acknowledged a little later.
    const after = animals.filter(({ name, atMs }) => names.has(name) && atMs > targetMs + 1_000).length;
    return {
      claim: `${title}: animals that were acknowledged before it and are lost; that were added after it and are not`,
      bar: '0; 0',
      figure: `${before}; ${after}, of ${animals.length}`,
      holds: before === 0 && after === 0 && lost.length > 0,
    };
  }
  const oldestMs = Math.max(0, ...lost.map(({ atMs }) => lostAtMs - atMs));
  return {
    claim: `${title}: the age of the oldest acknowledged write that is lost, with archive_timeout ${size.archiveTimeoutSeconds} s`,
    bar: `at most ${size.lossSecondsMax} s`,
    figure: `${seconds(oldestMs)}; ${lost.length} of ${animals.length} writes`,
    holds: oldestMs <= size.lossSecondsMax * 1_000 && animals.length > 0,
    isTimed: true,
  };
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
