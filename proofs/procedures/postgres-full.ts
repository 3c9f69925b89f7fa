// PostgreSQL's disk is full: a slot of a standby that is gone keeps every segment of the log of writes, and there is a load of writes.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { HttpClient } from '../../testkit/http.ts';
import { serveLocally } from '../../testkit/local-server.ts';
import { connectTo } from '../../testkit/postgres.ts';
import { freePort, type PrivateServer, startPostgres, startRedis } from '../../testkit/servers.ts';
import { SmallDisk } from '../../testkit/small-disk.ts';
import { type Sample, SteadyLoad } from '../../testkit/steady-load.ts';
import { Store } from '../../testkit/store.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import { until } from '../../testkit/until.ts';
import { Prometheus } from '../alerts/prometheus.ts';
import { none } from '../claims.ts';
import { requirePrograms } from '../deploy/programs.ts';
import type { Claim, ProofContext } from '../proof.ts';
import { OperatorShell } from './operator-shell.ts';
import { checksClaim, commandsClaim, follow, type Procedure } from './procedure.ts';

export const postgresFull: Procedure = {
  file: 'docs/operations/runbooks.md',
  heading: "## When PostgreSQL's disk is full",
  mutant: { from: "select pg_drop_replication_slot('gone')", to: 'select 1' },
  run: fillDisk,
};

const diskMegabytes = 640;
/** Segments that are not needed stay up to this size, which is for larger disks by default. */
const settings = { max_wal_size: '128MB', min_wal_size: '32MB' };
/** The slot of the page. */
const slot = 'gone';
const writeIntervalMs = 50;
const fullTimeoutMs = 120_000;
/** Nobody looks before it fires. */
const alert = 'HomewardPostgresDown';
const alertTimeoutMs = 60_000;
const backTimeoutMs = 30_000;

async function fillDisk(commands: readonly string[], progress: ProofContext['progress']): Promise<Claim[]> {
  requirePrograms({ psql: 'postgresql-client', prometheus: 'prometheus', curl: 'curl', fallocate: 'util-linux' });
  await using resources = new AsyncDisposableStack();
  const { path: folder } = resources.use(temporaryFolder('full'));
  const disk = resources.use(await SmallDisk.mount(diskMegabytes));
  const postgres = resources.use(await startPostgres({ durable: true, folder: disk.folder, settings }));
  const redis = resources.use(await startRedis());
  const env = { HOMEWARD_JOURNAL: path.join(folder, 'journal.log') };
  progress('postgres-full: a store on a small disk');
  const store = resources.use(await Store.open({ processes: 0, beside: { postgres, redis }, env }));
  const metrics = { api: await freePort(), worker: await freePort() };
  await store.serve({ HOMEWARD_METRICS_PORT: String(metrics.api) });
  store.work({ HOMEWARD_METRICS_PORT: String(metrics.worker) });
  const prometheus = resources.use(
    await Prometheus.start({
      targets: [
        { job: 'homeward-api', port: metrics.api },
        { job: 'homeward-worker', port: metrics.worker },
      ],
      mountpoint: disk.folder,
      alertmanager: undefined,
      hasRestarts: false,
    }),
  );
  const url = store.processes[0]?.url ?? '';
  const { key } = await store.createKey('Paws', { perMinute: 100_000, perDay: 1_000_000 });
  const pgData = path.join(disk.folder, 'data');
  using shell = new OperatorShell({
    ...env,
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    PORT: new URL(url).port,
    PGDATA: pgData,
  });
  shell.addProgram(
    'systemctl',
    `test "$*" = "restart postgresql" && exec curl --silent --fail --max-time 60 ${await restarterOf(postgres, resources)}`,
  );

  // The first command is for a quiet day.
  const [prepare = '', ...rest] = commands;
  const prepared = await follow(shell, [prepare]);
  using http = new HttpClient(64);
  // Adds an animal at each interval, whatever the responses are.
  const nameAt = (index: number) => `animal ${index + 1}`;
  const load = new SteadyLoad(1_000 / writeIntervalMs, (index) =>
    http.send(`${url}/pets`, { method: 'POST', key, body: { name: nameAt(index), categoryId: 1 } }),
  );
  const statusOf = (sample: Sample | undefined) => sample?.response?.status ?? 0;
  progress('postgres-full: a slot fills the disk');
  await fillLog(postgres.url, disk);
  const hasFired = await prometheus.untilFiring(alert, true, alertTimeoutMs);
  const whileFull = load.samples.map(statusOf);
  const isBallastThere = existsSync(path.join(pgData, '../homeward-ballast'));
  const freeBytes = disk.freeBytes;
  const steps = [...prepared, ...(await follow(shell, rest, (command) => progress(`postgres-full: ${command}`)))];
  const hasEnded = await prometheus.untilFiring(alert, false, alertTimeoutMs);
  const isBack = () => statusOf(load.samples.at(-1)) === 201;
  await until('writes are 201', isBack, { timeoutMs: backTimeoutMs }).catch(() => {});
  const added = (await load.stop()).filter((sample) => statusOf(sample) === 201).map(({ index }) => nameAt(index));
  const { names, slots } = await readEnd(postgres.url);
  const lost = added.filter((name) => !names.has(name));
  const [firstDoctor, lastDoctor] = [0, -1].map((i) => steps.filter(({ command }) => command === 'homeward doctor').at(i));
  const unexpected = whileFull.filter((status) => status !== 201 && status !== 503);
  return [
    {
      claim: 'postgres-full: free bytes when somebody looks; responses to writes until then that are neither 201 nor 503',
      bar: 'less than a segment of 16 MB; 0, and 503 among them',
      figure: `${freeBytes}; ${unexpected.length} of ${whileFull.length}, ${whileFull.filter((status) => status === 503).length} of them 503`,
      holds: freeBytes < 16 * 1_048_576 && unexpected.length === 0 && whileFull.includes(503) && isBallastThere,
    },
    commandsClaim('postgres-full', steps),
    checksClaim('postgres-full: what the page promises, from the alert to its end', {
      [`${alert} fires under a real Prometheus`]: hasFired,
      'it has ended': hasEnded,
      'doctor first says that something is broken': firstDoctor?.status === 1,
      'doctor finds nothing broken in the end': lastDoctor?.status === 0 || lastDoctor?.status === 3,
      'the slot is gone': slots === 0,
      'a fifth of the disk is free beside the ballast': disk.freeBytes > (diskMegabytes * 1_048_576) / 5,
      'the ballast is there again': existsSync(path.join(pgData, '../homeward-ballast')),
      'writes are 201 again': isBack(),
    }),
    none('postgres-full: animals that were acknowledged and are missing', lost.length, { of: added.length }),
  ];
}

