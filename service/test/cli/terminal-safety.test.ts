import { describe, expect, inject, test } from 'vitest';
import { cloneTemplate, executeAsOwner } from '../databases.ts';
import { homeward } from './homeward-command.ts';
import { homewardOnTerminal } from './on-terminal.ts';

/**
 * Clears the screen and sets a title, with C0 and C1; forges a row; reverses text; hides text. Without NUL, which PostgreSQL can't
 * store.
 */
const hostile = 'Paws\u001b[2J\u001b]0;owned\u0007\u009b31m\r\n2   Forged  enterprise\u202egnp.exe\u2066\u200f\u2028\u007f';
/** Every character that a terminal acts on, except the line feed that ends a line. */
const unsafe = /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;

const env: Record<string, string> = { DATABASE_URL: await cloneTemplate(inject('postgresUrl')), REDIS_URL: inject('redisUrl') };
// By SQL, like rows that were stored before such text was rejected.
const { DATABASE_URL: url = '' } = env;
await executeAsOwner(url, "insert into clients (id, name, plan) overriding system value values (1, $1, 'free')", [hostile]);
await executeAsOwner(
  url,
  "insert into api_keys (id, client_id, hash, hint, scopes) overriding system value values (1000, 1, sha256('x'), $1, '{pets:read}')",
  [hostile],
);
const insertWebhook = `insert into webhooks (id, client_id, url, types, description, with_orders, secret)
    overriding system value values (1000, 1, $1, '{}', $1, false, 'whsec_x')`;
await executeAsOwner(url, insertWebhook, [hostile]);
await executeAsOwner(url, 'insert into categories (id, name) values (1000, $1)', [hostile]);
await executeAsOwner(url, "insert into pets (name, category_id, status) values ($1, 1000, 'pending'), ($1, 1000, 'available')", [hostile]);
const insertOrder = `insert into orders (client_id, pet_id, adopter_name, adopter_email, expires_at)
    values (1, 1, $1, $1, now() + interval '1 day')`;
await executeAsOwner(url, insertOrder, [hostile]);
await executeAsOwner(
  url,
  `insert into history (pet_id, order_id, from_status, to_status, why) values (1, null, null, 'available', $1), (1, 1, null, 'placed', $1),
      (1, null, 'available', 'pending', $1), (2, null, null, 'available', $1)`,
  [hostile],
);

