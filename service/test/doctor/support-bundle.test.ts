// The bundle has what a stranger needs, and none of the secrets and addresses that were planted everywhere.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { redactor, secretsOf } from '../../src/doctor/redaction.ts';
import { homeward, homewardJson, startServing } from '../cli/homeward-command.ts';
import { type DoctorStore, password, startDoctorStore } from './doctor-store.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000 });

let store: DoctorStore;
let key: string;
const secret = `whsec_${Buffer.from('the secret of an endpoint').toString('base64')}`;

beforeAll(async () => {
  store = await startDoctorStore({ shared_preload_libraries: 'pg_stat_statements' });
  await store.owner.query('create extension pg_stat_statements');
  ({ key } = await homewardJson<{ key: string }>(['keys', 'create', '--client', 'Paws', '--plan', 'pro'], store.env));
  await store.owner.query(
    `insert into webhooks (client_id, url, types, with_orders, secret, verified_at) values (1, $1, '{}', false, $2, now())`,
    ['https://hooks.example/token-in-the-path', secret],
  );
  await store.owner.query(
    `insert into webhook_attempts (webhook_id, delivery_id, at, duration_ms, attempt, status, answer, error)
      values (1, 1, now(), 12, 1, 500, 'Dear ada@example.org', null), (1, 2, now(), 12, 1, null, null, 'connect ECONNREFUSED by ada@example.org')`,
  );
  // Recorded as it is written, unlike statements with parameters.
  await store.owner.query(`alter role homeward_api password '${password}'`);
  await homeward(['pets', 'add', '--name', 'Biscuit of Ada', '--category', '1'], { env: store.env });
  await using serving = await startServing({ env: { ...store.env, PORT: '0' } });
  await fetch(`${serving.url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
});
afterAll(() => store[Symbol.asyncDispose]());

const planted = () => ({
  REDIS_URL: store.env['REDIS_URL']?.replace('redis://', 'redis://default:redis-sesame@') ?? '',
  HOMEWARD_OTHER_URL: 'https://ada:other-sesame@staging.example',
  HOMEWARD_SECURITY_CONTACT: 'mailto:security-sesame@example.org',
  PGPASSWORD: 'pg-sesame',
  SOME_TOKEN: 'token-sesame',
});

function writeLog(): string {
  const file = path.join(store.folder, 'worker.log');
  const line = (fields: object) => JSON.stringify({ level: 50, time: Date.now(), pid: 1, hostname: 'h', ...fields });
  const lines = [
    line({ level: 30, msg: 'request', url: '/v1/pets?email=info-sesame@example.org' }),
    line({ level: 40, msg: 'unavailable', reason: 'timeout', url: '/v1/orders?email=url-sesame@example.org' }),
    line({
      msg: 'job failed',
      job: 'publish-events',
      err: { type: 'Error', message: `key ${key} of grace@example.org`, stack: `Error: x\n    at ${key}` },
    }),
    line({ msg: `connecting to postgres://ada:log-sesame@db/homeward with password=plain-sesame and Bearer ${key}` }),
    line({ msg: `signed with ${secret}, ${password}, token-sesame` }),
    'not JSON, sesame',
    '{"level":50',
  ];
  writeFileSync(file, lines.join('\n'));
  return file;
}

test('it is one private file with findings, versions, settings, errors and plans, and without any secret', async () => {
  const output = path.join(store.folder, 'bundle.md');
  const env = { ...store.env, ...planted() };
  const { status, stdout, stderr } = await homeward(['support-bundle', '--output', output, '--log', writeLog()], { env });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain(`Wrote ${output}.`);
  expect(statSync(output).mode & 0o777).toBe(0o600);
  const bundle = readFileSync(output, 'utf8');
  for (const heading of ['Findings', 'Versions and machine', 'Configuration', 'Warnings and errors of the log', 'PostgreSQL', 'Redis'])
    expect(bundle).toContain(`\n## ${heading}\n`);
  expect(bundle).toContain('ok: postgres-role: "homeward_api" acts as homeward_app.');
  expect(bundle).toMatch(/^HOMEWARD_POOL_SIZE: 10 \(default\)$/m);
  expect(bundle).toMatch(/^HOMEWARD_OTHER_URL: set$/m);
  expect(bundle).toMatch(/^PGPASSWORD: set$/m);
  expect(bundle).toMatch(/^DATABASE_URL: PostgreSQL at 127\.0\.0\.1:\d+, database "postgres"$/m);
  expect(bundle).toMatch(/error msg=job failed job=publish-events err=Error key hw_live_… of …@…$/m);
  expect(bundle).toMatch(/connect ECONNREFUSED by …@…$/m);
  expect(bundle).toMatch(/^max_connections = 40 /m);
  expect(bundle).toMatch(/^redis_version: \d/m);
  expect(bundle).toMatch(/^pets {2}\S+ kB/m);
  // The plans of five statements of ours.
  expect(bundle.match(/ calls, \S+ ms on average/g)).toHaveLength(5);
  expect(bundle.match(/\(cost=/g)?.length).toBeGreaterThanOrEqual(5);
  expect(findLeaks(bundle, [key, secret, password, 'Biscuit', 'token-in-the-path'])).toEqual([]);
});

test('without pg_stat_statements it says how to get plans', async () => {
  await store.owner.query('drop extension pg_stat_statements');
  const output = path.join(store.folder, 'without.md');
  const { file, bytes } = await homewardJson<{ file: string; bytes: number }>(['support-bundle', '--output', output], store.env);
  expect({ file, bytes }).toEqual({ file: output, bytes: statSync(output).size });
  expect(readFileSync(output, 'utf8')).toContain("shared_preload_libraries = 'pg_stat_statements'");
});

test('with nothing to connect to, and with a wrong configuration, there is a bundle all the same', async () => {
  const down = { DATABASE_URL: 'postgres://ada:down-sesame@127.0.0.1:1/homeward', REDIS_URL: 'redis://127.0.0.1:1' };
  for (const [name, env] of Object.entries({ down, wrong: { ...down, HOMEWARD_POOL_SIZE: 'many' } })) {
    const output = path.join(store.folder, `${name}.md`);
    expect(await homeward(['support-bundle', '--output', output], { env })).toMatchObject({ status: 0, stderr: '' });
    const bundle = readFileSync(output, 'utf8');
    expect(bundle).toContain(
      name === 'down' ? 'broken: postgres: PostgreSQL at 127.0.0.1:1' : 'broken: configuration: HOMEWARD_POOL_SIZE must be',
    );
    expect(findLeaks(bundle)).toEqual([]);
  }
});

test('it overwrites nothing, and a folder that does not exist is a mistake', async () => {
  const output = path.join(store.folder, 'mine.md');
  writeFileSync(output, 'mine');
  const { status, stderr } = await homeward(['support-bundle', '--output', output], { env: store.env });
  expect({ status, stderr }).toEqual({ status: 2, stderr: `homeward: ${output} exists already. Choose another --output.\n` });
  expect(readFileSync(output, 'utf8')).toBe('mine');
  const missing = path.join(store.folder, 'no', 'bundle.md');
  expect(await homeward(['support-bundle', '--output', missing], { env: store.env })).toMatchObject({ status: 2 });
  expect(existsSync(missing)).toBe(false);
});

describe('redaction', () => {
  test('a user without a password, and a password that is an ordinary word, leave no gaps', () => {
    const redact = redactor(secretsOf({}, ['postgres://postgres@h/d', 'postgres://ada:homeward@h/d']));
    expect(redact('postgres-locks: postgres://ada:homeward@h, homeward doctor')).toBe('postgres-locks: postgres://…@h, homeward doctor');
  });

  test.each([
    ['postgres://ada:p%40ss@db/x', 'postgres://…@db/x'],
    ['a key hw_test_abcdefghij in a text', 'a key hw_test_… in a text'],
    ['Authorization: Basic YWRhOnNlc2FtZQ==', 'Authorization: … …'],
    ['{"password":"x y","token":"abc"}', '{"password":"… y","token":"…"}'],
    ['ada.lovelace+dogs@mail.example.org wrote', '…@… wrote'],
    ['whsec_c2VjcmV0/+=', 'whsec_…'],
    ['process 4711 at 10.0.0.1:5432', 'process 4711 at 10.0.0.1:5432'],
  ])('%s', (text, redacted) => {
    expect(redactor([])(text)).toBe(redacted);
  });

  test('secrets of addresses are known raw and decoded, also of one that can not be parsed', () => {
    const secrets = secretsOf({ API_TOKEN: 'tttttt', EMPTY_TOKEN: '', URL_OF_IT: 'x://u:vvvvvv@h' }, [
      'postgres://a:one%2Ftwo@h/d',
      'redis://:12/three@h',
    ]);
    expect(secrets).toEqual(expect.arrayContaining(['tttttt', 'vvvvvv', 'one%2Ftwo', 'one/two', '12/three']));
    expect(redactor(secrets)('one/two tttttt')).toBe('… …');
  });
});

/** Lines with something that was planted: every secret contains the same word. */
const findLeaks = (text: string, more: readonly string[] = []) =>
  text.split('\n').filter((line) => ['sesame', 'example.org', ...more].some((word) => line.includes(word)));
