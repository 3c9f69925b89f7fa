// Real Sentinels, and a real failover of Redis while `serve` runs on.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type CuttableProxy, startCuttableProxy } from '../../../testkit/cuttable-proxy.ts';
import { HttpClient } from '../../../testkit/http.ts';
import { plantMutant } from '../../../testkit/mutant.ts';
import { freePort, type PrivateServer, startPostgres, startRedis, startSentinel } from '../../../testkit/servers.ts';
import { SteadyLoad } from '../../../testkit/steady-load.ts';
import { Store } from '../../../testkit/store.ts';
import { askRedis, startWatchedRedis } from '../../../testkit/watched-redis.ts';
import type { Finding } from '../../src/operations/doctor/finding.ts';
import { homeward } from '../cli/homeward-command.ts';

const sentinelPassword = 'sesame-street';
const unlimited = { perMinute: 1_000_000, perDay: 1_000_000 };
const opened = new AsyncDisposableStack();
let env: Record<string, string>;
const postgres = opened.use(await startPostgres());
const watched = opened.use(await startWatchedRedis({ sentinelPassword }));
env = { DATABASE_URL: postgres.url, REDIS_URL: watched.url(), REDIS_SENTINEL_PASSWORD: sentinelPassword };
afterAll(() => opened.disposeAsync());

/** Of a store whose processes use this Redis. */
const openStore = (redisEnv: Record<string, string>, processes: number, root?: string) =>
  Store.open({ processes, env: redisEnv, beside: { postgres, redis: watched.servers[0] as PrivateServer }, root });

const lostCount = (store: Store) => store.processes.map(({ log }) => log().split('"Redis lost').length - 1);
const areReady = async (store: Store, http: HttpClient) => {
  const bodies = await Promise.all(store.processes.map(({ url }) => http.send(new URL('/readyz', url).href).then(({ text }) => text)));
  return bodies.every((text) => text.includes('"redis":true'));
};

describe('The primary of Redis is killed, and serve runs on', () => {
  const limit = 20;
  let store: Store;
  let http: HttpClient;
  beforeAll(async () => {
    store = opened.use(await openStore(env, 2));
    http = opened.use(new HttpClient(64));
  });

  /** Requests of a new client that are admitted by all processes together, within one minute. */
  async function countAdmitted(name: string): Promise<number> {
    const { key } = await store.createKey(name, { perMinute: limit, perDay: 1_000 });
    if (Date.now() % 60_000 > 45_000) await sleep(60_000 - (Date.now() % 60_000));
    let admitted = 0;
    for (let i = 0; i < limit * 2; i += 1) {
      const { status } = await http.send(`${store.processes[i % 2]?.url}/pets?limit=1`, { key });
      if (status === 200) admitted += 1;
    }
    return admitted;
  }

  test('no response is 5xx, Redis is lost once, and limits are exact again within 5 s', async () => {
    const { key } = await store.createKey('steady', unlimited);
    const sendTo = (i: number) =>
      http.send(`${store.processes[i % 2]?.url}/pets${i % 5 ? '?limit=1' : ''}`, {
        key,
        ...(i % 5 === 0 && { method: 'POST', body: { name: 'Rex', categoryId: 1 } }),
      });
    await vi.waitUntil(() => areReady(store, http));
    const load = new SteadyLoad(40, sendTo);
    await sleep(300);
    const before = lostCount(store);
    const killedMs = Date.now();
    const killed = await watched.primary();
    await killed.signal('SIGKILL');
    await vi.waitUntil(async () => !(await areReady(store, http)), { interval: 5 });
    await vi.waitUntil(async () => (await watched.primary()) !== killed, { timeout: 60_000, interval: 20 });
    expect(lostCount(store).map((count, i) => count - (before[i] ?? 0))).toEqual([1, 1]);
    // If two Sentinels stand for election at once, neither wins, and they try again some seconds later.
    const electedMs = Math.max(Date.now(), killedMs + 3_000);
    await vi.waitUntil(() => areReady(store, http), { timeout: 20_000, interval: 20 });
    expect(Date.now() - electedMs).toBeLessThan(2_000);
    const samples = await load.stop();
    expect(samples.filter(({ response }) => !response || response.status >= 500)).toEqual([]);
    expect(await watched.primary()).not.toBe(killed);
    expect(await countAdmitted('after the failover')).toBe(limit);
    await watched.heal();
  });
});

