// What a fault may touch of one real store that nothing else uses. Without a fault, doctor finds nothing broken in it and warns of nothing.
import type { Redis } from 'ioredis';
import type { Client } from 'pg';

export interface NightStore {
  /**
   * A session of a superuser on the store's database, opened before any fault. The roles are those of docs/operations/database.md: the tables
   * belong to homeward_owner, and every process, command and doctor logs in as homeward_api. PostgreSQL has `archive_mode = on`, and an
   * `archive_command` that succeeds and was set by `alter system`: an option of the command line could not be changed by a fault.
   */
  readonly superuser: Client;
  /** A session of Redis' user `default`, which `REDIS_URL` uses too. Redis is a single primary without persistence. */
  readonly redis: Redis;
  /** On the `PORT` that doctor is run with. */
  readonly serve: NightProcess;
  readonly worker: NightProcess;
  /** A folder for what a fault needs, on the disk of the journal. */
  readonly folder: string;
  /** `HOMEWARD_PHOTOS` of every process and of doctor. */
  readonly photosFolder: string;
  /** Runs a command with the store's environment, which has `HOMEWARD_ENVIRONMENT=production`, and returns its standard output. */
  homeward(...args: string[]): Promise<string>;
}

export interface NightProcess {
  /** Of the process that runs now: `restart` changes it. */
  readonly pid: number;
  /** Ends the process and starts it with these variables over those of the store. Resolves once it serves or works. */
  restart(env?: Readonly<Record<string, string>>): Promise<void>;
}
