import { expect, inject, test } from 'vitest';
import { cloneTemplate } from '../databases.ts';
import { createTestStore } from '../test-store.ts';
import { homeward, homewardJson } from './homeward-command.ts';

const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const key = expect.stringMatching(/^hw_live_[0-9A-Za-z]{38}$/);
const hint = expect.stringMatching(/^hw_live_[0-9A-Za-z]{3}…[0-9A-Za-z]{4}$/);
const usual = { suspendedAt: null, createdAt: instant };
const allButManage = ['pets:read', 'pets:write', 'orders:read', 'orders:write', 'applications:write', 'webhooks:manage'];

const env: Record<string, string> = { DATABASE_URL: await cloneTemplate(inject('postgresUrl')), REDIS_URL: inject('redisUrl') };

// The tests run in order: the output of a command depends on those before it.
test('keys create', async () => {
  const plain = await homewardJson(['keys', 'create', '--client', 'Paws', '--plan', 'free'], env);
  expect(plain).toEqual({ id: 1, clientId: expect.any(Number), shelterId: null, key, scopes: allButManage, expiresAt: null });
  const limits = ['--plan', 'enterprise', '--per-minute', '5', '--per-day', '50', '--open-orders', '7'];
  const chosen = await homewardJson(
    ['keys', 'create', '--client', 'Claws', ...limits, '--scopes', 'pets:read,store:manage', '--expires', '90d'],
    env,
  );
  expect(chosen).toEqual({
    id: 2,
    clientId: expect.any(Number),
    shelterId: null,
    key,
    scopes: ['pets:read', 'store:manage'],
    expiresAt: instant,
  });
});

test('clients list', async () => {
  expect(await homewardJson(['clients', 'list'], env)).toEqual([
    {
      id: expect.any(Number),
      name: 'Paws',
      plan: 'free',
      perMinute: 60,
      perDay: 1_000,
      openOrders: 20,
      newCategoriesPerDay: 20,
      ...usual,
      keys: 1,
    },
    {
      id: expect.any(Number),
      name: 'Claws',
      plan: 'enterprise',
      perMinute: 5,
      perDay: 50,
      openOrders: 7,
      newCategoriesPerDay: 10_000,
      ...usual,
      keys: 1,
    },
  ]);
});

test('clients set-plan', async () => {
  const set = await homewardJson(['clients', 'set-plan', 'Claws', '--plan', 'business'], env);
  expect(set).toEqual({
    id: expect.any(Number),
    name: 'Claws',
    plan: 'business',
    perMinute: 1_000,
    perDay: 100_000,
    openOrders: 500,
    newCategoriesPerDay: 500,
    ...usual,
  });
});

test('keys rotate', async () => {
  const rotated = await homewardJson(['keys', 'rotate', '2', '--overlap', '1h'], env);
  expect(rotated).toEqual({
    id: 3,
    clientId: expect.any(Number),
    shelterId: null,
    key,
    scopes: ['pets:read', 'store:manage'],
    expiresAt: instant,
    handedOver: [],
  });
});

test('keys revoke', async () => {
  const revoked = await homewardJson(['keys', 'revoke', '1'], env);
  expect(revoked).toEqual({ id: 1, clientId: expect.any(Number), revokedAt: instant, disabled: [], stillEnabled: [], everywhere: true });
});

test('keys list', async () => {
  const common = {
    clientId: expect.any(Number),
    shelterId: null,
    hint,
    createdAt: instant,
    suspendedAt: null,
    bannedUntil: null,
    lastUsedAt: null,
  };
  const managing = {
    ...common,
    client: 'Claws',
    plan: 'business',
    scopes: ['pets:read', 'store:manage'],
    expiresAt: instant,
    revokedAt: null,
  };
  expect(await homewardJson(['keys', 'list'], env)).toEqual([
    {
      ...common,
      id: 1,
      client: 'Paws',
      plan: 'free',
      state: 'revoked',
      scopes: allButManage,
      expiresAt: null,
      revokedAt: instant,
      replacedBy: null,
    },
    { ...managing, id: 2, state: 'replaced', replacedBy: 3 },
    { ...managing, id: 3, state: 'active', replacedBy: null },
  ]);
  expect(await homewardJson(['keys', 'list', '--client', 'Paws'], env)).toHaveLength(1);
  expect(await homewardJson(['keys', 'list', '--after', '2'], env)).toMatchObject([{ id: 3 }]);
});

test('bans list and bans lift', async () => {
  expect(await homewardJson(['bans', 'list'], env)).toEqual([]);
  expect(await homewardJson(['bans', 'lift', '3'], env)).toEqual({ id: 3, lifted: false });
});

