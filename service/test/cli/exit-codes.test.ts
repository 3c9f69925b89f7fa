import { describe, expect, inject, test } from 'vitest';
import { cloneTemplate, createDatabase } from '../databases.ts';
import { type Finished, homeward } from './homeward-command.ts';

const nowhere = { DATABASE_URL: 'postgres://127.0.0.1:1/homeward', REDIS_URL: 'redis://127.0.0.1:1' };

const REDIS_URL = inject('redisUrl');
const migrated: Record<string, string> = { DATABASE_URL: await cloneTemplate(inject('postgresUrl')), REDIS_URL };
const empty: Record<string, string> = {
  DATABASE_URL: await createDatabase(inject('postgresUrl'), { name: `empty_${process.pid}_${Date.now()}` }),
  REDIS_URL,
};

describe('a mistake in the command line exits with 2 and says what is wrong, before anything is opened', () => {
  const create = ['keys', 'create', '--client', 'Shelter'];
  test.each<[args: string[], message: string]>([
    [['adopt'], "unknown command 'adopt'"],
    [['keys', 'adopt'], "unknown command 'adopt'"],
    [['keys', 'list', '--loud'], "unknown option '--loud'"],
    [['migrate', 'now'], "too many arguments for 'migrate'"],
    [['keys', 'create', '--plan', 'free'], "required option '--client <name>' not specified"],
    [[...create, '--plan', 'gold'], '--plan must be one of free, pro, business, enterprise; got "gold".'],
    [[...create, '--plan', 'enterprise'], 'The plan enterprise needs both --per-minute and --per-day.'],
    [[...create, '--plan', 'enterprise', '--per-minute', '5'], 'The plan enterprise needs both --per-minute and --per-day.'],
    [[...create, '--plan', 'enterprise', '--per-minute', '0', '--per-day', '5'], '"0" is not a count'],
    [[...create, '--plan', 'free', '--per-minute', '5'], 'The limits of the plan free are fixed'],
    [[...create, '--plan', 'free', '--scopes', 'pets:reed'], 'There is no scope "pets:reed"; choose from pets:read'],
    [[...create, '--plan', 'free', '--expires', 'soon'], '"soon" is not a duration; write 90d, 12h, 30m or 45s.'],
    [[...create, '--plan', 'free', '--expires', '0d'], '--expires 0 would create a key that never works.'],
    [[...create, '--per-minute', '5'], '--per-minute, --per-day, --open-orders and --new-categories need --plan enterprise.'],
    [['keys', 'rotate', '1', '--overlap', '1w'], '"1w" is not a duration'],
    [['pets', 'list', '--status', 'lost'], '--status must be one of available, pending, sold; got "lost".'],
    [['pets', 'list', '--limit', '0'], '--limit must be an integer from 1 to 1000; got "0".'],
    [['pets', 'list', '--limit', '1001'], '--limit must be an integer from 1 to 1000; got "1001".'],
    [['pets', 'show', 'Biscuit'], '"Biscuit" is not an id.'],
    [['pets', 'remove', '-1'], '"-1" is not an id.'],
    [['pets', 'photo', 'add', '1', 'biscuit.jpg'], "required option '--client <name>' not specified"],
    [['pets', 'add', '--category', 'Dogs'], "required option '--name <name>' not specified"],
    [['pets', 'add', '--name', ' ', '--category', 'Dogs'], '--name must be a string of 1–200 characters, not blank'],
    [['pets', 'add', '--name', 'Bis\u001bcuit', '--category', 'Dogs'], 'It contains U+001B.'],
    [
      ['orders', 'list', '--status', 'lost'],
      '--status must be one of placed, approved, completed, cancelled, expired, returned; got "lost".',
    ],
    [['orders', 'list', '--pet', 'Biscuit'], '"Biscuit" is not an id.'],
    [['orders', 'show', '0'], '"0" is not an id.'],
    [['orders', 'approve', '1e3'], '"1e3" is not an id.'],
    [['orders', 'cancel'], 'Give the id of an order, or --client, --email, or both.'],
    [['orders', 'cancel', '1', '--client', 'Paws'], 'Give the id of an order, or --client, --email, or both.'],
    [
      ['orders', 'place', '1', '--adopter', 'Ada', '--email', 'ada', '--client', 'Paws'],
      '--email must be an e-mail address of at most 254 characters, such as ada@example.org; got "ada".',
    ],
  ])('homeward %j: %s', async (args, message) => {
    expect(rejection(await homeward(args, { env: nowhere }))).toEqual(rejectedWith(2, message));
  });

  test.each<[name: string, value: string, message: string]>([
    ['PORT', 'eighty', 'PORT must be an integer from 0 to 65535; got "eighty".'],
    ['PORT', '65536', 'PORT must be an integer from 0 to 65535; got "65536".'],
    ['HOMEWARD_ENVIRONMENT', 'test', 'HOMEWARD_ENVIRONMENT must be one of production, staging; got "test".'],
    ['DATABASE_URL', 'homeward', 'DATABASE_URL must start with postgres://'],
    ['REDIS_URL', 'localhost:6379', 'REDIS_URL must start with redis://'],
    [
      'HOMEWARD_TRUSTED_PROXIES',
      '10.0.0.0/8,proxy',
      'HOMEWARD_TRUSTED_PROXIES must be a list of addresses or CIDR ranges, such as 10.0.0.0/8; got "proxy".',
    ],
  ])('homeward migrate with %s=%s', async (name, value, message) => {
    expect(rejection(await homeward(['migrate'], { env: { ...nowhere, [name]: value } }))).toEqual(rejectedWith(2, message));
  });
});

