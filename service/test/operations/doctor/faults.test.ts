// Each fault that an operator may meet, made for real, is the first thing that doctor says, with what to do about it.

import { chmodSync, globSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { openIdentityProvider } from '../../../../testkit/identity-provider.ts';
import { startMailServer } from '../../../../testkit/mail-server.ts';
import { freePort } from '../../../../testkit/servers.ts';
import { listenForImages } from '../../../src/images/images-server.ts';
import type { CheckName } from '../../../src/operations/doctor/finding.ts';
import { type CommandOptions, homeward, startConsole, startServing } from '../../cli/homeward-command.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { WebhookReceiver } from '../../webhook-receiver.ts';
import { password, type Report, startDoctorStore } from './doctor-store.ts';

const store = disposeAfterAll(await startDoctorStore());

/** How doctor is run, if not as always. */
interface Run extends Omit<CommandOptions, 'env'> {
  readonly env?: Readonly<Record<string, string>>;
}

interface Fault {
  readonly fault: string;
  readonly first: CheckName;
  readonly severity: 'broken' | 'warning';
  readonly found: RegExp;
  readonly fix: RegExp;
  /** What it puts on the stack ends the fault. */
  induce(undo: AsyncDisposableStack): Promise<Run | undefined>;
}

/** Returns its socket. */
async function serveImages(undo: AsyncDisposableStack): Promise<string> {
  const socket = path.join(store.folder, 'served.sock');
  undo.use(await listenForImages(socket, { info: () => {}, warn: () => {} }));
  return socket;
}

const mailTo = (url: string) => ({
  HOMEWARD_SMTP_URL: url,
  HOMEWARD_MAIL_FROM: 'adoption@example.org',
  HOMEWARD_PUBLIC_URL: 'https://api.example.org',
});

const signInWith = (issuer: string) => ({
  HOMEWARD_OIDC_ISSUER: issuer,
  HOMEWARD_OIDC_CLIENT_ID: 'homeward',
  HOMEWARD_OIDC_CLIENT_SECRET: 'a secret of some length',
  HOMEWARD_CONSOLE_URL: 'http://localhost:8090',
});

const faults: readonly Fault[] = [
  {
    fault: 'wrong password',
    first: 'postgres',
    severity: 'broken',
    found: /rejects the user "homeward_api" or the password/,
    fix: /Correct DATABASE_URL/,
    induce: async () => ({ env: { DATABASE_URL: store.urlOf('homeward_api', 'not sesame') } }),
  },
  {
    fault: 'pending migration',
    first: 'postgres-migrations',
    severity: 'broken',
    found: /The database lacks 00\d\d_\w+\./,
    fix: /Run 'homeward migrate'/,
    induce: async (undo) => {
      const { rows } = await store.owner.query<{ name: string; run_on: Date }>(
        'delete from schema_migrations where name = (select max(name) from schema_migrations) returning name, run_on',
      );
      const [last] = rows;
      undo.defer(() => execute('insert into schema_migrations (name, run_on) values ($1, $2)', [last?.name, last?.run_on]));
      return undefined;
    },
  },
  {
    fault: 'missing role: the login is not a member',
    first: 'postgres-role',
    severity: 'broken',
    found: /The user "stranger" of DATABASE_URL may not act as homeward_app/,
    fix: /grant homeward_app to "stranger"/,
    induce: async (undo) => {
      await execute(`create role stranger in role pg_monitor login password '${password}'`);
      undo.defer(() => execute('drop role stranger'));
      return { env: { DATABASE_URL: store.urlOf('stranger') } };
    },
  },
  {
    fault: 'missing role: it does not exist on this server',
    first: 'postgres-role',
    severity: 'broken',
    found: /This server has no role homeward_app/,
    fix: /create role homeward_app nologin/,
    induce: async (undo) => {
      await execute('alter role homeward_app rename to lost');
      undo.defer(() => execute('alter role lost rename to homeward_app'));
      return undefined;
    },
  },
  {
    fault: 'a default partition of the audit',
    first: 'postgres-schema',
    severity: 'warning',
    found: /default partition audit_default of audit/,
    fix: /alter table audit detach partition audit_default/,
    induce: async (undo) => {
      await execute('create table audit_default partition of audit default');
      undo.defer(() => execute('drop table audit_default'));
      return undefined;
    },
  },
  {
    fault: 'months of the audit that are missing',
    first: 'worker',
    severity: 'warning',
    found: /the audit has partitions for \d+ days? only/,
    fix: /select make_audit_partitions\(\)/,
    induce: async (undo) => {
      await execute(`do $$ declare name text; begin
        for name in select relname from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'audit'::regclass
          and to_date(right(relname, 6), 'YYYYMM') > now() loop execute format('drop table %I', name); end loop; end $$`);
      undo.defer(() => execute('select make_audit_partitions()'));
      return undefined;
    },
  },
  {
    fault: 'long lock',
    first: 'postgres-locks',
    severity: 'broken',
    // The worker of the store, which looks for holds that are over, may be the second.
    found:
      /^Process \d+ \(stuck script, idle in transaction, .+\) has locked pets and blocks (?:1 other session|2 other sessions), for \d+ s\.$/,
    fix: /select pg_terminate_backend\(\d+\)/,
    induce: async (undo) => {
      const holder = await connectAs(undo, 'stuck script');
      await holder.query('begin');
      await holder.query('lock table pets in access exclusive mode');
      const waiter = await connectAs(undo, 'waiter');
      const waiting = waiter.query('select from pets').catch(() => {});
      undo.defer(async () => {
        await holder.query('rollback');
        await waiting;
      });
      await until("select now() - xact_start > interval '5 s' as done from pg_stat_activity where application_name = 'stuck script'");
      return undefined;
    },
  },
  {
    fault: 'full connections',
    first: 'postgres-connections',
    severity: 'broken',
    found: /it has no connection left/,
    fix: /raise max_connections/,
    induce: async (undo) => {
      for (let count = 0; count < 50; count += 1) {
        const client = new pg.Client({ connectionString: store.urlOf('homeward_api') });
        client.on('error', () => {});
        const isFull = await client.connect().then(
          () => false,
          (error: pg.DatabaseError) => error.code === '53300',
        );
        undo.defer(() => client.end().catch(() => {}));
        if (isFull) return undefined;
      }
      throw new Error('PostgreSQL still accepts connections');
    },
  },
  {
    fault: 'full connections, seen by a superuser',
    first: 'postgres-connections',
    severity: 'broken',
    found: /^0 of 45 connections are left/,
    fix: /raise max_connections/,
    induce: async (undo) => {
      await faults.find(({ fault }) => fault === 'full connections')?.induce(undo);
      return { env: { DATABASE_URL: store.postgres.url } };
    },
  },
  {
    fault: 'old snapshot',
    first: 'postgres-snapshots',
    severity: 'warning',
    found: /^Process \d+ \(forgotten report, idle in transaction\) has kept a snapshot for \d+ s and 1\d\d,\d\d\d transactions/,
    fix: /select pg_terminate_backend\(\d+\)/,
    induce: async (undo) => {
      const reader = await connectAs(undo, 'forgotten report');
      await reader.query('begin isolation level repeatable read');
      await reader.query('select 1');
      // Each exception block that writes takes a number of its own.
      await execute(`create temp table numbers (number int); do $$ begin
        for number in 1 .. 100100 loop
          begin insert into numbers values (number); exception when others then null; end;
        end loop; end $$; drop table numbers`);
      return undefined;
    },
  },
  {
    fault: 'Redis down',
    first: 'redis',
    severity: 'broken',
    found: /nothing is listening there/,
    fix: /Start Redis, or correct REDIS_URL/,
    induce: async (undo) => {
      await store.redis.signal('SIGINT');
      undo.defer(() => store.redis.start());
      return undefined;
    },
  },
  {
    fault: 'evicting Redis',
    first: 'redis-eviction',
    severity: 'warning',
    found: /The maxmemory-policy is allkeys-lru/,
    fix: /maxmemory-policy noeviction/,
    induce: async (undo) => {
      const redis = new Redis(store.redis.url);
      undo.defer(async () => {
        await redis.config('SET', 'maxmemory-policy', 'noeviction');
        redis.disconnect();
      });
      await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
      return undefined;
    },
  },
  {
    fault: 'slow Redis',
    first: 'redis-latency',
    severity: 'broken',
    found: /Redis replies in \d{2,3}\.\d ms/,
    fix: /slowlog/,
    induce: async (undo) => ({ env: { REDIS_URL: `redis://127.0.0.1:${await startSlowProxy(undo, store.redis.port, 40)}` } }),
  },
  {
    fault: 'clock off by 5 s',
    first: 'clock',
    severity: 'warning',
    found: /^The clock of this machine is [45]\.\d s ahead of that of PostgreSQL and Redis\.$/,
    fix: /NTP/,
    induce: async () => ({ env: { LD_PRELOAD: fakeTimeLibrary(), FAKETIME: '+5s', DONT_FAKE_MONOTONIC: '1' } }),
  },
  {
    fault: 'clock off by 5 s, to the other side',
    first: 'clock',
    severity: 'warning',
    found: /^The clock of this machine is [45]\.\d s behind that of PostgreSQL and Redis\.$/,
    fix: /NTP/,
    induce: async () => ({ env: { LD_PRELOAD: fakeTimeLibrary(), FAKETIME: '-5s', DONT_FAKE_MONOTONIC: '1' } }),
  },
  {
    fault: 'port taken',
    first: 'port',
    severity: 'broken',
    found: /^Port \d+ is taken by another program/,
    fix: /ss -ltnp|PORT/,
    induce: async (undo) => {
      const port = await freePort();
      const other = createServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'));
      await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
      undo.defer(() => void other.close());
      return { env: { PORT: String(port) } };
    },
  },
  {
    fault: 'port of the metrics taken',
    first: 'port',
    severity: 'broken',
    found: /^Port \d+ is taken by another program/,
    fix: /HOMEWARD_METRICS_PORT/,
    induce: async () => ({ env: { HOMEWARD_METRICS_PORT: String(store.redis.port) } }),
  },
  {
    fault: 'port of the console taken',
    first: 'console',
    severity: 'broken',
    found: /^Port \d+ is taken by another program.+ HOMEWARD_CONSOLE_URL is https:\/\/console\.example\.org, which is looked at only/,
    fix: /HOMEWARD_CONSOLE_PORT/,
    induce: async () => ({
      env: {
        HOMEWARD_CONSOLE_URL: 'https://console.example.org',
        HOMEWARD_CONSOLE_PORT: String(store.redis.port),
        HOMEWARD_TRUSTED_PROXIES: '127.0.0.1',
      },
    }),
  },
  {
    fault: 'a console behind a proxy that is not trusted',
    first: 'configuration',
    severity: 'warning',
    found: /^A proxy leads from https:\/\/console\.example\.org to 127\.0\.0\.1, and HOMEWARD_TRUSTED_PROXIES is empty/,
    fix: /such as 127\.0\.0\.1/,
    induce: async () => ({ env: { HOMEWARD_CONSOLE_URL: 'https://console.example.org', HOMEWARD_CONSOLE_PORT: '0' } }),
  },
  {
    fault: 'a provider of sign-ins that is away',
    first: 'provider',
    severity: 'warning',
    found:
      /^Nobody can sign in with the provider: http:\/\/127\.0\.0\.1:\d+\/\.well-known\/openid-configuration is 503, and should be 200\.$/,
    fix: /^Is HOMEWARD_OIDC_ISSUER correct/,
    induce: async (undo) => ({ env: signInWith(undo.use(await openIdentityProvider()).issuer) }),
  },
  {
    fault: 'a provider of sign-ins with another issuer',
    first: 'provider',
    severity: 'warning',
    found: /HOMEWARD_OIDC_ISSUER is http:\/\/localhost:\d+, and \S+ names the issuer http:\/\/127\.0\.0\.1:\d+\.$/,
    fix: /^Set HOMEWARD_OIDC_ISSUER to what it names/,
    induce: async (undo) => {
      const provider = undo.use(await openIdentityProvider());
      provider.serve('https://console.example.org');
      return { env: signInWith(provider.issuer.replace('127.0.0.1', 'localhost')) };
    },
  },
  {
    fault: 'full disk',
    first: 'disk',
    severity: 'broken',
    found: /^0 B of 256 KiB are free for the journal/,
    fix: /Make room/,
    induce: async () => {
      const { folder, node } = onFullDisk();
      return { node, env: { HOMEWARD_JOURNAL: path.join(folder, 'journal.log') } };
    },
  },
  {
    fault: 'full disk of photos',
    first: 'disk',
    severity: 'broken',
    found: /^0 B of 256 KiB are free for photos \(.*\), so that uploads are 409 photo_storage_full\.$/,
    fix: /Make room/,
    induce: async (undo) => {
      const { folder, node } = onFullDisk();
      return { node, env: { HOMEWARD_PHOTOS: path.join(folder, 'photos'), HOMEWARD_IMAGES_SOCKET: await serveImages(undo) } };
    },
  },
  {
    fault: 'photos in a directory that is a file',
    first: 'photos',
    severity: 'broken',
    found: /^The directory for photos, .*, can't be written \(ENOTDIR\), so that uploads are 503\.$/,
    fix: /Correct HOMEWARD_PHOTOS/,
    induce: async (undo) => {
      const file = path.join(store.folder, 'not-a-directory');
      writeFileSync(file, '');
      return { env: { HOMEWARD_PHOTOS: path.join(file, 'photos'), HOMEWARD_IMAGES_SOCKET: await serveImages(undo) } };
    },
  },
  {
    fault: 'photos that nobody decodes',
    first: 'images',
    severity: 'broken',
    found: /^No photo is processed: homeward images can't be reached at .*images\.sock: connect ENOENT/,
    fix: /^Start 'homeward images' with this path/,
    induce: async () => ({ env: { HOMEWARD_PHOTOS: store.folder, HOMEWARD_IMAGES_SOCKET: path.join(store.folder, 'images.sock') } }),
  },
  {
    fault: 'photos that a child of the worker decodes',
    first: 'images',
    severity: 'warning',
    found: /^HOMEWARD_IMAGES_SOCKET is not set here\. .* decoded by a child of it, which has its user/,
    fix: /^Run 'homeward images'/,
    induce: async () => ({ env: { HOMEWARD_PHOTOS: store.folder } }),
  },
  {
    fault: 'photos in a bucket that can not be reached',
    first: 'photos',
    severity: 'broken',
    found: /^The bucket pictures at http:\/\/127\.0\.0\.1:1 can't be used: /,
    fix: /Correct HOMEWARD_PHOTOS_S3_ENDPOINT/,
    induce: async (undo) => ({
      env: {
        HOMEWARD_IMAGES_SOCKET: await serveImages(undo),
        HOMEWARD_PHOTOS: 's3://pictures',
        HOMEWARD_PHOTOS_S3_ENDPOINT: 'http://127.0.0.1:1',
        HOMEWARD_PHOTOS_S3_KEY_ID: 'id',
        HOMEWARD_PHOTOS_S3_SECRET: 'secret',
      },
    }),
  },
  {
    fault: 'a mail server that can not be reached',
    first: 'mail',
    severity: 'broken',
    found: /^Mail waits: 127\.0\.0\.1:1 can't be used: .*ECONNREFUSED/,
    fix: /^Is the server running/,
    induce: async () => ({ env: mailTo('smtp://127.0.0.1:1') }),
  },
  {
    fault: 'a mail server that rejects the login',
    first: 'mail',
    severity: 'broken',
    found: /^Mail waits: 127\.0\.0\.1:\d+ can't be used: the SMTP server replied to AUTH PLAIN: 535\.$/,
    fix: /^Correct the user and the password in HOMEWARD_SMTP_URL/,
    induce: async (undo) => {
      const server = undo.use(await startMailServer({}, { onAuth: (_, __, done) => done(new Error('no')) }));
      return { env: mailTo(`smtp://store:wrong@127.0.0.1:${server.port}`) };
    },
  },
  {
    fault: 'a mail server that relays for nobody',
    first: 'mail',
    severity: 'broken',
    found: /^Mail waits: 127\.0\.0\.1:\d+ can't be used: the SMTP server replied to RCPT TO: 554 5\.7\.1\.$/,
    fix: /^Look at the log of the mail server: it rejects this machine, this user, or HOMEWARD_MAIL_FROM/,
    induce: async (undo) => {
      const server = undo.use(await startMailServer({ recipient: () => ({ code: 554, text: '5.7.1 Relay access denied' }) }));
      return { env: mailTo(`smtp://127.0.0.1:${server.port}`) };
    },
  },
  {
    fault: 'failing endpoint',
    first: 'endpoints',
    severity: 'warning',
    found: /^1 endpoint failing: 1 of client 1, for 2 h\.$/,
    fix: /homeward webhooks list/,
    induce: async (undo) => {
      const receiver = undo.use(await WebhookReceiver.open());
      receiver.respond = () => ({ status: 500 });
      await homeward(['keys', 'create', '--client', 'Paws', '--plan', 'pro'], { env: store.env });
      await execute(
        `insert into webhooks (client_id, url, types, with_orders, secret, verified_at) values (1, $1, '{}', false, $2, now())`,
        [receiver.url, `whsec_${Buffer.from('secret of an endpoint').toString('base64')}`],
      );
      undo.defer(() => execute(`update webhooks set removed_at = now(), status = 'disabled'`));
      await homeward(['pets', 'add', '--name', 'Biscuit', '--category', '1'], { env: store.env });
      await until('select exists (select from webhooks where failing_since is not null) as done');
      // What only time would do.
      await execute(`update webhooks set failing_since = failing_since - interval '2 hours'`);
      return undefined;
    },
  },
  {
    fault: 'database down',
    first: 'postgres',
    severity: 'broken',
    found: /^PostgreSQL at 127\.0\.0\.1:\d+, database "postgres": nothing is listening there\.$/,
    fix: /is PostgreSQL running\?/,
    induce: async (undo) => {
      await store.postgres.signal('SIGINT');
      undo.defer(() => store.postgres.start());
      return undefined;
    },
  },
];

test('a healthy store has no finding above ok, and the exit status is 0', async () => {
  expect(alarms(await store.doctor())).toEqual({ exitStatus: 0, status: 'ok', alarms: [] });
});

test('a serve of this store on its port is no fault', async () => {
  const ports = { PORT: String(await freePort()), HOMEWARD_METRICS_PORT: String(await freePort()) };
  await using _serving = await startServing({ env: { ...store.env, ...ports } });
  const report = await store.doctor(ports);
  expect(alarms(report)).toEqual({ exitStatus: 0, status: 'ok', alarms: [] });
  expect(report.findings.filter(({ check }) => check === 'port').map(({ found }) => found)).toEqual([
    expect.stringMatching(/^Homeward responds on 127\.0\.0\.1:\d+: it is \w+\.$/),
    expect.stringMatching(/^Homeward responds on 127\.0\.0\.1:\d+: it serves metrics\.$/),
  ]);
});

test('a console that runs is well, one for this machine alone is worth knowing, and a store may have none', async () => {
  const port = String(await freePort());
  const url = { HOMEWARD_CONSOLE_URL: 'https://console.example.org' };
  await using undo = new AsyncDisposableStack();
  undo.use(await startConsole({ env: { ...store.env, ...url, HOMEWARD_CONSOLE_PORT: port } }));
  const consoleOf = async (env: Record<string, string>) => {
    const { findings } = await store.doctor({ HOMEWARD_CONSOLE_PORT: port, ...env });
    return findings.find(({ check }) => check === 'console');
  };
  expect(await consoleOf(url)).toMatchObject({
    severity: 'ok',
    found: `Homeward responds on 127.0.0.1:${port}: it is ready. HOMEWARD_CONSOLE_URL is https://console.example.org, which is looked at only with --url.`,
  });
  expect(await consoleOf({})).toMatchObject({
    severity: 'note',
    found: `Homeward responds on 127.0.0.1:${port}: it is ready. It is a console for this machine alone: HOMEWARD_CONSOLE_URL is not set.`,
  });
  expect(await consoleOf({ HOMEWARD_CONSOLE_PORT: String(await freePort()) })).toMatchObject({
    severity: 'ok',
    found: 'There is no console here: HOMEWARD_CONSOLE_URL is not set.',
  });
});

test('a provider that names itself as the issuer is well', async () => {
  await using provider = await openIdentityProvider();
  provider.serve('https://console.example.org');
  const { findings } = await store.doctor(signInWith(provider.issuer));
  expect(findings.find(({ check }) => check === 'provider')).toMatchObject({
    severity: 'ok',
    found: `The provider ${provider.issuer} responds, as the issuer ${provider.issuer}.`,
  });
});

test.each(faults)('$fault is named first, with its fix, and nothing else is alarming', async ({ first, severity, found, fix, induce }) => {
  await using undo = new AsyncDisposableStack();
  const { env, ...options } = (await induce(undo)) ?? {};
  const report = await store.doctor(env, options);
  expect(report.findings[0]).toEqual({
    check: first,
    severity,
    found: expect.stringMatching(found),
    fix: expect.stringMatching(fix),
  });
  expect(alarms(report)).toEqual({
    exitStatus: severity === 'broken' ? 1 : 3,
    status: severity,
    alarms: [expect.stringMatching(`^${first}: `)],
  });
  expect(JSON.stringify(report)).not.toContain('sesame');
});

test('after all of them the store is well again', async () => {
  // The connection of the owner ended with the server.
  await vi.waitFor(async () => expect(alarms(await store.doctor())).toEqual({ exitStatus: 0, status: 'ok', alarms: [] }), {
    timeout: 60_000,
  });
});

test('without anything, one server is named after the other, and nothing that depends on them', async () => {
  const report = await store.doctor({ DATABASE_URL: 'postgres://127.0.0.1:1/homeward', REDIS_URL: 'redis://127.0.0.1:1' });
  expect(alarms(report)).toEqual({
    exitStatus: 1,
    status: 'broken',
    alarms: [expect.stringMatching(/^postgres: /), expect.stringMatching(/^redis: /)],
  });
  expect(report.findings.filter(({ severity }) => severity === 'skipped').length).toBeGreaterThan(10);
});

const alarms = ({ exitStatus, status, findings }: Report) => ({
  exitStatus,
  status,
  alarms: findings.filter(({ severity }) => severity !== 'ok' && severity !== 'skipped').map(({ check, found }) => `${check}: ${found}`),
});

const execute = async (text: string, values?: unknown[]) => void (await store.owner.query(text, values));

/** A query whose one row has `done`. */
async function until(text: string): Promise<void> {
  await vi.waitFor(
    async () => {
      const { rows } = await store.owner.query<{ done: boolean }>(text);
      if (!rows[0]?.done) throw new Error(`still false: ${text}`);
    },
    { timeout: 30_000, interval: 100 },
  );
}

async function connectAs(undo: AsyncDisposableStack, applicationName: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: store.postgres.url, application_name: applicationName });
  await client.connect();
  undo.defer(() => client.end());
  return client;
}