test('clients suspend and resume', async () => {
  const suspended = await homewardJson(['clients', 'suspend', 'Claws'], env);
  expect(suspended).toEqual({ id: expect.any(Number), name: 'Claws', suspendedAt: instant, everywhere: true });
  const resumed = await homewardJson(['clients', 'resume', 'Claws'], env);
  expect(resumed).toEqual({ id: expect.any(Number), name: 'Claws', suspendedAt: null, everywhere: true });
  expect(await homeward(['clients', 'suspend', 'Nobody'], { env })).toMatchObject({
    status: 2,
    stderr: 'homeward: There is no client "Nobody". \'homeward clients list\' lists all.\n',
  });
});

test('categories prune', async () => {
  await using store = await createTestStore();
  const { env: there } = store;
  await store.write('insert into categories (id) values (-1), (-2)');
  expect(await homewardJson(['categories', 'prune'], there)).toEqual({ pruned: 2 });
  expect(await homeward(['categories', 'prune'], { env: there })).toMatchObject({ status: 0, stdout: 'Removed 0 unused categories.\n' });
});

test('orders erase and verify', async () => {
  await using store = await createTestStore();
  const { key: partner } = await store.createKey();
  await store.call('POST', '/v1/pets', { key: partner, body: { name: 'Biscuit', categoryId: 1 } });
  const adopter = { name: 'Ada Lovelace', email: 'ada@example.org' };
  const headers = { 'idempotency-key': 'once' };
  const placed = await store.call<{ id: number }>('POST', '/v1/store/orders', { key: partner, body: { petId: 1, adopter }, headers });
  const { env: there } = store;
  const byEmail = await homeward(['orders', 'erase', '--email', adopter.email, '--json'], { env: there });
  expect(byEmail).toMatchObject({ status: 1, stdout: expect.stringContaining(`{"orders":0,"answers":0,"open":[${placed.json.id}],`) });
  const erased = await homewardJson(['orders', 'erase', String(placed.json.id)], there);
  expect(erased).toEqual({ id: placed.json.id, erased: true, answers: 1, applications: [], keptApplications: [] });
  const client = await store.createKey({ client: 'Paws' });
  await store.call('POST', '/v1/pets', { key: partner, body: { name: 'Zoe', categoryId: 1 } });
  await store.call('POST', '/v1/store/orders', { key: client.key, body: { petId: 2, adopter } });
  expect(await homewardJson(['orders', 'cancel', '--client', 'Paws'], there)).toEqual({ cancelled: 1 });
  expect(await homewardJson(['orders', 'erase', '--email', 'ADA@example.org'], there)).toEqual({
    orders: 1,
    answers: 0,
    open: [],
    applications: 0,
    deleted: 0,
    openApplications: [],
    otherSpellings: [],
  });
  expect(await homewardJson(['verify'], there)).toEqual({ holds: true, rows: expect.any(Number), animals: 2, orders: 2, applications: 0 });
});

test('webhooks list and webhooks replay', async () => {
  await using store = await createTestStore();
  const { key, clientId } = await store.createKey();
  await store.call('POST', '/v1/webhooks', { key, body: { url: 'https://example.org/hooks' } });
  const { env: there } = store;
  const listed = [
    {
      id: 1,
      clientId: Number(clientId),
      client: 'client 1',
      url: 'https://example.org/hooks',
      status: 'enabled',
      failingSince: null,
      types: [],
    },
  ];
  expect(await homewardJson(['webhooks', 'list'], there)).toMatchObject(listed);
  expect(await homewardJson(['webhooks', 'list', '--client', '999'], there)).toEqual([]);
  expect(await homewardJson(['webhooks', 'replay', '1', '--failed'], there)).toEqual({ id: 1, count: 0 });
  expect(await homewardJson(['webhooks', 'disable', '1'], there)).toEqual({ id: 1, status: 'disabled' });
  expect(await homewardJson(['webhooks', 'enable', '1'], there)).toEqual({ id: 1, status: 'enabled' });
});

test('migrate', async () => {
  expect(await homewardJson(['migrate'], env)).toEqual({ applied: [] });
});

test('openapi needs neither PostgreSQL nor Redis', async () => {
  const { status, stdout } = await homeward(['openapi'], { env: { DATABASE_URL: 'postgres://127.0.0.1:1/none' } });
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ openapi: '3.1.0', info: { title: 'Homeward' }, paths: { '/pets': {} } });
});

test('without --json a list is a table for people, and contains no complete key', async () => {
  const { stdout } = await homeward(['keys', 'list'], { env });
  expect(stdout.split('\n')[0]).toMatch(/^id +client +plan +state +shelter +last used +key +scopes$/);
  expect(stdout).toMatch(/^1 +Paws \(\d+\) +free +revoked \d{4}-\S+Z +- +not in 30 days +hw_live_/m);
  expect(stdout).not.toMatch(/hw_live_[0-9A-Za-z]{38}/);
});