describe('Commands with Sentinels', () => {
  const find = async (further: Record<string, string> = {}) => {
    const { stdout } = await homeward(['doctor', '--json'], { env: { ...env, ...further } });
    const { findings } = JSON.parse(stdout) as { findings: readonly Finding[] };
    return (check: Finding['check']) => findings.filter((finding) => finding.check === check);
  };

  test('find the primary, and doctor names it, the Sentinels and the replicas', async () => {
    expect(await homeward(['bans', 'list'], { env })).toMatchObject({ status: 0 });
    const found = await find();
    const { port } = await watched.primary();
    const places = watched.sentinels.map((sentinel) => `127.0.0.1:${sentinel.port}`);
    expect(found('redis')).toMatchObject([{ severity: 'ok', found: expect.stringMatching(`^Redis at 127.0.0.1:${port}: version`) }]);
    expect(found('redis-sentinels')).toEqual([
      {
        check: 'redis-sentinels',
        severity: 'ok',
        found: `The primary "homeward" is 127.0.0.1:${port}, as the Sentinels at ${places[0]}, ${places[1]} and ${places[2]} say.`,
      },
    ]);
    expect(found('redis-replicas')).toMatchObject([
      { severity: 'ok', found: '2 replicas follow the primary. It rejects writes if fewer than 1 do, for 2 s.' },
    ]);
    expect(found('redis-role')).toEqual([]);
  });

  test('doctor warns if min-replicas-to-write is not set, and of a Sentinel that does not reply', async () => {
    const { port } = await watched.primary();
    const [first, second] = watched.sentinels as [PrivateServer, PrivateServer];
    const setMinReplicas = (count: string) => askRedis(port, undefined, (client) => client.config('SET', 'min-replicas-to-write', count));
    await setMinReplicas('0');
    await second.signal('SIGSTOP');
    try {
      const found = await find({ REDIS_URL: watched.url([first.port, second.port]) });
      expect(found('redis-replicas')).toMatchObject([
        {
          severity: 'warning',
          found: expect.stringContaining('min-replicas-to-write is not set: a primary that is cut off'),
          fix: 'Set min-replicas-to-write 1 and min-replicas-max-lag 2 on every Redis server.',
        },
      ]);
      expect(found('redis-sentinels')).toMatchObject([
        {
          severity: 'warning',
          found: `The primary "homeward" is 127.0.0.1:${port}, as the Sentinel at 127.0.0.1:${first.port} says. The one at 127.0.0.1:${second.port} does not reply within 300 ms.`,
        },
      ]);
    } finally {
      await second.signal('SIGCONT');
      await setMinReplicas('1');
    }
  });

  test('doctor says in one line that ROLE is not permitted', async () => {
    await using managed = await startRedis({ settings: { user: 'default on nopass ~* &* +@all -role' } });
    const found = await find({ REDIS_URL: managed.url });
    expect(found('redis')).toMatchObject([{ severity: 'ok' }]);
    expect(found('redis-role')).toMatchObject([{ severity: 'note', found: expect.stringMatching(/^This Redis does not permit ROLE: /) }]);
    expect(found('redis-sentinels')).toEqual([]);
  });

  test.each([
    ['wrong', 'not the one', /the Sentinel at \S+ rejects REDIS_SENTINEL_PASSWORD/],
    ['missing', '', /the Sentinel at \S+ demands a password: set REDIS_SENTINEL_PASSWORD/],
  ])('a %s password of the Sentinels is named, and never shown', async (_, password, message) => {
    const further = { REDIS_SENTINEL_PASSWORD: password };
    const { status, stderr } = await homeward(['bans', 'list'], { env: { ...env, ...further } });
    expect([status, stderr]).toEqual([1, expect.stringMatching(message)]);
    const found = await find(further);
    expect(found('redis')).toMatchObject([{ severity: 'broken', found: expect.stringMatching(message) }]);
    expect(stderr + JSON.stringify(found('redis'))).not.toContain(password || sentinelPassword);
  });

  test('the support bundle has the Sentinels, and none of the passwords', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'homeward-bundle-'));
    opened.defer(() => rmSync(folder, { recursive: true }));
    const secret = path.join(folder, 'password');
    writeFileSync(secret, `${sentinelPassword}\n`);
    const { REDIS_SENTINEL_PASSWORD: _, ...without } = env;
    const bundleEnv = { ...without, REDIS_URL: watched.url().replace('//', '//:open-says-me@'), REDIS_SENTINEL_PASSWORD_FILE: secret };
    const output = path.join(folder, 'bundle.md');
    expect(await homeward(['support-bundle', '--output', output], { env: bundleEnv })).toMatchObject({ status: 0 });
    const bundle = readFileSync(output, 'utf8');
    expect(bundle).toContain('REDIS_URL: Redis "homeward" of the Sentinels at 127.0.0.1:');
    expect(bundle).toContain('REDIS_SENTINEL_PASSWORD_FILE: set');
    expect(bundle).toContain('connected_slaves: 2');
    expect(bundle).not.toContain(sentinelPassword);
    expect(bundle).not.toContain('open-says-me');
  });
});