describe('what does not exist or is not allowed exits with 2', () => {
  test('keys create for a client that is on another plan', async () => {
    const first = await homeward(['keys', 'create', '--client', 'Paws', '--plan', 'free'], { env: migrated });
    expect(first.status).toBe(0);
    const second = await homeward(['keys', 'create', '--client', 'Paws', '--plan', 'pro'], { env: migrated });
    expect(rejection(second)).toEqual(
      rejectedWith(2, 'Client "Paws" has the plan free, not pro. Use \'homeward clients set-plan\' to change it, or leave out --plan.'),
    );
  });

  test.each<[args: string[], message: string]>([
    [
      ['keys', 'create', '--client', ' ', '--plan', 'free'],
      "A client's name must have 1–200 characters and must not be blank. This one has 1.",
    ],
    [['keys', 'create', '--client', 'x'.repeat(201), '--plan', 'free'], 'This one has 201.'],
    [['keys', 'rotate', '999'], 'There is no key 999.'],
    [['keys', 'revoke', '999'], 'There is no key 999.'],
    [['keys', 'revoke', 'Paws'], '"Paws" is not an id.'],
    [['bans', 'lift', '999'], 'There is no key 999.'],
    [['orders', 'erase', '999'], 'There is no order 999.'],
    [['applications', 'erase', '999'], 'There is no application 999.'],
    [['orders', 'show', '999'], "There is no order 999. 'homeward orders list' lists all."],
    [['orders', 'approve', '999'], 'There is no order 999.'],
    [['orders', 'complete', '999'], 'There is no order 999.'],
    [['orders', 'cancel', '999'], 'There is no order 999.'],
    [['orders', 'return', '999'], 'There is no order 999.'],
    [['applications', 'show', '999'], "There is no application 999. 'homeward applications list' lists all."],
    [['applications', 'accept', '999'], 'There is no application 999.'],
    [['applications', 'note', '999', 'Called.'], 'There is no application 999.'],
    [['orders', 'cancel', '--client', 'Nobody'], 'There is no client "Nobody".'],
    [['pets', 'show', '999'], "There is no animal 999. 'homeward pets list' lists all."],
    [['pets', 'remove', '999'], 'There is no animal 999.'],
    [['pets', 'describe', '999', '--sex', 'male'], 'There is no animal 999.'],
    [['pets', 'photo', 'list', '999'], 'There is no animal 999.'],
    [['pets', 'add', '--name', 'Smaug', '--category', 'Dragons'], 'There is no category "Dragons". There are Dogs (1), Cats (2), '],
    [['keys', 'list', '--client', 'Nobody'], 'There is no client "Nobody".'],
    [
      ['keys', 'create', '--client', 'Nobody'],
      'There is no client "Nobody". To create it, give a plan with --plan: free, pro, business, enterprise.',
    ],
    [['clients', 'set-plan', 'Nobody', '--plan', 'pro'], 'There is no client "Nobody".'],
  ])('homeward %j: %s', async (args, message) => {
    expect(rejection(await homeward(args, { env: migrated }))).toEqual(rejectedWith(2, message));
  });
});

describe('a failure outside the command exits with 1 and one line', () => {
  test.each([['serve'], ['migrate'], ['keys', 'list']])('homeward %s %s with no PostgreSQL at DATABASE_URL', async (...args) => {
    const rejected = await homeward(args, { env: nowhere });
    expect(rejection(rejected)).toEqual(
      rejectedWith(
        1,
        'PostgreSQL at 127.0.0.1:1, database "homeward": nothing is listening there. Is DATABASE_URL correct, and is PostgreSQL running?',
      ),
    );
  });

  test.each([['serve'], ['keys', 'list'], ['bans', 'list']])('homeward %s %s with a database that is not migrated', async (...args) => {
    expect(rejection(await homeward(args, { env: empty }))).toEqual(rejectedWith(1, "Run 'homeward migrate' first."));
  });

  test('homeward migrate with a database that does not exist', async () => {
    const env = { ...migrated, DATABASE_URL: inject('postgresUrl').replace(/[^/]*$/, 'never_created') };
    expect(rejection(await homeward(['migrate'], { env }))).toEqual(
      rejectedWith(1, 'database "never_created": the database does not exist. Create it, or correct DATABASE_URL.'),
    );
  });

  test('homeward bans list without Redis', async () => {
    const env = { ...migrated, REDIS_URL: nowhere.REDIS_URL };
    expect(rejection(await homeward(['bans', 'list'], { env }))).toEqual(
      rejectedWith(
        1,
        'Redis at 127.0.0.1:1: nothing is listening there. Start Redis, or correct REDIS_URL. Meanwhile each process counts limits by itself.',
      ),
    );
  });

  test('homeward serve on a port that is in use exits, and does not stay without listening', async () => {
    const taken = new URL(inject('redisUrl')).port;
    const rejected = await homeward(['serve'], { env: { ...migrated, PORT: taken, LOG_LEVEL: 'silent' } });
    expect(rejection(rejected)).toEqual(rejectedWith(1, `Port ${taken} on 127.0.0.1 is already in use. Set PORT to another port.`));
  });
});

/** The output of a rejected command, without the hint to --help that commander adds. */
function rejection({ status, stdout, stderr }: Finished): { status: number | null; stdout: string; lines: string[] } {
  const lines = stderr.trimEnd().split('\n');
  return { status, stdout, lines: lines.filter((line) => line !== 'Add --help for usage.') };
}

/** One line, without a stack trace. */
const rejectedWith = (status: 1 | 2, message: string) => ({ status, stdout: '', lines: [expect.stringContaining(message)] });
