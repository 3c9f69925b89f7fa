// Wrong settings of addresses, TLS, CAs and roles, one at a time, against real servers: the message names the cause, and the setting that mends it.
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { makeAuthority } from '../../../testkit/certificates.ts';
import { freePort, startPgBouncer, startPostgres, startRedis } from '../../../testkit/servers.ts';
import { readSettings } from '../../src/cli/repair/doctor.ts';
import type { Finding } from '../../src/operations/doctor/finding.ts';
import { examinePostgres } from '../../src/operations/doctor/postgres-checks.ts';
import { examineRedis } from '../../src/operations/doctor/redis-checks.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { cloneTemplate } from '../databases.ts';
import { homeward, startServing } from './homeward-command.ts';

const opened = new AsyncDisposableStack();
/** Ports, and the URL of a database that is in order. */

const ca = opened.use(makeAuthority());
const otherCa = opened.use(makeAuthority());
const here = ca.issue('here', 'IP:127.0.0.1');
const elsewhere = ca.issue('elsewhere', 'DNS:cache.example');
const expired = ca.issue('expired', 'IP:127.0.0.1', 0);
const rules = path.join(path.dirname(ca.certificate), 'pg_hba.conf');
const lines = [
  'host all postgres 127.0.0.1/32 trust',
  'hostssl all certified 127.0.0.1/32 cert',
  'hostssl all ada 127.0.0.1/32 scram-sha-256',
  'host all ghost,sleeper 127.0.0.1/32 trust',
];
writeFileSync(rules, `${lines.join('\n')}\n`, { mode: 0o644 });
const tls = { ssl: 'on', ssl_cert_file: here.certificate, ssl_key_file: here.key, ssl_ca_file: ca.certificate, hba_file: rules };
const server = opened.use(await startPostgres({ settings: tls }));
const admin = new pg.Client({ connectionString: server.url });
await admin.connect();
for (const statement of [
  "create role ada login password 'sesame'",
  'create role certified login',
  'create role sleeper',
  'create database closed',
  'revoke connect on database closed from public',
])
  await admin.query(statement);
await admin.end();

const redisWith = async ({ certificate, key }: typeof here, settings: Record<string, string> = {}) => {
  const port = await freePort();
  const files = { 'tls-cert-file': certificate, 'tls-key-file': key, 'tls-ca-cert-file': ca.certificate };
  opened.use(await startRedis({ settings: { 'tls-port': String(port), ...files, 'tls-auth-clients': 'no', ...settings } }));
  return port;
};
const onlyTls = { client_tls_sslmode: 'require', client_tls_cert_file: here.certificate, client_tls_key_file: here.key };
const bouncer = opened.use(await startPgBouncer(server.url, { poolSize: 5, settings: onlyTls }));
const silent = createServer(() => {});
await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
opened.defer(() => void silent.close());
const redis = opened.use(await startRedis({ settings: { requirepass: 'sesame' } }));
const client = new Redis(redis.url, { password: 'sesame' });
await client.call('ACL', 'SETUSER', 'reader', 'on', '>sesame', '~*', '+@read', '+ping', '+info');
client.disconnect();
const at: Record<'tls' | 'bouncer' | 'silent' | 'redis' | 'redisTls' | 'redisOtherName' | 'redisExpired' | 'redisClients', number> = {
  tls: server.port,
  bouncer: bouncer.port,
  silent: (silent.address() as { port: number }).port,
  redis: redis.port,
  redisTls: await redisWith(here),
  redisOtherName: await redisWith(elsewhere),
  redisExpired: await redisWith(expired),
  redisClients: await redisWith(here, { 'tls-auth-clients': 'yes' }),
};
const plain = new URL(await cloneTemplate(inject('postgresUrl')));
afterAll(() => opened.disposeAsync());

type Env = Readonly<Record<string, string>>;
type Case = readonly [setting: string, env: () => Env, problem: string, fix: string];

/** What a command says, and what doctor finds broken; neither with the password. */
async function saidBy(command: readonly string[], env: Env): Promise<{ command: string; doctor: string }> {
  const { status, stdout, stderr } = await homeward(command, { env });
  expect(status).not.toBe(0);
  const findings = await findingsWith(env);
  for (const text of [stdout, stderr, JSON.stringify(findings)]) expect(text).not.toContain('sesame');
  const found = findings.filter(
    ({ severity, check }) => severity === 'broken' && /^(configuration|postgres|postgres-hosts|redis)$/.test(check),
  );
  expect(found).not.toEqual([]);
  return { command: stderr, doctor: found.map(({ found: problem, fix }) => `${problem} ${fix}`).join(' ') };
}

