import { createServer } from 'node:net';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { describePostgres, describeRedis } from '../../src/platform/server-urls.ts';
import { cloneTemplate } from '../databases.ts';
import { homeward } from './homeward-command.ts';

/** Accepts connections and never replies. */

const postgres = new URL(await cloneTemplate(inject('postgresUrl')));
const silent = createServer(() => {});
await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
const silentPort = (silent.address() as { port: number }).port;
afterAll(() => silent.close());

describe('a failure names the server and the database that were tried, and never the password', () => {
  const failureOf = async (args: string[], env: Record<string, string>) => {
    const { status, stderr } = await homeward(args, { env: { REDIS_URL: inject('redisUrl'), ...env } });
    expect(stderr).not.toContain('sesame');
    return { status, stderr };
  };

  test.each<[url: string, said: string]>([
    ['postgres://ada:sesame@127.0.0.1:1/homeward', 'PostgreSQL at 127.0.0.1:1, database "homeward": nothing is listening there.'],
    ['postgres://ada:sesame@[::1]:1/homeward', 'PostgreSQL at [::1]:1, database "homeward": nothing is listening there.'],
    ['postgres://ada:sesame@nowhere.invalid/homeward', 'PostgreSQL at nowhere.invalid:5432, database "homeward": the host was not found.'],
    [
      'postgres:///homeward?host=/nowhere',
      'PostgreSQL at the socket /nowhere/.s.PGSQL.5432, database "homeward": nothing is listening there.',
    ],
  ])('%s', async (url, said) => {
    expect(await failureOf(['keys', 'list'], { DATABASE_URL: url })).toEqual({
      status: 1,
      stderr: expect.stringContaining(`homeward: ${said}`),
    });
  });

  test.each(['open@sesame', 'open/sesame', '12/sesame', 'open?sesame', 'open#sesame', 'sesame%'])(
    'a password that is not percent-encoded, %s',
    async (password) => {
      const { status, stderr } = await failureOf(['keys', 'list'], { DATABASE_URL: `postgres://ada:${password}@127.0.0.1:1/homeward` });
      expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('PostgreSQL at ') });
    },
  );

  test.each([[['keys', 'list']], [['migrate']]])('a server that accepts connections and does not reply: %j', async (args) => {
    const { status, stderr } = await failureOf(args, { DATABASE_URL: `postgres://ada:sesame@127.0.0.1:${silentPort}/homeward` });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining(`PostgreSQL at 127.0.0.1:${silentPort}, database "homeward": it does not reply.`),
    });
  });

  test('a user that does not exist', async () => {
    const { status, stderr } = await failureOf(['keys', 'list'], {
      DATABASE_URL: `postgres://nobody_here:sesame@${postgres.host}${postgres.pathname}`,
    });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining(
        `PostgreSQL at ${postgres.host}, database "${postgres.pathname.slice(1)}": it has no role "nobody_here".`,
      ),
    });
  });

  test('Redis', async () => {
    const env = { DATABASE_URL: postgres.href, REDIS_URL: `redis://:sesame@127.0.0.1:${silentPort}` };
    expect(await failureOf(['bans', 'list'], env)).toEqual({
      status: 1,
      stderr: `homeward: Redis at 127.0.0.1:${silentPort}: it does not reply. Is Redis running, is REDIS_URL correct, and does a firewall let this machine through?\n`,
    });
  });
});

test('a HOST that can not be resolved is not blamed on PostgreSQL', async () => {
  const env = { DATABASE_URL: postgres.href, REDIS_URL: inject('redisUrl'), HOST: 'nowhere.invalid', LOG_LEVEL: 'silent' };
  expect(await homeward(['serve'], { env })).toMatchObject({
    status: 1,
    stderr: 'homeward: The host "nowhere.invalid" was not found. Correct HOST.\n',
  });
});

test.each<[url: string, described: string]>([
  ['postgres://127.0.0.1/homeward', 'PostgreSQL at 127.0.0.1:5432, database "homeward"'],
  ['postgresql://ada:p%40ss%2Fword@db.example.org:6432/homeward?sslmode=disable', 'PostgreSQL at db.example.org:6432, database "homeward"'],
  ['postgres://ada:a@b@db.example.org/homeward', 'PostgreSQL at the address in DATABASE_URL'],
  ['postgres://ada:1/b@db.example.org/homeward', 'PostgreSQL at the address in DATABASE_URL'],
])('%s is %s', (url, described) => {
  expect(describePostgres(url)).toBe(described);
});

test.each<[url: string, described: string]>([
  ['redis://:sesame@cache.example.org:6380/2', 'Redis at cache.example.org:6380'],
  ['rediss://[::1]', 'Redis at [::1]:6379'],
  ['redis://:a/b@cache.example.org', 'Redis at the address in REDIS_URL'],
])('%s is %s', (url, described) => {
  expect(describeRedis(url)).toBe(described);
});