/** Bytes arrive this much later, in both directions. */
async function startSlowProxy(undo: AsyncDisposableStack, targetPort: number, delayMs: number): Promise<number> {
  const sockets = new Set<Socket>();
  const proxy = createServer((incoming) => {
    const outgoing = connect(targetPort, '127.0.0.1');
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => void sleep(delayMs).then(() => to.write(bytes)));
      from.on('error', () => {});
      from.on('close', () => to.destroy());
    }
  });
  const port = await freePort();
  await new Promise<void>((resolve) => proxy.listen(port, '127.0.0.1', resolve));
  undo.defer(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return port;
}

/** Runs doctor in a mount namespace of its own, which ends with the command, with a full disk at `folder`. */
function onFullDisk(): { folder: string; node: string } {
  const folder = path.join(store.folder, 'small-disk');
  const node = path.join(store.folder, 'on-a-full-disk');
  const inside = `mkdir -p ${folder}; mount -t tmpfs -o size=256k none ${folder} && { cat /dev/zero > ${folder}/file 2>/dev/null; exec "$@"; }`;
  const flags = process.getuid?.() === 0 ? '--mount' : '--map-root-user --mount';
  writeFileSync(node, `#!/bin/sh\nexec unshare ${flags} sh -c '${inside}' sh '${process.execPath}' "$@"\n`);
  chmodSync(node, 0o755);
  return { folder, node };
}

function fakeTimeLibrary(): string {
  const [library] = globSync('/usr/lib/*/faketime/libfaketime.so.1');
  if (!library) throw new Error('libfaketime is not installed: apt-get install faketime');
  return library;
}