/** In this process, unless a variable counts that Node.js reads only at its start. */
async function findingsWith(env: Env): Promise<readonly Finding[]> {
  if (env['NODE_EXTRA_CA_CERTS']) {
    const { stdout } = await homeward(['doctor', '--json'], { env });
    return (JSON.parse(stdout) as { findings: Finding[] }).findings;
  }
  const { config, findings } = readSettings(() => loadConfig(env));
  if (!config) return findings;
  const reports = await Promise.all([examinePostgres(config), examineRedis(config)]);
  return reports.flatMap((report) => report.findings);
}

const database = (user: string, name: string, server: string | number = at.tls) =>
  `postgres://${user}@${typeof server === 'number' ? `127.0.0.1:${server}` : server}/${name}`;
const verified = () => `sslmode=verify-full&sslrootcert=${ca.certificate}`;
const useTls = 'Add ?sslmode=verify-full to DATABASE_URL, and &sslrootcert=FILE if the CA is your own.';

const postgresCases: readonly Case[] = [
  [
    'TLS is demanded, and DATABASE_URL has no sslmode',
    () => ({ DATABASE_URL: database('ada:sesame', 'postgres') }),
    'it demands TLS, or has no rule for this user, database and address in pg_hba.conf.',
    useTls,
  ],
  [
    'a PgBouncer that demands TLS',
    () => ({ DATABASE_URL: database('postgres:sesame', 'postgres', at.bouncer) }),
    'it demands TLS.',
    useTls,
  ],
  [
    'a CA of its own, and no sslrootcert',
    () => ({ DATABASE_URL: database('ada:sesame', 'postgres?sslmode=verify-full') }),
    'no CA that this program trusts has signed its certificate.',
    'Add sslrootcert=FILE to DATABASE_URL',
  ],
  [
    'sslmode=require, which verifies too',
    () => ({ DATABASE_URL: database('ada:sesame', 'postgres?sslmode=require') }),
    'no CA that this program trusts has signed its certificate.',
    'Add sslrootcert=FILE to DATABASE_URL',
  ],
  [
    'the sslrootcert of another CA',
    () => ({ DATABASE_URL: database('ada:sesame', `postgres?sslmode=verify-full&sslrootcert=${otherCa.certificate}`) }),
    'no CA that this program trusts has signed its certificate.',
    'The file of sslrootcert in DATABASE_URL has another CA',
  ],
  [
    'an sslrootcert that does not exist',
    () => ({ DATABASE_URL: database('ada:sesame', 'postgres?sslmode=verify-full&sslrootcert=/nowhere/ca.pem') }),
    'sslrootcert in DATABASE_URL: the file "/nowhere/ca.pem" can\'t be read (ENOENT).',
    'Does it exist, and may this user read it?',
  ],
  [
    'an sslrootcert that has no certificate',
    () => ({ DATABASE_URL: database('ada:sesame', 'postgres?sslmode=verify-full&sslrootcert=/etc/hosts') }),
    'sslrootcert in DATABASE_URL: the file "/etc/hosts" has no certificate in PEM format',
    'begins with -----BEGIN',
  ],
  [
    'a host that is not in the certificate',
    () => ({ DATABASE_URL: database('ada:sesame', `postgres?${verified()}`, `localhost:${at.tls}`) }),
    'its certificate is for IP Address:127.0.0.1, and not for localhost.',
    'Write the host in DATABASE_URL as the certificate has it',
  ],
  [
    'sslmode, and a server without TLS',
    () => ({ DATABASE_URL: database('ada:sesame', 'postgres?sslmode=verify-full', plain.host) }),
    'it does not speak TLS.',
    'remove sslmode from DATABASE_URL',
  ],
  [
    'a certificate of the client is demanded',
    () => ({ DATABASE_URL: database('certified:sesame', `postgres?${verified()}`) }),
    'it demands a certificate of the client.',
    'Add sslcert=FILE and sslkey=FILE to DATABASE_URL',
  ],
  [
    'a wrong password',
    () => ({ DATABASE_URL: database('ada:open-sesame', `postgres?${verified()}`) }),
    'it rejects the user "ada" or the password.',
    'Correct DATABASE_URL: in the user and the password, special characters are percent-encoded.',
  ],
  [
    'no password',
    () => ({ DATABASE_URL: database('ada', `postgres?${verified()}`) }),
    'it demands a password, and DATABASE_URL has none.',
    'Write DATABASE_URL as postgres://USER:PASSWORD@HOST:PORT/NAME.',
  ],
  [
    'a role that does not exist',
    () => ({ DATABASE_URL: database('ghost:sesame', 'postgres') }),
    'it has no role "ghost".',
    'Create that role, with login, or correct the user in DATABASE_URL.',
  ],
  [
    'a role that may not log in',
    () => ({ DATABASE_URL: database('sleeper:sesame', 'postgres') }),
    'the role "sleeper" may not log in.',
    'alter role "sleeper" login',
  ],
  [
    'a user without a rule in pg_hba.conf',
    () => ({ DATABASE_URL: database('barred:sesame', `postgres?${verified()}`) }),
    'it has no rule for this user, database and address in pg_hba.conf.',
    'permit them from this machine in pg_hba.conf',
  ],
  [
    'a database that does not exist',
    () => ({ DATABASE_URL: database('ada:sesame', `nowhere?${verified()}`) }),
    'the database does not exist.',
    'Create it, or correct DATABASE_URL.',
  ],
  [
    'a database that the user may not connect to',
    () => ({ DATABASE_URL: database('ada:sesame', `closed?${verified()}`) }),
    'the user of DATABASE_URL may not connect to this database.',
    'grant connect on database',
  ],
  [
    'a host that does not exist',
    () => ({ DATABASE_URL: database('ada:sesame', 'postgres', 'nowhere.invalid') }),
    'the host was not found.',
    'Correct the host in DATABASE_URL',
  ],
  [
    'a port on which nothing listens',
    () => ({ DATABASE_URL: database('ada:sesame', 'postgres', 1) }),
    'nothing is listening there.',
    'Is DATABASE_URL correct, and is PostgreSQL running?',
  ],
  [
    'the port of another program',
    () => ({ DATABASE_URL: database('ada:sesame', 'postgres', at.redisTls) }),
    'it closes the connection.',
    'Is this the port of PostgreSQL?',
  ],
];

