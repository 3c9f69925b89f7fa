// Twenty faults that were written from the documents alone, by someone who has not seen doctor's checks. Doctor must name each first.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chown, mkdir, readFile, rm, rmdir, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { until } from '../../testkit/until.ts';
import type { NightStore } from './night-store.ts';

export interface UnforeseenFault {
  readonly name: string;
  /** What users notice, and the document by which it must not be so. */
  readonly why: string;
  /** Makes the fault. Returns what changes in the environment that doctor is run with. */
  induce(store: NightStore, undo: AsyncDisposableStack): Promise<{ readonly env?: Record<string, string> } | undefined>;
  /** What the first finding must name in `found`. */
  readonly named: RegExp;
  /** What its advice must contain. */
  readonly fix: RegExp;
  /** Advice that does harm here, or sends the operator away from the cause. */
  readonly wrongAdvice?: RegExp;
}

// Settings of a role or a database apply to new sessions, and by three in the morning every session is new.
export const endSessions = "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'homeward_api'";

export const unforeseenFaults: readonly UnforeseenFault[] = [
  {
    name: 'redis-user-without-scripts',
    why: 'A hardened ACL denies EVAL while PING, ROLE and SET work, so each process counts limits alone and a client gets its limit from each: docs/operations/redis.md; ADR 0008, "One call decides".',
    async induce({ redis }, undo): Promise<undefined> {
      undo.defer(() => done(redis.call('ACL', 'SETUSER', 'default', '+@all')));
      await redis.call('ACL', 'SETUSER', 'default', '-@scripting');
    },
    named: /\beval|script|NOPERM|\bACL\b/i,
    fix: /\bACL\b|\+eval|\+@|permit|allow|grant/i,
    wrongAdvice: /flush(all|db)/i,
  },
  {
    name: 'redis-writes-paused',
    why: 'A failover script left CLIENT PAUSE WRITE behind, so Redis replies to PING and to no write, limits are counted by each process and every change takes a second longer: docs/operations/redis.md, "Only a primary is used".',
    async induce({ redis }, undo): Promise<undefined> {
      undo.defer(() => done(redis.call('CLIENT', 'UNPAUSE')));
      await redis.call('CLIENT', 'PAUSE', '3600000', 'WRITE');
    },
    named: /paus|(not|no|never)\b[^.]*\bwrit|\bwrit[^.]*(\bnot?\b|n't|never|wait|hang|block|reject)/i,
    fix: /unpause|client pause|restart/i,
  },
  {
    name: 'redis-stopped-writing-after-a-failed-snapshot',
    why: 'Snapshots are on, as in the redis.conf of distributions, and the last one failed, so Redis rejects every write with MISCONF and limits and bans are not shared: docs/operations/redis.md, "switch off snapshots".',
    async induce({ redis }, undo): Promise<undefined> {
      const file = path.join(await setting(redis, 'dir'), await setting(redis, 'dbfilename'));
      // A snapshot is renamed to this name, which fails for root too.
      await mkdir(file);
      undo.defer(async () => {
        await redis.call('CONFIG', 'SET', 'save', '');
        await rmdir(file);
        await snapshot(redis, 'ok');
        await rm(file);
      });
      await redis.call('CONFIG', 'SET', 'save', '3600 1 300 100 60 10000');
      await snapshot(redis, 'err');
    },
    // That snapshots are on is not enough.
    named: /MISCONF|stop-writes|bgsave|(?=[\s\S]*(snapshot|writ))(?=[\s\S]*(fail|reject|refus|not accept|den(y|ie)))/i,
    fix: /\bsave\b|snapshot|disk|stop-writes/i,
  },
  {
    name: 'database-read-only-by-default',
    why: 'Some providers, and maintenance by hand, set default_transaction_read_only, so that the primary looks like a standby and every request is 503: docs/operations/failover.md, A failover, "Only a primary is used".',
    induce: bySql(
      [ofDatabase('set default_transaction_read_only = on'), endSessions],
      [ofDatabase('reset default_transaction_read_only'), endSessions],
    ),
    named: /read.?only/i,
    fix: /default_transaction_read_only|alter (database|role)/i,
    wrongAdvice: /promot|(name|address of|lead to|point to|connect to) (the|a) primary/i,
  },
  {
    name: 'search-path-of-the-login',
    why: 'A search_path for reports was set on the login, so no process finds a table and every request is 503, while migrate finds nothing to do: docs/operations/database.md, Roles in PostgreSQL; migration 0001, which grants the schema that is current.',
    induce: bySql(
      ['create schema reports', 'alter role homeward_api set search_path = reports', endSessions],
      ['alter role homeward_api reset search_path', 'drop schema if exists reports', endSessions],
    ),
    named: /search_path|schema/i,
    fix: /search_path/i,
    wrongAdvice: /homeward migrate|restore/i,
  },
  {
    name: 'serializable-by-default',
    why: 'Transactions are not READ COMMITTED any more and none is retried, so orders that race are server errors in place of 409: ADR 0015, "All transactions are READ COMMITTED".',
    induce: bySql(
      [ofDatabase('set default_transaction_isolation = serializable'), endSessions],
      [ofDatabase('reset default_transaction_isolation'), endSessions],
    ),
    named: /isolation|serializable/i,
    fix: /default_transaction_isolation|read committed/i,
  },
  {
    name: 'no-unique-index-of-open-orders',
    why: 'The index was dropped to be built again, and now only the code keeps an animal from being promised twice: migration 0008, "The promise in one line"; ADR 0015.',
    induce: bySql(
      ['drop index orders_one_open_per_pet'],
      ["create unique index if not exists orders_one_open_per_pet on orders (pet_id) where status in ('placed', 'approved')"],
    ),
    named: /orders_one_open_per_pet|unique index/i,
    fix: /create unique index|reindex/i,
    // The migration that creates it counts as applied.
    wrongAdvice: /homeward migrate/i,
  },
  {
    name: 'triggers-of-animals-disabled',
    why: 'A bulk import left the triggers of pets disabled, so searches show sold animals as available, moved ones keep their orders elsewhere, and removed ones keep their photos: docs/flows.md, Searching for animals; migrations 0004 to 0007.',
    induce: bySql(['alter table pets disable trigger user'], ['alter table pets enable trigger user']),
    named: /trigger/i,
    fix: /enable trigger/i,
    wrongAdvice: /homeward migrate/i,
  },
  {
    name: 'row-security-on-keys',
    why: 'A linter of the provider asked for row level security, and without a policy homeward_app sees no row, without an error, so that the keys of all partners are 401: docs/operations/database.md, Roles in PostgreSQL.',
    induce: bySql(['alter table api_keys enable row level security'], ['alter table api_keys disable row level security']),
    named: /row.?(level.)?security|\bRLS\b/i,
    fix: /disable row level security|create policy/i,
    wrongAdvice: /keys create|bypassrls|\bsuperuser/i,
  },
  {
    name: 'history-can-not-be-appended-to',
    why: 'Somebody who made the history read-only revoked insert too, so every order and every new animal is a server error: migration 0010; ADR 0019, "may insert and select, not update or delete".',
    induce: bySql(['revoke insert on history from homeward_app'], ['grant insert on history to homeward_app']),
    named: /history[\s\S]*(insert|append|add|writ)|(insert|append|add|writ)[\s\S]*history/i,
    fix: /grant[^;]*insert[^;]*history/i,
    wrongAdvice: /grant\s+(all|[^;]*\b(update|delete|truncate)\b)|superuser/i,
  },
  {
    name: 'sequence-behind-its-ids',
    why: 'Rows were loaded by hand without the sequence, so every new animal meets an id that exists and POST /v1/pets is a server error: migration 0004, "generated always as identity"; docs/flows.md, Adding an animal.',
    async induce(store, undo): Promise<undefined> {
      await addAnimal(store);
      undo.defer(() => done(store.superuser.query("select setval(pg_get_serial_sequence('pets', 'id'), max(id)) from pets")));
      await store.superuser.query("select setval(pg_get_serial_sequence('pets', 'id'), min(id), false) from pets");
    },
    named: /sequence|pets_id_seq/i,
    fix: /setval|restart with/i,
    wrongAdvice: /delete from|truncate/i,
  },
  {
    name: 'partition-of-today-detached',
    why: 'The table with the events of today was detached and still has its name, so the worker neither finds nor creates a partition, and the feed, streams and webhooks stop: docs/operations/webhooks.md, The feed of events.',
    async induce(store, undo): Promise<undefined> {
      const day = new Date().toISOString().slice(0, 10);
      const partition = `events_${day.replaceAll('-', '')}`;
      const start = `timestamptz '${day} 00:00:00Z'`;
      await store.superuser.query(`alter table events detach partition ${partition}`);
      undo.defer(async () => {
        const bounds = `from (${start}) to (${start} + interval '24 hours')`;
        await store.superuser.query(`alter table events attach partition ${partition} for values ${bounds}`);
      });
      await addAnimal(store);
      // So that the consequence, a late feed, is there too.
      await store.superuser.query("update outbox set at = at - interval '2 minutes'");
    },
    named: /partition|events_\d{8}/i,
    fix: /attach/i,
    wrongAdvice: /drop table|drop_event_partitions/i,
  },
  {
    name: 'extension-in-another-schema',
    why: 'A linter asked for extensions outside of public, so writing a profile with a breed is a server error, since its trigger finds no unaccent(): docs/operations/processes.md, the extensions that are needed; migration 0007, which pins the search_path.',
    induce: bySql(
      ['create schema extensions', 'alter extension unaccent set schema extensions'],
      ['alter extension unaccent set schema public', 'drop schema if exists extensions'],
    ),
    named: /unaccent/i,
    fix: /set schema|search_path/i,
    // It exists, so migrate does nothing; dropping it drops the dictionary of searches.
    wrongAdvice: /drop extension|homeward migrate/i,
  },
  {
    name: 'audit-trigger-of-somebody-else',
    why: 'A trigger that no migration has made writes orders to a schema that homeward_app may not use, so every order is a server error: ARCHITECTURE.md, One source for each fact, "Tables, constraints, privileges"; docs/operations/database.md, Roles in PostgreSQL.',
    induce: bySql(
      [
        'create schema audit',
        'create table audit.changes (at timestamptz not null default now(), changed jsonb not null)',
        `create function audit.note_change() returns trigger language plpgsql as $$
          begin insert into audit.changes (changed) values (to_jsonb(new)); return null; end $$`,
        'create trigger audit_changes after insert or update on orders for each row execute function audit.note_change()',
      ],
      ['drop schema if exists audit cascade'],
    ),
    named: /audit|trigger/i,
    fix: /(drop|disable) trigger|grant|security definer/i,
    wrongAdvice: /\bsuperuser|grant all/i,
  },
  {
    name: 'archiving-fails',
    why: 'The disk of the backups is not mounted, so a lost disk costs everything since then, and the disk of PostgreSQL fills until nothing can be written: docs/backup.md, Whether it works.',
    async induce({ superuser }, undo): Promise<undefined> {
      const { rows } = await superuser.query<{ before: string }>("select current_setting('archive_command') as before");
      undo.defer(async () => {
        await setArchiveCommand(superuser, rows[0]?.before ?? '');
        await superuser.query("select pg_stat_reset_shared('archiver')");
      });
      await setArchiveCommand(superuser, 'cp %p /backup-that-is-not-mounted/wal/%f');
      await superuser.query("select pg_logical_emit_message(true, 'night', 'a segment without content is not switched')");
      await superuser.query('select pg_switch_wal()');
      await until('archiving has failed', async () => {
        const archiver = await superuser.query<{ has_failed: boolean }>('select failed_count > 0 as has_failed from pg_stat_archiver');
        return archiver.rows[0]?.has_failed === true;
      });
    },
    named: /archiv/i,
    fix: /archive_command|archiv/i,
    wrongAdvice: /archive_mode\s*=?\s*'?off|(delete|remove|rm)\b[^.]*pg_wal|pg_archivecleanup|pg_resetwal/i,
  },
  {
    name: 'staging-processes-on-the-production-store',
    why: 'A deployment with HOMEWARD_ENVIRONMENT=staging got the address of production, so the keys of all partners are 401 and new keys are of the wrong kind: docs/operations/settings.md, "two deployments with a database each".',
    async induce(store, undo): Promise<{ env: Record<string, string> }> {
      await addClient(store);
      const env = { HOMEWARD_ENVIRONMENT: 'staging' };
      undo.defer(async () => {
        await store.serve.restart();
        await store.worker.restart();
      });
      await store.serve.restart(env);
      await store.worker.restart(env);
      return { env };
    },
    named: /staging|HOMEWARD_ENVIRONMENT|hw_live/i,
    fix: /HOMEWARD_ENVIRONMENT|DATABASE_URL|database of its own|own database/i,
    wrongAdvice: /keys (create|rotate|revoke)/i,
  },
  {
    name: 'photos-volume-not-mounted',
    why: 'After a reboot an empty folder is where the disk of photos was, which can be written, so every picture on the sites of partners is 404: docs/operations/photos.md, "The mark".',
    async induce(store, undo): Promise<undefined> {
      await addReadyPhoto(store, undo);
      const { uid, gid } = await stat(store.photosFolder);
      // Its size is only a bound: there must be more room than photos leave free.
      await run('mount', ['-t', 'tmpfs', '-o', 'size=8g,mode=0755', 'tmpfs', store.photosFolder]);
      undo.defer(() => done(run('umount', ['--lazy', store.photosFolder])));
      await chown(store.photosFolder, uid, gid);
    },
    named: /(?=[\s\S]*(photo|picture))(?=[\s\S]*(missing|lack|empty|mount|gone|no files?\b|not? (there|exist|be found|found|such)))/i,
    fix: /mount|restore|backup/i,
    wrongAdvice: /delete from photos|remove (the|these|those) photos/i,
  },
  {
    name: 'frozen-serve',
    why: 'A stopped process still holds its port, so connections are accepted and no request gets a response: docs/operations/runbooks.md, HomewardApiDown; processes.md, "Liveness".',
    async induce({ serve }, undo): Promise<undefined> {
      const { pid } = serve;
      undo.defer(() => void process.kill(pid, 'SIGCONT'));
      process.kill(pid, 'SIGSTOP');
    },
    named: /(not|no|never|n't)\b[^.]*\b(respon|repl)|frozen|stopped|suspended|hang|stuck|timed? ?out/i,
    fix: /SIGCONT|kill|restart|resume|end (it|the process)|start it again/i,
    wrongAdvice: /(another|a different|a free|an unused) port|set PORT/i,
  },
  {
    name: 'serve-without-file-descriptors',
    why: 'The process was started without the limit of the unit and has used up its descriptors, so each new connection is closed at once and none to PostgreSQL can be replaced: deploy/systemd/homeward-api@.service, LimitNOFILE; docs/security.md, "The program limits requests, … not connections".',
    async induce({ serve }, undo): Promise<undefined> {
      const { pid } = serve;
      const limits = await readFile(`/proc/${pid}/limits`, 'utf8');
      const before = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
      if (!before) throw new Error(`process ${pid} has no limit of open files`);
      undo.defer(() => done(run('prlimit', ['--pid', String(pid), `--nofile=${before}:`])));
      // The lowest descriptors are never free: as if 1,024 were allowed and 1,024 callers connected.
      await run('prlimit', ['--pid', String(pid), '--nofile=8:']);
    },
    named: /descriptor|open files|EMFILE|nofile/i,
    fix: /nofile|ulimit|descriptor|open files/i,
    wrongAdvice: /(another|a different|a free|an unused) port|set PORT/i,
  },
  {
    name: 'journal-that-keeps-nothing',
    why: 'Somebody silenced an error of the journal with a link to /dev/null, so after a restore revoked keys work again, or revocations fail because it can not be flushed: docs/operations/journal.md, "If a line can\'t be written, the change is not made".',
    async induce({ folder, worker }, undo): Promise<{ env: Record<string, string> }> {
      const journal = path.join(folder, 'night-journal.log');
      // A link in the store's folder: the spare file, which is made beside the journal, must not be in /dev.
      await symlink('/dev/null', journal);
      undo.defer(async () => {
        await rm(journal, { force: true });
        await rm(`${journal}.spare`, { force: true });
      });
      const env = { HOMEWARD_JOURNAL: journal };
      undo.defer(() => worker.restart());
      await worker.restart(env);
      return { env };
    },
    named:
      /(?=[\s\S]*journal)(?=[\s\S]*(\/dev\/null|device|(not|no)\b[^.]*\bfile|discard|keeps? nothing|nothing is (kept|stored|written)))/i,
    fix: /HOMEWARD_JOURNAL|\bfile\b/i,
  },
];

/** One statement at a time, as some may not be in a transaction. The cure also works if only a part of the fault was made. */
export function bySql(fault: readonly string[], cure: readonly string[]): UnforeseenFault['induce'] {
  return async ({ superuser }, undo): Promise<undefined> => {
    undo.defer(async () => {
      for (const statement of cure) await superuser.query(statement);
    });
    for (const statement of fault) await superuser.query(statement);
  };
}

export function ofDatabase(change: string): string {
  return `do $$ begin execute format('alter database %I ${change}', current_database()); end $$`;
}

export const run = promisify(execFile);

/** What `defer` takes has no result. */
export const done = async (work: Promise<unknown>): Promise<void> => void (await work);

export async function setting(redis: NightStore['redis'], name: string): Promise<string> {
  const [, value] = (await redis.call('CONFIG', 'GET', name)) as [string, string];
  return value;
}

async function snapshot(redis: NightStore['redis'], outcome: 'ok' | 'err'): Promise<void> {
  await until('no other snapshot is written', async () => (await redis.info('persistence')).includes('rdb_bgsave_in_progress:0'));
  await redis.call('BGSAVE');
  await until(`a snapshot ended with ${outcome}`, async () => {
    const facts = await redis.info('persistence');
    return facts.includes('rdb_bgsave_in_progress:0') && facts.includes(`rdb_last_bgsave_status:${outcome}`);
  });
}

async function setArchiveCommand(superuser: NightStore['superuser'], command: string): Promise<void> {
  await superuser.query(`alter system set archive_command = ${superuser.escapeLiteral(command)}`);
  await superuser.query('select pg_reload_conf()');
}

export async function addAnimal(store: NightStore): Promise<number> {
  return JSON.parse(await store.homeward('pets', 'add', '--name', 'Pretzel', '--category', 'Dogs', '--json')).id;
}

async function addClient(store: NightStore): Promise<number> {
  return JSON.parse(await store.homeward('keys', 'create', '--client', 'Night Shelter', '--plan', 'free', '--json')).clientId;
}

async function addReadyPhoto(store: NightStore, undo: AsyncDisposableStack): Promise<void> {
  const picture = Buffer.from('a picture of an animal');
  const hash = createHash('sha256').update(picture).digest('hex');
  const folder = path.join(store.photosFolder, 'photos', hash.slice(0, 2), hash.slice(2, 4));
  const file = path.join(folder, `${hash}.webp`);
  const created = (await mkdir(folder, { recursive: true })) ?? file;
  undo.defer(() => rm(created, { recursive: true, force: true }));
  await writeFile(file, picture);
  const files = JSON.stringify([{ width: 320, height: 240, hash }]);
  const { rows } = await store.superuser.query<{ id: string }>(
    `insert into photos (pet_id, client_id, position, status, original_hash, original_name, width, height, placeholder, files,
        pictures_bytes)
      values ($1, $2, 0, 'ready', $3, 'night', 320, 240, '3OcRJYB4d3h/iIeHeEh3eIhw+j2w', $4, $5) returning id`,
    [await addAnimal(store), await addClient(store), hash, files, picture.length],
  );
  undo.defer(() => done(store.superuser.query('delete from photos where id = $1', [rows[0]?.id])));
}