describe('A primary behind an address becomes a replica, and its connections stay open', () => {
  const notLeft = [{ file: 'platform/redis/redis-link.ts', from: '          if (isNoPrimaryNow(error)) this.#leave();\n', to: '' }];

  async function replacePrimary(root?: string): Promise<{ proxy: CuttableProxy; isUsedAgain: (timeout: number) => Promise<boolean> }> {
    const [old, next] = [opened.use(await startRedis()), opened.use(await startRedis({ settings: { 'shutdown-timeout': '0' } }))];
    const proxy = opened.use(await startCuttableProxy(old.port));
    const store = opened.use(await openStore({ REDIS_URL: `redis://127.0.0.1:${proxy.port}` }, 1, root));
    const http = opened.use(new HttpClient(8));
    await vi.waitUntil(() => areReady(store, http));
    proxy.redirectNew(next.port);
    await askRedis(old.port, undefined, (client) => client.replicaof('127.0.0.1', next.port));
    await vi.waitUntil(async () => !(await areReady(store, http)), { timeout: 2_000, interval: 5 });
    const isUsedAgain = (timeout: number) =>
      vi
        .waitUntil(() => areReady(store, http), { timeout, interval: 10 })
        .then(
          () => true,
          () => false,
        );
    return { proxy, isUsedAgain };
  }

  test('serve uses the new primary within 2 s', async () => {
    const { isUsedAgain } = await replacePrimary();
    expect(await isUsedAgain(2_000)).toBe(true);
  });

  test('a mutant that ignores READONLY stays without Redis', async () => {
    using tree = plantMutant(notLeft);
    const { isUsedAgain } = await replacePrimary(tree.root);
    expect(await isUsedAgain(4_000)).toBe(false);
  });
});

describe('rediss+sentinel://', () => {
  let env: Record<string, string>;
  let sentinel: PrivateServer;
  const checksOf = async (url: string) => {
    const { stdout } = await homeward(['doctor', '--json'], { env: { ...env, REDIS_URL: url } });
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    return findings
      .filter(({ check }) => check === 'redis' || check === 'redis-sentinels')
      .map(({ severity, found }) => `${severity}: ${found}`);
  };
  beforeAll(async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'homeward-tls-'));
    opened.defer(async () => rmSync(folder, { recursive: true }));
    const [key, certificate] = [path.join(folder, 'key.pem'), path.join(folder, 'certificate.pem')];
    const request = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '1',
      '-subj',
      '/CN=redis',
    ];
    execFileSync('openssl', [...request, '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate], {
      stdio: 'ignore',
    });
    const tls = {
      'tls-cert-file': certificate,
      'tls-key-file': key,
      'tls-ca-cert-file': certificate,
      'tls-auth-clients': 'no',
      'tls-replication': 'yes',
    };
    const [redisPort, sentinelPort] = [await freePort(), await freePort()];
    opened.use(await startRedis({ settings: { ...tls, 'tls-port': String(redisPort), requirepass: 'sesame' } }));
    sentinel = opened.use(
      await startSentinel([
        `tls-port ${sentinelPort}`,
        ...Object.entries(tls).map(([name, value]) => `${name} ${value}`),
        `sentinel monitor homeward 127.0.0.1 ${redisPort} 1`,
        'sentinel auth-pass homeward sesame',
      ]),
    );
    env = {
      DATABASE_URL: postgres.url,
      NODE_EXTRA_CA_CERTS: certificate,
      TLS_URL: `rediss+sentinel://:sesame@127.0.0.1:${sentinelPort}/homeward`,
    };
  });

  test('reaches the Sentinels and the servers by TLS', async () => {
    expect(await checksOf(env['TLS_URL'] ?? '')).toEqual([
      expect.stringMatching(/^ok: Redis at 127\.0\.0\.1:\d+: version 7/),
      expect.stringMatching(/^ok: The primary "homeward" is 127\.0\.0\.1:\d+, as the Sentinel at 127\.0\.0\.1:\d+ says\.$/),
    ]);
  });

  test('says so if the Sentinels have no TLS, or a certificate that is not trusted', async () => {
    const [plain] = await checksOf(`rediss+sentinel://:sesame@127.0.0.1:${sentinel.port}/homeward`);
    expect(plain).toMatch(/^broken: .*does not reply within 300 ms, by TLS: without it, REDIS_URL begins with redis\+sentinel:/);
    env = { ...env, NODE_EXTRA_CA_CERTS: '' };
    const [untrusted] = await checksOf(env['TLS_URL'] ?? '');
    expect(untrusted).toMatch(/^broken: .*has a certificate that is not trusted \(.+\): set NODE_EXTRA_CA_CERTS/);
  });
});
