// The bundle has what a stranger needs, and none of the secrets and addresses that were planted everywhere.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { redactor, secretsOf, withoutStrings, withoutValues, withSecretFiles } from '../../../src/operations/doctor/redaction.ts';
import { homeward, homewardJson, startServing } from '../../cli/homeward-command.ts';
import { type DoctorStore, password, startDoctorStore } from './doctor-store.ts';

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
  await plantStatements();
  await using serving = await startServing({ env: { ...store.env, PORT: '0' } });
  await fetch(`${serving.url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
});
afterAll(() => store[Symbol.asyncDispose]());

/** In the log, in statements and in orders. */
const adopter = 'Ágnes Sesame-Lovelace';
const addresses = [
  'jürgen@müller-sesame.example',
  'πέτρος@παράδειγμα-sesame.gr',
  '用户@例子。sesame.广告',
  'ada%40sesame.example',
  "o'ada+x@sesame.example",
];

function plantedFile(name: string, content: string): string {
  const file = path.join(store.folder, name);
  writeFileSync(file, content);
  return file;
}

const planted = () => ({
  HOMEWARD_PHOTOS: 's3://homeward-photos',
  HOMEWARD_PHOTOS_S3_ENDPOINT: 'http://127.0.0.1:1',
  HOMEWARD_PHOTOS_S3_KEY_ID: 'id-sesame',
  HOMEWARD_PHOTOS_S3_SECRET_FILE: plantedFile('s3', 'file-sesame/+1\n'),
  OTHER_TOKEN_FILE: plantedFile('token', 'token-of-a-file-sesame\nsecond-line-sesame\n'),
  OTHER_URL_FILE: plantedFile('url', 'https://ada:url-of-a-file-sesame@example.net\n'),
  PGPASSFILE: plantedFile('pgpass', '# comment\ndb:5432:*:ada:pgpass-sesame\n'),
  REDIS_URL: store.env['REDIS_URL']?.replace('redis://', 'redis://default:redis-sesame@') ?? '',
  HOMEWARD_OTHER_URL: 'https://ada:other-sesame@staging.example',
  HOMEWARD_SECURITY_CONTACT: 'mailto:security-sesame@example.org',
  PGPASSWORD: 'pg-sesame',
  SOME_TOKEN: 'token-sesame',
});

/** PostgreSQL keeps the text of a statement as it was written if it had forgotten it when the statement ended. */
async function plantStatements(): Promise<void> {
  await store.owner.query('grant execute on function pg_stat_statements_reset to homeward_app; set role homeward_app');
  try {
    const where = `adopter_name = '${adopter}' -- ${adopter}`;
    await store.owner.query(
      `select pg_sleep(0.2) from (select pg_stat_statements_reset()) as reset where not exists (select from orders where ${where}\n)`,
    );
  } finally {
    await store.owner.query('reset role');
  }
}

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
    ...addresses.map((address) => line({ msg: `mail to ${address} failed`, err: { type: 'Error', message: `rejected: <${address}>` } })),
    line({ msg: 'file-sesame/+1 or file-sesame%2F%2B1, token-of-a-file-sesame, second-line-sesame, url-of-a-file-sesame, pgpass-sesame' }),
    ...[
      `invalid input syntax for type bigint: "${adopter}"`,
      `invalid input value for enum pet_status: "the "cat" of ${adopter}"`,
      `Unexpected token 'Á', "${adopter}"... is not valid JSON`,
      `{"adopter":{"name":"${adopter}"`,
      `duplicate key value violates unique constraint "orders": Key (adopter_name)=(${adopter} (Vienna)) already exists.`,
    ].flatMap((message) => [
      line({
        msg: 'internal error',
        err: { type: 'DatabaseError', code: '22P02', message, stack: `error: ${message}\n${adopter}\n    at here (x.js:1:2)` },
      }),
      line({ level: 40, msg: 'unavailable', reason: `error: ${message}` }),
    ]),
    line({ msg: 'job failed', adopter: { name: adopter }, detail: `Key (adopter_name)=(${adopter})`, parameters: [adopter] }),
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
  expect(bundle).toMatch(/^max_connections = 45 /m);
  expect(bundle).toMatch(/^redis_version: \d/m);
  expect(bundle).toMatch(/^pets {2}\S+ kB/m);
  // The plans of five statements of ours.
  expect(bundle.match(/ calls, \S+ ms on average/g)).toHaveLength(5);
  expect(bundle.match(/\(cost=/g)?.length).toBeGreaterThanOrEqual(5);
  expect(bundle).toMatch(/err=DatabaseError 22P02 invalid input syntax for type bigint: "…"\n {4}at here \(x\.js:1:2\)$/m);
  expect(bundle).toMatch(/err=DatabaseError 22P02 duplicate key value violates unique constraint "orders": Key \(adopter_name\)=\(…\)$/m);
  expect(bundle).toContain("adopter_name = '…");
  expect(findLeaks(bundle, [key, secret, password, 'Biscuit', 'token-in-the-path', 'Lovelace', 'Ágnes'])).toEqual([]);
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
    ...addresses.map((address): [string, string] => [`to ${address}, sent`, 'to …@…, sent']),
    ['whsec_c2VjcmV0/+=', 'whsec_…'],
    ['process 4711 at 10.0.0.1:5432', 'process 4711 at 10.0.0.1:5432'],
  ])('%s', (text, redacted) => {
    expect(redactor([])(text)).toBe(redacted);
  });

  test('an address is looked for in a time that grows with the length of a text alone', () => {
    const redact = redactor([]);
    const timeOf = (text: string) => {
      const before = performance.now();
      redact(text);
      return performance.now() - before;
    };
    for (const part of ['a', 'ä', 'a.', 'a@', 'a@b.', '%40', '@']) {
      // With a time that grows with the square it takes minutes.
      expect(timeOf(part.repeat(100_000))).toBeLessThan(2_000);
    }
  });

  test.each([
    ['relation "pets" does not exist', 'relation "pets" does not exist'],
    ['value too long: "Ada', 'value too long: "…"'],
    ['column "name" of relation "pets": "Ada" and "Grace"', 'column "name" of relation "pets": "…"'],
    ['connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED 127.0.0.1:5432'],
  ])('the values in the message %s', (message, without) => {
    expect(withoutValues(message)).toBe(without);
  });

  test.each([
    ['select $1 from orders where id = $2', 'select $1 from orders where id = $2'],
    ["select 1 where name = 'Ada' and x = E'\\'Grace'", "select 1 where name = '…"],
    ['select $tag$Ada$tag$', "select '…"],
    ['select 1 /* Ada\nGrace */ from pets -- Ada\nlimit 1', 'select 1  from pets \nlimit 1'],
  ])('the strings and comments of %s', (sql, without) => {
    expect(withoutStrings(sql)).toBe(without);
  });

  test('a file that is a secret is known by its name, one that is missing is none', async () => {
    const env = {
      A_SECRET_FILE: plantedFile('a', 'from-a-file\n'),
      B_SECRET_FILE: '/nowhere',
      LOG_FILE: plantedFile('log', 'ordinary words'),
    };
    expect(secretsOf(await withSecretFiles(env), [])).toEqual(['from-a-file', 'from-a-file', 'from-a-file', 'from-a-file']);
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
