import { describe, expect, test } from 'vitest';
import { openTestStore } from '../test-store.ts';
import { homeward, homewardJson } from './homeward-command.ts';

interface ListedKey {
  readonly id: number;
  readonly client: string;
  readonly plan: string;
  readonly state: string;
  readonly bannedUntil: string | null;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

const store = await openTestStore();
const { env } = store;

const run = (...args: string[]) => homeward(args, { env });

/** The rows of a table, cut into cells. */
const cellsOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));

describe('keys list shows the plan and the state', () => {
  const instant = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

  test('of active, expiring, expired, revoked, rotated, banned and suspended keys', async () => {
    const client = 'Happy Tails';
    const plan = 'free' as const;
    const active = await store.createKey({ client, plan });
    const expiring = await store.createKey({ client, plan, expiresAt: new Date(Date.now() + 90 * dayMs) });
    const expired = await store.createKey({ client, plan, expiresAt: new Date(Date.now() - dayMs) });
    const revoked = await store.createKey({ client, plan });
    const rotated = await store.createKey({ client, plan });
    const banned = await store.createKey({ client, plan });
    const suspended = await store.createKey({ client: 'Closed', plan: 'pro' });
    await run('keys', 'revoke', String(revoked.id));
    const successor = await homewardJson<{ id: number }>(['keys', 'rotate', String(rotated.id), '--overlap', '1h'], env);
    await run('clients', 'suspend', 'Closed');
    const until = await ban(banned);

    const listed = await homewardJson<ListedKey[]>(['keys', 'list'], env);
    expect(listed.map(({ id, client: name, plan: named, state, bannedUntil }) => [id, name, named, state, bannedUntil])).toEqual([
      [Number(active.id), client, 'free', 'active', null],
      [Number(expiring.id), client, 'free', 'active', null],
      [Number(expired.id), client, 'free', 'expired', null],
      [Number(revoked.id), client, 'free', 'revoked', null],
      [Number(rotated.id), client, 'free', 'replaced', null],
      [Number(banned.id), client, 'free', 'banned', until],
      [Number(suspended.id), 'Closed', 'pro', 'suspended', null],
      [successor.id, client, 'free', 'active', null],
    ]);

    const { stdout, stderr } = await run('keys', 'list');
    const states = cellsOf(stdout).map(([, name, named, state = '']) => [name, named, state.replaceAll(instant, '…')]);
    const label = `${client} (${active.clientId})`;
    expect(states).toEqual([
      ['client', 'plan', 'state'],
      [label, 'free', 'active'],
      [label, 'free', 'active (expires …)'],
      [label, 'free', 'expired …'],
      [label, 'free', 'revoked …'],
      [label, 'free', `replaced by key ${successor.id} (ends …)`],
      [label, 'free', 'banned (ends …)'],
      [`Closed (${suspended.clientId})`, 'pro', 'suspended …'],
      [label, 'free', 'active'],
    ]);
    expect(stderr).toBe('');
    expect(await homewardJson(['keys', 'list', '--client', 'Closed'], env)).toMatchObject([{ id: Number(suspended.id) }]);

    const [, ofBan] = cellsOf((await run('bans', 'list')).stdout);
    expect(ofBan).toEqual([String(banned.id), label, until, '1']);
  });

  test('without bans if Redis does not respond, and says so', async () => {
    const { status, stdout, stderr } = await homeward(['keys', 'list'], { env: { ...env, REDIS_URL: 'redis://127.0.0.1:1' } });
    expect({ status, stderr }).toEqual({ status: 0, stderr: 'homeward: Redis does not respond, so bans are not shown.\n' });
    expect(stdout).not.toContain('banned');
  });

  /** As consume.lua stores it, without a hundred requests. */
  async function ban({ id, clientId }: { id: bigint; clientId: bigint }): Promise<string> {
    const { redis, redisKeys } = store.dependencies;
    const until = Date.now() + 5 * minuteMs;
    const state = redisKeys.banState(`c${clientId}:${id}`);
    await redis.client.multi().set(state, `0 0 0 0 ${until} 1 ${until}`).zadd(redisKeys.bans, until, state).exec();
    return new Date(until).toISOString();
  }
});

describe('keys create for an existing client', () => {
  test('needs no --plan, and leaves the plan as it is', async () => {
    await store.createKey({ client: 'Growing', plan: 'business' });
    expect((await run('keys', 'create', '--client', 'Growing')).status).toBe(0);
    expect(await homewardJson(['keys', 'list', '--client', 'Growing'], env)).toMatchObject([{ plan: 'business' }, { plan: 'business' }]);
  });

  test('with another plan is rejected with 2, and creates no key', async () => {
    const { status, stderr } = await run('keys', 'create', '--client', 'Growing', '--plan', 'pro');
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: `homeward: Client "Growing" has the plan business, not pro. Use 'homeward clients set-plan' to change it, or leave out --plan.\n`,
    });
    expect(await homewardJson(['keys', 'list', '--client', 'Growing'], env)).toHaveLength(2);
  });
});

test('keys list among 100,000 keys prints the first 1,000, says how to go on, and finds those of one client', async () => {
  await store.createKey({ client: "Many 'Tails'", plan: 'free' });
  // By SQL: a hundred thousand commands would take a day.
  const insert = `insert into api_keys (client_id, hash, hint, scopes)
    select clients.id, sha256(n::text::bytea), 'hw_live_…', '{pets:read}' from generate_series(1, 100000) as n, clients where clients.name = $1`;
  await store.asOwner(insert, "Many 'Tails'");
  const last = await store.createKey({ client: 'Last', plan: 'free' });
  const first = await homewardJson<ListedKey[]>(['keys', 'list'], env);
  expect(first).toHaveLength(1_000);
  expect((await run('keys', 'list')).stdout).toContain(`\n\nMore follow: homeward keys list --after ${first.at(-1)?.id}\n`);
  expect(await homewardJson(['keys', 'list', '--client', 'Last'], env)).toMatchObject([{ id: Number(last.id) }]);
  expect(await homewardJson(['keys', 'list', '--after', String(last.id - 1n)], env)).toMatchObject([{ id: Number(last.id) }]);
  const ofMany = await run('keys', 'list', '--client', "Many 'Tails'");
  expect(ofMany.stdout).toMatch(/\n\nMore follow: homeward keys list --client 'Many '\\''Tails'\\''' --after \d+\n$/);
});