/** Writes to the log of writes alone, as fast as a busy store would in a day. Ends when there is no room for the next segment. */
async function fillLog(url: string, disk: SmallDisk): Promise<void> {
  const deadlineMs = Date.now() + fullTimeoutMs;
  let hasSlot = false;
  for (;;) {
    if (Date.now() > deadlineMs) throw new Error(`the disk is not full after ${fullTimeoutMs} ms: ${disk.freeBytes} bytes are free`);
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    try {
      await client.connect();
      if (!hasSlot) await client.query('select pg_create_physical_replication_slot($1, true)', [slot]);
      hasSlot = true;
      for (;;) await client.query(`select pg_logical_emit_message(false, 'full', repeat('x', 1000000))`);
    } catch (error) {
      if (!hasSlot) throw error;
      if (disk.freeBytes < 16 * 1_048_576) return;
    } finally {
      await client.end().catch(() => {});
    }
    await sleep(100);
  }
}

/** In place of the service manager of PostgreSQL's machine. Returns a URL that restarts the server. */
async function restarterOf(postgres: PrivateServer, resources: AsyncDisposableStack): Promise<string> {
  const restart = async () => {
    await postgres.signal('SIGINT');
    await postgres.start();
  };
  const server = await serveLocally((_, response) => {
    restart().then(
      () => response.end('restarted\n'),
      (error: unknown) => response.writeHead(500).end(`${error}\n`),
    );
  });
  return resources.use(server).origin;
}

async function readEnd(url: string): Promise<{ names: ReadonlySet<string>; slots: number }> {
  await using client = await connectTo(url);
  const { rows } = await client.query<{ name: string }>('select name from pets');
  const { rowCount } = await client.query('select from pg_replication_slots');
  return { names: new Set(rows.map(({ name }) => name)), slots: rowCount ?? 0 };
}
