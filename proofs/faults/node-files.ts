// The files of deploy/ha, filled in for the nodes of a run.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { postgresFolder } from '../../testkit/servers.ts';
import { addresses, type Place } from './network.ts';

const shipped = fileURLToPath(new URL('../../deploy/ha', import.meta.url));

export const nodes = ['node1', 'node2', 'node3'] as const satisfies readonly Place[];
export type Node = (typeof nodes)[number];

export const passwords = {
  RESTAPI_PASSWORD: 'restapi-secret',
  SUPERUSER_PASSWORD: 'superuser-secret',
  REPLICATION_PASSWORD: 'replication-secret',
  REWIND_PASSWORD: 'rewind-secret',
  REDIS_PASSWORD: 'redis-secret',
  SENTINEL_PASSWORD: 'sentinel-secret',
} as const;

/** Shorter than the shipped 20, so that a round is: a standby takes over this long after a machine was last heard of. */
export const ttlSeconds = 5;

export interface NodeFolders {
  readonly data: string;
  readonly wal: string;
  readonly redis: string;
  readonly etcd: string;
  /** PostgreSQL's programs, if not those that are installed. */
  readonly programs?: string | undefined;
}

export interface Changes {
  /** Below deploy. */
  readonly file: 'ha/patroni.yml' | 'ha/redis.conf';
  readonly from: string;
  readonly to: string;
}

/** As an operator fills in a file, and with the run's own times and folders. */
export function fillIn(
  file: 'patroni.yml' | 'etcd.env' | 'redis.conf' | 'sentinel.conf',
  node: Node,
  folders: NodeFolders,
  changes: readonly Changes[],
): string {
  const replacements: Array<readonly [string, string]> = [
    ['NODE', node],
    ['ADDRESS', addresses[node]],
    ['10.0.0.', '10.77.0.'],
    ...Object.entries(passwords),
    ...ownTimes,
    ['/var/lib/postgresql/15/main', folders.data],
    ['/usr/lib/postgresql/15/bin', folders.programs ?? postgresFolder() ?? ''],
    ['/var/lib/postgresql/patroni.pgpass', path.join(folders.redis, 'pgpass')],
    ['/var/run/postgresql', folders.redis],
    ['data-checksums]', `data-checksums, { waldir: ${folders.wal} }]`],
    [
      '  parameters:\n    unix_socket',
      `  basebackup: [{ waldir: ${folders.wal} }, { checkpoint: fast }]\n  parameters:\n    shared_buffers: 64MB\n    unix_socket`,
    ],
    ['/var/lib/etcd/homeward', folders.etcd],
    ['/var/lib/redis', folders.redis],
    ...changes.filter((change) => change.file === `ha/${file}`).map(({ from, to }) => [from, to] as const),
  ];
  const text = replacements.reduce((filled, [from, to]) => filled.replaceAll(from, to), readFileSync(path.join(shipped, file), 'utf8'));
  if (file !== 'redis.conf' || node === 'node1') return text;
  return text.replace('#replicaof', 'replicaof');
}

const ownTimes = [
  ['ttl: 20', `ttl: ${ttlSeconds}`],
  ['loop_wait: 5', 'loop_wait: 1'],
  ['retry_timeout: 5', 'retry_timeout: 2'],
] as const;

/** The lines of an environment file. */
export function readEnvironment(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

export const rolesFile = path.join(shipped, 'roles.sql');