describe('PostgreSQL', () => {
  const commands = [['migrate'], ['keys', 'list']];
  test.each(postgresCases.map((one, index) => [...one, commands[index % commands.length] ?? []] as const))(
    '%s',
    async (_, env, problem, fix, command) => {
      const said = await saidBy(command, { REDIS_URL: inject('redisUrl'), LOG_LEVEL: 'silent', ...env() });
      expect(said.command).toContain(problem);
      expect(said.command).toContain(fix);
      expect(said.doctor).toContain(problem);
      expect(said.doctor).toContain(fix);
    },
  );

  test.each([['serve'], ['migrate']])('%s: of several hosts, each is named with what is wrong with it', async (command) => {
    const url = `postgres://ada:sesame@127.0.0.1:1,127.0.0.1:${at.tls},nowhere.invalid/postgres`;
    const { command: stderr, doctor } = await saidBy([command], { DATABASE_URL: url, REDIS_URL: inject('redisUrl'), LOG_LEVEL: 'silent' });
    const each = [
      '127.0.0.1:1: nothing is listening there.',
      `127.0.0.1:${at.tls}: it demands TLS, or has no rule for this user, database and address in pg_hba.conf.`,
      'nowhere.invalid:5432: the host was not found.',
    ];
    for (const one of each) {
      expect(stderr).toContain(one);
      expect(doctor).toContain(one);
    }
    expect(stderr).toContain(useTls);
    expect(doctor).toContain(useTls);
  });

  // The driver leaves the connection open, for as long as the server waits for a password.
  test('a worker that has no password ends at once', async () => {
    const env = { DATABASE_URL: database('ada', `postgres?${verified()}`), REDIS_URL: inject('redisUrl'), LOG_LEVEL: 'silent' };
    const { status, stderr } = await homeward(['worker'], { env });
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('it demands a password') });
  });

  test('with the right CA, name, user and password it is reached', async () => {
    const { stderr } = await homeward(['keys', 'list'], { env: { DATABASE_URL: database('ada:sesame', `postgres?${verified()}`) } });
    expect(stderr).toContain("it is empty. Run 'homeward migrate' first.");
  });
});

