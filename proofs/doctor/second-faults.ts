// Twenty more faults, again written from the documents alone and without a look at doctor's checks. Doctor must name each first.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, mkdtemp, readFile, rename, rm, rmdir, statfs, truncate, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import path from 'node:path';
import pg from 'pg';
import { endProcess } from '../../testkit/running-processes.ts';
import { accepts, freePort, serverUser } from '../../testkit/servers.ts';
import { until } from '../../testkit/until.ts';
import type { NightStore } from './night-store.ts';
import { addAnimal, bySql, done, endSessions, ofDatabase, run, setting, type UnforeseenFault } from './unforeseen-faults.ts';

export const secondFaults: readonly UnforeseenFault[] = [
  {
    name: 'pgbouncer-in-transaction-mode',
    why: 'The pooler of the provider came with pool_mode = transaction, so what a process sets on one connection is met by others, which lose their role and their timeouts: serve takes the primary for a standby and does not start: docs/operations/database.md, PgBouncer, "Not transaction mode".',
    async induce({ serve, superuser, folder }, undo): Promise<{ env: Record<string, string> }> {
      const address = new URL(await variableOf(serve.pid, 'DATABASE_URL'));
      address.port = String(await startTransactionPooler(superuser, folder, undo));
      const env = { DATABASE_URL: address.href };
      undo.defer(() => serve.restart());
      await serve.restart(env);
      return { env };
    },
    named:
      /transaction (pool|mode)|pool_mode|pgbouncer|pooler|(set|settings?|role|timeouts?|session)\b[^.]*\b(lost|lose|not kept|forgotten|does not (stay|last))/i,
    fix: /session (mode|pool)|pool_mode\s*=\s*session|(without|past|around) the pooler|directly/i,
    // The primary is what it leads to.
    wrongAdvice: /grant\s|promot|(name|address of|lead to|point to|connect to) (the|a) primary|name all servers/i,
  },
  {
    name: 'connection-limit-of-the-login',
    why: 'A limit for one small process is still on the login, so most connections of serve, and every command, are rejected while PostgreSQL itself has hundreds free: docs/operations/database.md, Connections, "alter role homeward_api connection limit".',
    async induce({ superuser }, undo): Promise<undefined> {
      undo.defer(() => done(superuser.query('alter role homeward_api connection limit -1')));
      await superuser.query('alter role homeward_api connection limit 3');
      await superuser.query(endSessions);
      await until('the login has all that it may have', async () => {
        const { rows } = await superuser.query<{ count: string }>("select count(*) from pg_stat_activity where usename = 'homeward_api'");
        return Number(rows[0]?.count) >= 3;
      });
    },
    named:
      /connection limit|rolconnlimit|(?=[\s\S]*\b(limit|too many|at most|may (open|have)))(?=[\s\S]*(connection|session))(?=[\s\S]*\b(role|login|user|homeward_api)\b)/i,
    fix: /connection limit/i,
    // PostgreSQL has room. A larger max_connections needs a restart and changes nothing.
    wrongAdvice: /(raise|increase|set) (PostgreSQL's )?max_connections/i,
  },
  {
    name: 'pg-hba-without-the-store',
    why: 'A playbook wrote pg_hba.conf again without the line of the store, so what is connected goes on until it breaks and nothing connects again: docs/operations/runbooks.md, HomewardPostgresDown; docs/deploy.md, A standby that takes over.',
    async induce({ superuser, serve }, undo): Promise<undefined> {
      const { rows } = await superuser.query<{ file: string }>("select current_setting('hba_file') as file");
      const file = rows[0]?.file ?? '';
      const before = await readFile(file, 'utf8');
      const url = await variableOf(serve.pid, 'DATABASE_URL');
      undo.defer(async () => {
        await writeFile(file, before);
        await superuser.query('select pg_reload_conf()');
        await until('the store may log in', () => canLogIn(url));
      });
      await writeFile(file, 'local all all trust\nhost all postgres 127.0.0.1/32 trust\n');
      await superuser.query('select pg_reload_conf()');
      await until('the store may not log in', async () => !(await canLogIn(url)));
      await superuser.query(endSessions);
    },
    named: /pg_hba|\bhba\b/i,
    fix: /pg_hba/i,
    wrongAdvice: /(change|reset|rotate|check) the password|start PostgreSQL|create role/i,
  },
  {
    name: 'dates-of-the-database-in-another-style',
    why: 'A DateStyle for the reports of accounting was set on the database, so the program reads no time any more, and partners get orders with an empty createdAt and expiresAt, with status 200: ARCHITECTURE.md, One source for each fact, "Shapes of requests and responses"; ADR 0017.',
    induce: bySql([ofDatabase("set datestyle = ''SQL, DMY''"), endSessions], [ofDatabase('reset datestyle'), endSessions]),
    named: /date.?style/i,
    fix: /date.?style/i,
    wrongAdvice: /\bNTP\b|clock/i,
  },
  {
    name: 'lock-timeout-of-the-login',
    why: 'A policy gives every login a lock_timeout of some milliseconds, so orders of a client that come at once are server errors, where they should wait for each other for up to two seconds: docs/bounds.md, "A statement, including its wait for a lock".',
    induce: bySql(
      ["alter role homeward_api set lock_timeout = '5ms'", endSessions],
      ['alter role homeward_api reset lock_timeout', endSessions],
    ),
    named: /lock_timeout/i,
    fix: /lock_timeout/i,
  },
  {
    name: 'replica-role-of-the-login',
    why: 'A tool that copied the store to this server left session_replication_role = replica on the login, so neither triggers nor foreign keys act for any process, without an error: searches show what was, and a category can be deleted with its animals: docs/operations/database.md, Roles in PostgreSQL; migrations 0005 to 0007.',
    induce: bySql(
      ['alter role homeward_api set session_replication_role = replica', endSessions],
      ['alter role homeward_api reset session_replication_role', endSessions],
    ),
    named: /session_replication_role/i,
    fix: /session_replication_role/i,
    // They are enabled.
    wrongAdvice: /enable trigger|homeward migrate|promot/i,
  },
  {
    name: 'outbox-that-a-crash-empties',
    why: 'Somebody made the outbox unlogged to write faster, so a crash of PostgreSQL empties it, and changes that were acknowledged never reach the feed, a stream or an endpoint: docs/reliability.md, Promised, "Every acknowledged change is in the feed"; ADR 0024.',
    induce: bySql(['alter table outbox set unlogged'], ['alter table outbox set logged']),
    named: /unlogged|not logged|relpersistence/i,
    fix: /set logged/i,
    wrongAdvice: /homeward migrate|drop table|truncate/i,
  },
  {
    name: 'publication-without-replica-identity',
    why: 'A tool for change data capture publishes the outbox, whose replica identity somebody had set to nothing, so PostgreSQL rejects every delete in it, no event is published, and streams and webhooks are silent: docs/operations/processes.md, The worker, publish-events.',
    async induce(store, undo): Promise<undefined> {
      undo.defer(async () => {
        await store.superuser.query('drop publication if exists capture');
        await store.superuser.query('alter table outbox replica identity default');
      });
      await store.superuser.query('alter table outbox replica identity nothing');
      await store.superuser.query("create publication capture for table outbox with (publish = 'insert, delete')");
      await addAnimal(store);
      // So that the consequence, a late feed, is there too.
      await store.superuser.query("update outbox set at = at - interval '2 minutes'");
    },
    named: /replica identity|publication/i,
    fix: /replica identity|publication/i,
    wrongAdvice: /delete from|truncate|drop table/i,
  },
  {
    name: 'schema-of-another-owner',
    why: 'A hardening script gave the schema public to postgres, so the functions that make the partitions of the coming days may not create a table, and in two days the feed, usage and webhooks stop; migrate fails too: docs/operations/webhooks.md, The feed of events; database.md, Roles in PostgreSQL.',
    async induce({ superuser, worker }, undo): Promise<undefined> {
      undo.defer(async () => {
        await superuser.query('alter schema public owner to pg_database_owner');
        await superuser.query('select make_event_partitions()');
        await worker.restart();
      });
      await superuser.query('alter schema public owner to postgres');
      // The last of the days that are made in advance: as if a night had passed.
      await superuser.query(`do $$ begin
        execute format('drop table %I', 'events_' || to_char((now() at time zone 'utc')::date + 2, 'YYYYMMDD'));
      end $$`);
      await worker.restart();
    },
    named: /schema[^.]*\b(own|creat|right|permi|privilege|grant)|(own|creat|right|permi|privilege|grant)[^.]*\bschema/i,
    fix: /grant[^;]*create[^;]*schema|alter schema/i,
    wrongAdvice: /\bto (homeward_app|homeward_api|public)\b/i,
  },
  {
    name: 'default-partition-of-events',
    why: 'Somebody added a default partition as a safety net. Its name is no day, so the job that makes and drops partitions fails every hour, and events are kept until the disk is full: docs/operations/processes.md, The worker, rotate-event-partitions; webhooks.md, "the worker retains 30 days".',
    async induce({ superuser, worker }, undo): Promise<undefined> {
      undo.defer(async () => {
        await superuser.query('drop table if exists events_default');
        await worker.restart();
      });
      await superuser.query('create table events_default partition of events default');
      await superuser.query('alter table events_default owner to homeward_owner');
      await worker.restart();
    },
    named: /events_default|default partition/i,
    fix: /detach|drop table/i,
    wrongAdvice: /homeward migrate/i,
  },
  {
    name: 'listings-of-another-owner',
    why: 'The table of searches was restored by a superuser and belongs to postgres. Triggers write it with the rights of homeward_owner, so every order and every change of a status is a server error: migration 0007, keep_listing_of_pet(), "security definer"; docs/operations/database.md, Roles in PostgreSQL.',
    induce: bySql(['alter table listings owner to postgres'], ['alter table listings owner to homeward_owner']),
    named: /(?=[\s\S]*listings)(?=[\s\S]*(own|belong|right|permission|privilege|may not))/i,
    fix: /owner to|grant/i,
    wrongAdvice: /homeward migrate|grant[^;]*\bto homeward_(app|api)|disable trigger/i,
  },
  {
    name: 'slot-of-a-standby-that-is-gone',
    why: 'A standby was switched off for good and its replication slot was not, so PostgreSQL keeps every segment of its log since then, until its disk is full and nothing can be written: docs/backup.md, Whether it works, "PostgreSQL keeps the segments, and its disk fills"; docs/operations/runbooks.md, HomewardPostgresDown, "its disk is full".',
    async induce({ superuser }, undo): Promise<undefined> {
      await superuser.query("select pg_create_physical_replication_slot('standby_of_last_year', true)");
      undo.defer(async () => {
        await superuser.query("select pg_drop_replication_slot('standby_of_last_year')");
        await superuser.query('checkpoint');
      });
      for (let segment = 0; segment < 4; segment += 1) {
        await superuser.query("select pg_logical_emit_message(true, 'night', 'a segment without content is not switched')");
        await superuser.query('select pg_switch_wal()');
      }
      await superuser.query('checkpoint');
    },
    named: /slot/i,
    fix: /pg_drop_replication_slot|max_slot_wal_keep_size|drop the slot|(bring|start|connect)[^.]*standby/i,
    wrongAdvice: /(delete|remove|rm)\b[^.]*pg_wal|pg_archivecleanup|pg_resetwal/i,
  },
  {
    name: 'disk-of-a-tablespace-not-mounted',
    why: 'Profiles were moved to a disk of their own, which is not mounted after a reboot, so PostgreSQL runs and every search and every profile is a server error: docs/operations/runbooks.md, HomewardErrors; docs/reliability.md, Promised, "A write that got a success is there".',
    async induce({ superuser }, undo): Promise<undefined> {
      const user = serverUser();
      const { rows } = await superuser.query<{ data: string }>("select current_setting('data_directory') as data");
      // Beside the data, where PostgreSQL's own user may look into every folder above.
      const disk = await mkdtemp(path.join(path.dirname(rows[0]?.data ?? ''), 'disk-'));
      if (user) await chown(disk, user.uid, user.gid);
      undo.defer(() => rm(disk, { recursive: true, force: true }));
      await superuser.query(`create tablespace second_disk location '${disk}'`);
      undo.defer(() => done(superuser.query('drop tablespace second_disk')));
      undo.defer(async () => {
        await superuser.query('alter table profiles set tablespace pg_default');
        // What was deleted there is only then gone.
        await superuser.query('checkpoint');
      });
      await superuser.query('alter table profiles set tablespace second_disk');
      await superuser.query('checkpoint');
      undo.defer(() => rename(`${disk}-away`, disk));
      await rename(disk, `${disk}-away`);
      await superuser.query(endSessions);
    },
    named: /tablespace|pg_tblspc|second_disk|could not open file|no such file/i,
    fix: /mount|tablespace|restore/i,
    wrongAdvice: /drop (tablespace|table)|truncate|zero_damaged_pages|homeward migrate/i,
  },
  {
    name: 'change-of-a-table-never-committed',
    why: 'Somebody began to alter orders in psql, was called away and has not committed, so every read and every write of an order waits and is 503: docs/operations/runbooks.md, HomewardPoolFull, "end the session that blocks"; database.md, Migrating.',
    async induce({ superuser }, undo): Promise<undefined> {
      const { host, port, database } = superuser;
      const session = new pg.Client({ host, port, user: 'postgres', ...(database && { database }), application_name: 'psql' });
      session.on('error', () => {});
      await session.connect();
      undo.defer(() => session.end());
      await session.query('begin');
      await session.query('alter table orders add column note text');
    },
    named: /\block|block|idle in transaction|open transaction|psql/i,
    fix: /pg_terminate_backend|commit|roll.?back|end (it|the|that)/i,
    wrongAdvice: /HOMEWARD_POOL_SIZE|max_connections|restart PostgreSQL|homeward migrate/i,
  },
  {
    name: 'redis-has-no-room-for-clients',
    why: 'A program leaks connections to the shared Redis, whose maxclients is used up, so no process of the store gets in again, each counts limits alone, and every change takes a second longer: docs/operations/redis.md, "When it is lost"; ADR 0010.',
    async induce({ redis }, undo): Promise<undefined> {
      const before = await setting(redis, 'maxclients');
      undo.defer(() => done(redis.call('CONFIG', 'SET', 'maxclients', before)));
      // The session of the fault stands for the program that leaks.
      await redis.call('CONFIG', 'SET', 'maxclients', '1');
      await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    },
    named: /maxclients|max(imum)? number of clients|too many (clients|connections)|no room for[^.]*(client|connection)/i,
    fix: /maxclients|client list|close|leak/i,
    wrongAdvice: /flush(all|db)|max_connections|maxmemory/i,
  },
  {
    name: 'redis-runs-a-script-without-end',
    why: 'Somebody runs a script in the shared Redis that never ends, so it replies BUSY to everyone, limits are counted by each process, bans are not shared, and every change takes a second longer: docs/operations/redis.md, Latency, "without slow commands".',
    async induce({ redis }, undo): Promise<undefined> {
      const other = redis.duplicate();
      other.on('error', () => {});
      undo.defer(() => other.disconnect());
      undo.defer(() => done(redis.call('SCRIPT', 'KILL')));
      other.call('EVAL', 'while true do end', '0').catch(() => {});
      await until('Redis is busy', () =>
        redis.call('PING').then(
          () => false,
          (error: Error) => error.message.startsWith('BUSY'),
        ),
      );
    },
    named: /\bBUSY\b|script/i,
    fix: /script kill|(end|kill|stop)[^.]*script|restart/i,
    wrongAdvice: /flush(all|db)|maxmemory|\bACL\b/i,
  },
  {
    name: 'folder-of-pictures-read-only',
    why: 'The disk of the pictures was remounted read-only after an error, and only that of the originals can be written, so photos are accepted and never become ready: docs/operations/photos.md; docs/guides/photos.md, Add a photo, "Seconds later it is ready or failed".',
    async induce({ photosFolder }, undo): Promise<undefined> {
      const pictures = path.join(photosFolder, 'photos');
      const created = await mkdir(pictures, { recursive: true });
      if (created) undo.defer(() => rmdir(created).catch(() => {}));
      await run('mount', ['--bind', pictures, pictures]);
      undo.defer(() => done(run('umount', ['--lazy', pictures])));
      await run('mount', ['-o', 'remount,bind,ro', pictures]);
    },
    named: /(?=[\s\S]*(photo|picture))(?=[\s\S]*(read.?only|EROFS|(not|n't|cannot|nothing)[^.]*\b(writ|creat|stor)))/i,
    fix: /mount|read.?only|writable|\brw\b/i,
    wrongAdvice: /chmod 777|delete from photos|make room|enlarge/i,
  },
  {
    name: 'disk-of-photos-without-inodes',
    why: 'The disk of photos has gigabytes free and no inode, so every upload is rejected as if it were full and no picture can be stored, while the figure of free space is good: docs/operations/photos.md, "A full disk"; runbooks.md, HomewardPhotoStorageFull.',
    async induce({ photosFolder }, undo): Promise<undefined> {
      const { files, ffree } = await statfs(photosFolder);
      undo.defer(() => done(run('mount', ['-o', `remount,nr_inodes=${files}`, photosFolder])));
      await run('mount', ['-o', `remount,nr_inodes=${files - ffree}`, photosFolder]);
    },
    named: /inode/i,
    fix: /inode|fewer files|(delete|remove|move)[^.]*files|another (disk|file system|volume)/i,
    wrongAdvice: /delete from photos/i,
  },
  {
    name: 'journal-rotated-away',
    why: 'logrotate has emptied the journal as if it were a log, so after a restore or a failover the keys that were revoked before work again: docs/operations/journal.md, "at least as long as the oldest backup"; failover.md, A failover, "What was revoked stays revoked".',
    async induce(store, undo): Promise<undefined> {
      const journal = await variableOf(store.worker.pid, 'HOMEWARD_JOURNAL');
      const { id } = JSON.parse(await store.homeward('keys', 'create', '--client', 'Night Partner', '--plan', 'free', '--json'));
      await store.homeward('keys', 'revoke', String(id), '--json');
      const lines = await readFile(journal);
      undo.defer(async () => {
        await rm(`${journal}.1`, { force: true });
        await writeFile(journal, lines);
      });
      // With its option copytruncate, so that the file keeps its owner and its mode.
      await writeFile(`${journal}.1`, lines);
      await truncate(journal);
    },
    named:
      /(?=[\s\S]*journal)(?=[\s\S]*(lack|miss|empty|rotat|truncat|shorter|no lines?\b|without|not? (in|has|have|contain|there)|n't (have|contain)))/i,
    fix: /rotat|append|restore|put (it|them) back|\bcat\b|cop(y|ies)/i,
    wrongAdvice: /--no-journal|HOMEWARD_JOURNAL=(''|""|\s|$)/i,
  },
  {
    name: 'socket-of-images-that-nobody-serves',
    why: 'Something holds the socket of images that accepts connections and never replies, as a socket unit of systemd whose service does not start, so photos stay in processing for ever: docs/operations/photos.md, Images, "If it does not run, photos wait"; docs/guides/photos.md, "Seconds later it is ready or failed".',
    async induce({ worker }, undo): Promise<undefined> {
      const socket = await variableOf(worker.pid, 'HOMEWARD_IMAGES_SOCKET');
      await rename(socket, `${socket}.away`);
      undo.defer(() => rename(`${socket}.away`, socket));
      const connections = new Set<Socket>();
      const server = createServer((connection) => void connections.add(connection.on('error', () => {})));
      server.listen(socket);
      await once(server, 'listening');
      undo.defer(async () => {
        const closed = once(server, 'close');
        server.close();
        for (const connection of connections) connection.destroy();
        await closed;
      });
    },
    named: /(?=[\s\S]*(images|socket))(?=[\s\S]*(repl|respon|silen|hang|stuck|timed? ?out|within \d))/i,
    fix: /homeward[ -]images|socket|restart/i,
    wrongAdvice: /(unset|without|remove) HOMEWARD_IMAGES_SOCKET/i,
  },
];

/** A variable that a process was started with. */
async function variableOf(pid: number, name: string): Promise<string> {
  const variables = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0');
  const value = variables.find((variable) => variable.startsWith(`${name}=`))?.slice(name.length + 1);
  if (!value) throw new Error(`process ${pid} was started without ${name}`);
  return value;
}

async function canLogIn(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  return client.connect().then(
    () => client.end().then(() => true),
    () => false,
  );
}

/** Returns the port of a PgBouncer in front of the store's PostgreSQL. It does not run as root. */
async function startTransactionPooler(superuser: NightStore['superuser'], folder: string, undo: AsyncDisposableStack): Promise<number> {
  const user = serverUser();
  const home = await mkdtemp(path.join(path.dirname(folder), 'homeward-pooler-'));
  undo.defer(() => rm(home, { recursive: true }));
  const port = await freePort();
  const users = path.join(home, 'users.txt');
  const config = path.join(home, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `* = host=127.0.0.1 port=${superuser.port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = trust',
    `auth_file = ${users}`,
    'pool_mode = transaction',
    'default_pool_size = 20',
    'max_client_conn = 200',
  ];
  await writeFile(users, '"homeward_api" ""\n');
  await writeFile(config, `${lines.join('\n')}\n`);
  if (user) await chown(home, user.uid, user.gid);
  const pooler = spawn('/usr/sbin/pgbouncer', ['-q', config], { stdio: 'ignore', cwd: home, ...user });
  undo.defer(() => endProcess(pooler));
  await until('PgBouncer listens', () => accepts(port));
  return port;
}
