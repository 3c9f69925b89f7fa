// Where a store may run: how PostgreSQL and Redis are set up, and what the processes are told of them.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { CertificateAuthority } from '../../testkit/certificates.ts';
import { createDocumentedRoles } from '../../testkit/documented-roles.ts';
import { queryAt } from '../../testkit/postgres.ts';
import { freePort, isOnPath, startPostgres, startRedis } from '../../testkit/servers.ts';

/** Of every role. */
const password = 'open sesame/42';

export interface Servers {
  /** The URL of the owner, for `migrate`. */
  readonly ownerUrl: string;
  /** The variables of every other process. */
  readonly env: Readonly<Record<string, string>>;
}

export interface Environment {
  readonly name: string;
  /** In the table of docs/compatibility.md. */
  readonly title: string;
  /** Why it can't be tried on this machine; undefined: it can. */
  findObstacle?(): string | undefined;
  start(opened: AsyncDisposableStack, parts: Parts): Promise<Servers>;
}

export interface Parts {
  readonly binaries: string;
  readonly ca: CertificateAuthority;
  /** Of this store alone. */
  readonly folder: string;
}

interface PostgresSetup {
  /** Who may connect, and how, besides the superuser on 127.0.0.1. */
  readonly rule?: string;
  readonly settings?: Readonly<Record<string, string>>;
  readonly host?: string;
  readonly parameters?: string;
  /** Makes the roles: postgres, unless set. It may create roles and databases, and is no superuser. */
  readonly login?: string;
}

async function setUpPostgres(opened: AsyncDisposableStack, { binaries, folder }: Parts, setup: PostgresSetup = {}) {
  const { rule = 'host all all 127.0.0.1/32 scram-sha-256', settings = {}, host = '127.0.0.1', parameters = '', login } = setup;
  // PostgreSQL's user may not enter the folder of the store.
  const rules = path.join(path.dirname(folder), `${path.basename(folder)}.hba`);
  writeFileSync(rules, `host all postgres 127.0.0.1/32 trust\n${rule}\n`, { mode: 0o644 });
  const server = opened.use(await startPostgres({ binaries, durable: true, settings: { hba_file: rules, ...settings } }));
  const urlOf = (user: string, database: string) =>
    `postgres://${user}:${encodeURIComponent(password)}@${host}:${server.port}/${database}${parameters}`;
  if (login) await createLogin(server.url, login);
  await createDocumentedRoles(login ? urlOf(login, 'postgres') : server.url, password);
  return { ownerUrl: urlOf('homeward_owner', 'homeward'), apiUrl: urlOf('homeward_api', 'homeward') };
}

async function createLogin(url: string, name: string): Promise<void> {
  await queryAt(url, `create role ${name} login createrole createdb password ${pg.escapeLiteral(password)}`);
}

const redisPage = fileURLToPath(new URL('../../docs/operations/redis.md', import.meta.url));

/** The user of docs/operations/redis.md, as a line of the configuration of Redis. */
function documentedUser(): string {
  const [, rules = ''] = /^user homeward on >PASSWORD (.+)$/m.exec(readFileSync(redisPage, 'utf8')) ?? [];
  if (!rules) throw new Error(`${redisPage} has no user of Redis any more`);
  return `homeward on >${redisPassword} ${rules}`;
}
const redisPassword = 'sesame-42';

/** With the published user, and without any other that could be used. */
async function setUpRedis(opened: AsyncDisposableStack, { ca }: Parts, { tls, program }: { tls: boolean; program?: string }) {
  const port = await freePort();
  const { certificate, key } = ca.issue(`redis-${port}`, 'IP:127.0.0.1');
  const files = { 'tls-cert-file': certificate, 'tls-key-file': key, 'tls-ca-cert-file': ca.certificate, 'tls-auth-clients': 'no' };
  const settings = { user: documentedUser(), requirepass: 'another', 'maxmemory-policy': 'noeviction' };
  const redis = opened.use(
    await startRedis({ settings: { ...settings, ...(tls && { 'tls-port': String(port), ...files }) }, ...(program && { program }) }),
  );
  return tls
    ? { REDIS_URL: `rediss://homeward:${redisPassword}@127.0.0.1:${port}`, NODE_EXTRA_CA_CERTS: ca.certificate }
    : { REDIS_URL: `redis://homeward:${redisPassword}@127.0.0.1:${redis.port}` };
}

const plainRedis = async (opened: AsyncDisposableStack) => ({ REDIS_URL: opened.use(await startRedis()).url });

export const environments: readonly Environment[] = [
  {
    name: 'plain',
    title: 'Roles made by a superuser, passwords, no TLS',
    async start(opened, parts) {
      const { ownerUrl, apiUrl } = await setUpPostgres(opened, parts);
      return { ownerUrl, env: { DATABASE_URL: apiUrl, ...(await plainRedis(opened)) } };
    },
  },
  {
    name: 'tls',
    title: 'PostgreSQL that demands TLS, with a CA of your own',
    async start(opened, parts) {
      const { certificate, key } = parts.ca.issue(`postgres-${path.basename(parts.folder)}`, 'IP:127.0.0.1');
      const { ownerUrl, apiUrl } = await setUpPostgres(opened, parts, {
        rule: 'hostssl all all 127.0.0.1/32 scram-sha-256',
        settings: { ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key },
        parameters: `?sslmode=verify-full&sslrootcert=${parts.ca.certificate}`,
      });
      return { ownerUrl, env: { DATABASE_URL: apiUrl, ...(await plainRedis(opened)) } };
    },
  },
  {
    name: 'ipv6',
    title: 'IPv6 alone: PostgreSQL, Redis and the API',
    async start(opened, parts) {
      // The testkit waits for the port of 127.0.0.1; the rules let the store's roles in by IPv6 only.
      const { ownerUrl, apiUrl } = await setUpPostgres(opened, parts, {
        rule: 'host all all ::1/128 scram-sha-256',
        settings: { listen_addresses: '127.0.0.1,::1' },
        host: '[::1]',
      });
      const redis = opened.use(await startRedis({ settings: { bind: '127.0.0.1 ::1' } }));
      return { ownerUrl, env: { DATABASE_URL: apiUrl, REDIS_URL: `redis://[::1]:${redis.port}`, HOST: '::1' } };
    },
  },
  {
    name: 'managed',
    title: 'Roles made by a login of managed PostgreSQL, which is no superuser',
    async start(opened, parts) {
      const { ownerUrl, apiUrl } = await setUpPostgres(opened, parts, { login: 'managed' });
      return { ownerUrl, env: { DATABASE_URL: apiUrl, ...(await plainRedis(opened)) } };
    },
  },
  {
    name: 'redis-tls',
    findObstacle: () => missing('redis-server'),
    title: 'Redis with the user of operations/redis.md, by TLS with a CA of your own',
    async start(opened, parts) {
      const { ownerUrl, apiUrl } = await setUpPostgres(opened, parts);
      return { ownerUrl, env: { DATABASE_URL: apiUrl, ...(await setUpRedis(opened, parts, { tls: true, program: 'redis-server' })) } };
    },
  },
  {
    name: 'valkey',
    title: 'Valkey with the user of operations/redis.md',
    findObstacle: () => missing(valkey),
    async start(opened, parts) {
      const { ownerUrl, apiUrl } = await setUpPostgres(opened, parts);
      return { ownerUrl, env: { DATABASE_URL: apiUrl, ...(await setUpRedis(opened, parts, { tls: false, program: valkey })) } };
    },
  },
];
const valkey = 'valkey-server';
const missing = (program: string) => (isOnPath(program) ? undefined : `${program} is not installed`);