const rediss = (port: number, host = '127.0.0.1') => ({ REDIS_URL: `rediss://${host}:${port}` });
const trusting = () => ({ NODE_EXTRA_CA_CERTS: ca.certificate });
const redisCases: readonly Case[] = [
  [
    'a CA of its own, and no NODE_EXTRA_CA_CERTS',
    () => rediss(at.redisTls),
    'no CA that this program trusts has signed its certificate.',
    'Set NODE_EXTRA_CA_CERTS to the file with the certificate of the CA, for every process and command.',
  ],
  [
    'a host that is not in the certificate',
    () => ({ ...rediss(at.redisOtherName), ...trusting() }),
    'its certificate is for DNS:cache.example, and not for 127.0.0.1.',
    'Write the host in REDIS_URL as the certificate has it',
  ],
  [
    'a certificate that has expired',
    () => ({ ...rediss(at.redisExpired), ...trusting() }),
    'its certificate has expired.',
    'Get it a new one',
  ],
  [
    'a certificate of the client is demanded',
    () => ({ ...rediss(at.redisClients), ...trusting() }),
    'it demands a certificate of the client',
    'et tls-auth-clients no in',
  ],
  [
    'redis:// to a port that demands TLS',
    () => ({ REDIS_URL: `redis://127.0.0.1:${at.redisTls}` }),
    'it closes the connection.',
    'If it demands TLS, write rediss:// in REDIS_URL.',
  ],
  [
    'rediss:// to a server without TLS',
    () => rediss(at.redis),
    'it does not reply by TLS.',
    'If it has no TLS, write redis:// in REDIS_URL.',
  ],
  [
    'a wrong password',
    () => ({ REDIS_URL: `redis://:open-sesame@127.0.0.1:${at.redis}` }),
    'it rejects the user or the password.',
    'Correct REDIS_URL, redis://USER:PASSWORD@HOST:PORT; without USER, it is the user "default".',
  ],
  [
    'no password',
    () => ({ REDIS_URL: `redis://127.0.0.1:${at.redis}` }),
    'it demands a password, and REDIS_URL has none.',
    'Write REDIS_URL as redis://USER:PASSWORD@HOST:PORT',
  ],
  [
    'a host that does not exist',
    () => ({ REDIS_URL: 'redis://:sesame@nowhere.invalid' }),
    'the host was not found.',
    'Correct the host in REDIS_URL',
  ],
  [
    'a port on which nothing listens',
    () => ({ REDIS_URL: 'redis://:sesame@127.0.0.1:1' }),
    'nothing is listening there.',
    'Start Redis, or correct REDIS_URL.',
  ],
  [
    'a server that does not reply',
    () => ({ REDIS_URL: `redis://:sesame@127.0.0.1:${at.silent}` }),
    'it does not reply.',
    'Is Redis running, is REDIS_URL correct, and does a firewall let this machine through?',
  ],
];

describe('Redis', () => {
  // Each waits for Redis most of the time.
  test.concurrent.each(redisCases)('%s', async (_, env, problem, fix) => {
    const settings = { DATABASE_URL: plain.href, ...env() };
    const said = await saidBy(['bans', 'list'], settings);
    expect(said.command).toContain(problem);
    expect(said.command).toContain(fix);
    expect(said.doctor).toContain(problem);
    expect(said.doctor).toContain(fix);
  });

  test('serve starts without it, and logs the cause and the setting', async () => {
    await using serving = await startServing({ env: { DATABASE_URL: plain.href, ...rediss(at.redisTls) } });
    expect(await serving.logged("Redis can't be used")).toMatchObject({
      reason:
        'no CA that this program trusts has signed its certificate. Set NODE_EXTRA_CA_CERTS to the file with the certificate of the CA, for every process and command.',
    });
  });

  test('with NODE_EXTRA_CA_CERTS it is reached', async () => {
    const env = { DATABASE_URL: plain.href, ...rediss(at.redisTls), ...trusting() };
    const findings = await findingsWith(env);
    expect(findings.find(({ check }) => check === 'redis')).toMatchObject({ severity: 'ok' });
  });
});
