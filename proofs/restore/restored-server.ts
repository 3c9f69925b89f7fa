// A PostgreSQL server whose disk is lost and restored from a backup, with the tools and the scripts that docs/backup.md tells operators to use.
import { execFile } from 'node:child_process';
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { connectTo } from '../../testkit/postgres.ts';
import { MissingServer, type PrivateServer, serverUser, startPostgres } from '../../testkit/servers.ts';
import { until } from '../../testkit/until.ts';

export type Tool = 'base backup' | 'pgBackRest';

const scripts = fileURLToPath(new URL('../../deploy/backup', import.meta.url));
const commandTimeoutMs = 300_000;
const endTriesMax = 500;
const logLinesShown = 8;

export class RestorableServer implements AsyncDisposable {
  readonly postgres: PrivateServer;
  readonly #folder: string;
  readonly #tool: Tool;

  private constructor(postgres: PrivateServer, folder: string, tool: Tool) {
    this.postgres = postgres;
    this.#folder = folder;
    this.#tool = tool;
  }

  static async open(tool: Tool, archiveTimeoutSeconds: number): Promise<RestorableServer> {
    if (tool === 'pgBackRest' && !existsSync('/usr/bin/pgbackrest'))
      throw new MissingServer('pgBackRest is not installed: apt-get install pgbackrest');
    const folder = mkdtempSync(path.join(tmpdir(), 'homeward-restore-'));
    chmodSync(folder, 0o755);
    // PostgreSQL runs the scripts as its own user, who may not be able to read this checkout.
    cpSync(scripts, path.join(folder, 'scripts'), { recursive: true });
    const user = serverUser();
    for (const part of ['backups', 'backups/wal', 'repo', 'log', 'lock', 'socket', 'server']) {
      mkdirSync(path.join(folder, part), { mode: 0o700 });
      if (user) chownSync(path.join(folder, part), user.uid, user.gid);
    }
    const archive: Record<Tool, string> = {
      'base backup': `${folder}/scripts/archive-wal.sh ${folder}/backups/wal %p %f`,
      pgBackRest: `pgbackrest --config=${folder}/pgbackrest.conf --stanza=homeward archive-push %p`,
    };
    const settings = {
      archive_mode: 'on',
      archive_timeout: `${archiveTimeoutSeconds}s`,
      archive_command: archive[tool],
      unix_socket_directories: path.join(folder, 'socket'),
      logging_collector: 'on',
      log_directory: path.join(folder, 'log'),
      log_filename: 'postgresql.log',
    };
    const postgres = await startPostgres({ durable: true, folder: path.join(folder, 'server'), settings });
    const server = new RestorableServer(postgres, folder, tool);
    writeFileSync(path.join(folder, 'pgbackrest.conf'), pgBackRestConfig(folder, postgres.port));
    if (tool === 'pgBackRest') await server.#pgBackRest('stanza-create');
    return server;
  }

  async backUp(): Promise<void> {
    if (this.#tool === 'pgBackRest') await this.#pgBackRest('--type=full', 'backup');
    else await this.#run(`${this.#folder}/scripts/base-backup.sh`, `${this.#folder}/backups`);
  }

  /** The machine stops at once, and its disk is lost: also the segment that was not archived yet. */
  async loseDisk(): Promise<void> {
    await this.postgres.signal('SIGKILL');
    for (let tries = 0; existsSync(this.#data); tries += 1) {
      // The other processes of the server notice the end of the first one, and may still write until then.
      try {
        rmSync(this.#data, { recursive: true, force: true });
      } catch (error) {
        if (tries > endTriesMax) throw error;
        await sleep(20);
      }
    }
  }

  /** To the end of the archive, or to a time. Returns once PostgreSQL accepts writes. */
  async restore(time?: Date): Promise<void> {
    const target = time?.toISOString().replace('T', ' ').replace('Z', '+00');
    if (this.#tool === 'pgBackRest') {
      const to = target === undefined ? [] : ['--type=time', `--target=${target}`, '--target-action=promote'];
      await this.#pgBackRest(...to, 'restore');
    } else {
      const more = target === undefined ? [] : [target];
      await this.#run(`${this.#folder}/scripts/restore-base-backup.sh`, `${this.#folder}/backups`, this.#data, ...more);
    }
    await this.postgres.start().catch((error: unknown) => {
      const log = readFileSync(path.join(this.#folder, 'log/postgresql.log'), 'utf8').trim().split('\n');
      throw new Error(`PostgreSQL did not start: ${log.slice(-logLinesShown).join('\n')}`, { cause: error });
    });
    await this.#untilRecovered();
  }

  async #untilRecovered(): Promise<void> {
    await using client = await connectTo(this.postgres.url);
    const isDone = async () => (await client.query<{ isDone: boolean }>('select not pg_is_in_recovery() as "isDone"')).rows[0]?.isDone;
    await until('PostgreSQL is recovered', isDone, { timeoutMs: commandTimeoutMs });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.postgres[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #data(): string {
    return path.join(this.#folder, 'server/data');
  }

  #pgBackRest(...args: string[]): Promise<void> {
    return this.#run('pgbackrest', `--config=${this.#folder}/pgbackrest.conf`, '--stanza=homeward', ...args);
  }

  async #run(command: string, ...args: string[]): Promise<void> {
    const env = {
      ...process.env,
      PGHOST: '127.0.0.1',
      PGPORT: String(this.postgres.port),
      PGUSER: 'postgres',
    };
    const options = { cwd: this.#folder, env, timeout: commandTimeoutMs, ...serverUser() };
    await promisify(execFile)(command, args, options).catch((error: { stdout?: string; stderr?: string }) => {
      throw new Error(`${path.basename(command)} failed: ${error.stderr}${error.stdout}`, { cause: error });
    });
  }
}

/** The shipped configuration, with the folders of this proof. PostgreSQL runs pgBackRest too, so it is all in the file. */
function pgBackRestConfig(folder: string, port: number): string {
  const shipped = readFileSync(path.join(scripts, 'pgbackrest.conf'), 'utf8');
  return shipped
    .replace(
      /^repo1-path=.*$/m,
      `repo1-path=${folder}/repo\nrepo1-cipher-pass=correct-horse\nlock-path=${folder}/lock\nlog-path=${folder}/log`,
    )
    .replace(/^pg1-path=.*$/m, `pg1-path=${folder}/server/data\npg1-port=${port}\npg1-socket-path=${folder}/socket`);
}