describe('stored text with control characters and overrides is escaped on a terminal', () => {
  test.each<[args: string[], status: number, shows: string | undefined]>([
    [['clients', 'list'], 0, 'Paws\\u{1b}[2J'],
    [['clients', 'list', '--json'], 0, 'Paws\\u001b[2J'],
    [['keys', 'list'], 0, 'Paws\\u{1b}[2J'],
    [['keys', 'list', '--client', '<name>'], 0, 'Paws\\u{1b}[2J'],
    [['keys', 'list', '--json'], 0, 'Paws\\u001b[2J'],
    [['webhooks', 'list'], 0, 'Paws\\u{1b}[2J'],
    [['webhooks', 'list', '--json'], 0, '\\u202egnp.exe'],
    [['keys', 'create', '--client', '<name>', '--plan', 'pro'], 2, 'Client "Paws\\u{1b}[2J'],
    [['keys', 'create', '--client', '<name>', '--plan', 'free'], 0, undefined],
    [['clients', 'set-plan', '<name>', '--plan', 'pro'], 0, 'Paws\\u{1b}[2J'],
    [['clients', 'set-plan', '<name>', '--plan', 'pro', '--json'], 0, 'Paws\\u001b[2J'],
    [['clients', 'set-plan', 'no <name>', '--plan', 'pro'], 2, 'no Paws\\u{1b}[2J'],
    [['keys', 'revoke', '1000'], 0, 'Paws\\u{1b}[2J'],
    [['keys', 'revoke', '<name>'], 2, 'Paws\\u{1b}[2J'],
    [['keys', 'rotate', '1000'], 2, undefined],
    [['webhooks', 'replay', '1000', '--failed'], 0, undefined],
    [['bans', 'list'], 0, undefined],
    [['bans', 'lift', '1000'], 0, undefined],
    [['orders', 'erase', '<name>'], 2, 'Paws\\u{1b}[2J'],
    [['pets', 'list'], 0, 'Paws\\u{1b}[2J'],
    [['pets', 'list', '--json'], 0, 'Paws\\u001b[2J'],
    [['pets', 'list', '--category', '<name>'], 0, 'Paws\\u{1b}[2J'],
    [['pets', 'list', '--category', 'no <name>'], 2, 'no Paws\\u{1b}[2J'],
    [['pets', 'list', '--status', '<name>'], 2, 'Paws\\u{1b}[2J'],
    [['pets', 'show', '1'], 0, 'Paws\\u{1b}[2J'],
    [['pets', 'show', '1', '--json'], 0, 'Paws\\u001b[2J'],
    [['pets', 'show', '<name>'], 2, 'Paws\\u{1b}[2J'],
    [['pets', 'add', '--name', '<name>', '--category', '1'], 2, 'Paws\\u001b[2J'],
    [['pets', 'add', '--name', 'Biscuit', '--category', '<name>'], 0, 'Paws\\u{1b}[2J'],
    [['pets', 'remove', '1'], 2, 'Paws\\u{1b}[2J'],
    [['pets', 'remove', '2'], 0, 'Paws\\u{1b}[2J'],
    [['orders', 'list'], 0, 'Paws\\u{1b}[2J'],
    [['orders', 'list', '--json'], 0, 'Paws\\u001b[2J'],
    [['orders', 'show', '1'], 0, 'Paws\\u{1b}[2J'],
    [['orders', 'show', '1', '--json'], 0, 'Paws\\u001b[2J'],
    [['orders', 'place', '1', '--adopter', 'Ada', '--email', 'ada@example.org', '--client', '<name>'], 2, 'Paws\\u{1b}[2J'],
    [['orders', 'place', '1', '--adopter', '<name>', '--email', 'ada@example.org', '--client', '<name>'], 2, 'Paws\\u001b[2J'],
    [['orders', 'place', '1', '--adopter', 'Ada', '--email', 'ada@example.org', '--client', 'no <name>'], 2, 'no Paws\\u{1b}[2J'],
    [['orders', 'approve', '1'], 0, 'Paws\\u{1b}[2J'],
    [['orders', 'complete', '1', '--json'], 0, 'Paws\\u001b[2J'],
    [['orders', 'return', '1'], 0, 'Paws\\u{1b}[2J'],
    [['orders', 'cancel', '<name>'], 2, 'Paws\\u{1b}[2J'],
    [['verify'], 0, undefined],
  ])('homeward %j', async (args, expected, shows = '') => {
    const { status, stdout, stderr } = await homeward(
      args.map((arg) => arg.replace('<name>', hostile)),
      { env },
    );
    expect({ status, unsafe: unsafe.exec(stdout + stderr)?.[0] ?? null }).toEqual({ status: expected, unsafe: null });
    expect(stdout + stderr).toContain(shows);
  });

  test('a line feed in a name adds no row, and columns fit the escaped text', async () => {
    const { stdout } = await homeward(['clients', 'list'], { env });
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]?.indexOf('plan')).toBe(lines[1]?.indexOf('pro  '));
  });

  test('--json prints the stored value', async () => {
    const { stdout } = await homeward(['clients', 'list', '--json'], { env });
    expect(JSON.parse(stdout)).toMatchObject([{ name: hostile }]);
  });
});

test.each<[args: string[]]>([
  [['clients', 'list']],
  [['keys', 'list']],
  [['webhooks', 'list']],
  [['keys', 'revoke', '1000']],
  [['clients', 'suspend', hostile]],
])('on a real terminal only our own colours reach it: homeward %j', async (args) => {
  const { output } = await homewardOnTerminal(args, { env, columns: 120, typed: [{ after: '[y/N] ', keys: 'n\r' }] });
  expect(output).toContain('Paws\\u{1b}[2J');
  // Colours, and how readline redraws the line of a question.
  const ours = new RegExp(`${String.fromCharCode(0x1b)}\\[(\\d+m|\\d+G|0J)|\\r`, 'g');
  const rest = output.replaceAll(ours, '');
  expect(unsafe.exec(rest)?.[0] ?? null).toBeNull();
});

test('a new client whose name contains ESC is rejected with 2', async () => {
  const { status, stderr } = await homeward(['keys', 'create', '--client', 'Claws\u001b[2J', '--plan', 'free'], { env });
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('This one contains U+001B.') });
});
