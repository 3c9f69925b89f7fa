import { describe, expect, test } from 'vitest';
import { createTestStore, openTestStore } from '../test-store.ts';
import { minutesAgo, recordUsage } from '../usage-steps.ts';
import { homeward, homewardJson } from './homeward-command.ts';
import { homewardOnTerminal } from './on-terminal.ts';

const getPet = 'GET /v1/pets/{petId}';
const noon = minutesAgo(10);
const store = await openTestStore();
const { env } = store;
const busy = await store.createKey({ client: 'Happy Tails', plan: 'free' });
const quiet = await store.createKey({ client: 'Happy Tails', plan: 'free' });
const unused = await store.createKey({ client: 'Happy Tails', plan: 'free' });
const other = await store.createKey({ client: 'Paws', plan: 'pro' });
// A name from before such characters were rejected.
await store.asOwner('update clients set name = $1 where id = $2', 'Paws \u001b[31m', other.clientId);
await recordUsage(store, busy, {
  at: noon,
  requests: 80,
  errors: { rate_limit_exceeded: 20, pet_not_found: 1 },
  deprecated: { [getPet]: 1 },
});
await recordUsage(store, busy, { at: minutesAgo(30), requests: 40 });
await recordUsage(store, quiet, { at: noon, requests: 10 });
await recordUsage(store, other, { at: minutesAgo(20), requests: 5, deprecated: { [getPet]: 2 } });

const run = (...args: string[]) => homeward(args, { env });

describe('homeward usage CLIENT', () => {
  test('sums up the client, its keys and its errors, without escape codes outside a terminal', async () => {
    const { status, stdout } = await run('usage', 'Happy Tails', '--since', '1h');
    expect(status).toBe(0);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toContain('Happy Tails (1), free: 60 requests a minute, 1,000 a day');
    expect(stdout).toContain('130 requests in the last 1h; 15% of them got a 429.');
    expect(stdout).toContain(`The busiest minute was ${noon.toISOString()}, with 90 (150% of the limit).`);
    expect(stdout).toMatch(/^60 .*┄+.* limit$/m);
    expect(stdout).toMatch(new RegExp(`^${busy?.id} +120 +17% +80 +${noon.toISOString()} +·*▄·*█·*$`, 'm'));
    expect(stdout).toMatch(new RegExp(`^${quiet?.id} +10 +0% +10 `, 'm'));
    expect(stdout).toMatch(/^rate_limit_exceeded +20 +15%\npet_not_found +1 +0.8%$/m);
    expect(stdout).toMatch(/^GET \/v1\/pets\/\{petId\} +1$/m);
  });

  test('--json has exact counts, the peak and the limits', async () => {
    expect(await homewardJson(['usage', 'Happy Tails'], env)).toMatchObject({
      client: 'Happy Tails',
      plan: 'free',
      limits: { perMinute: 60, perDay: 1_000 },
      requests: 130,
      limited: 20,
      peak: { requests: 90, at: noon.toISOString() },
      errors: [
        { code: 'rate_limit_exceeded', count: 20 },
        { code: 'pet_not_found', count: 1 },
      ],
      deprecated: [{ operation: getPet, count: 1 }],
      keys: [
        { keyId: Number(busy?.id), requests: 120, limited: 20 },
        { keyId: Number(quiet?.id), requests: 10, limited: 0 },
      ],
    });
  });

  test.each([40, 80, 200])('fits a terminal of %i columns', async (columns) => {
    const { status, text } = await homewardOnTerminal(['usage', 'Happy Tails'], { env, columns });
    expect(status).toBe(0);
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(columns);
    expect(text).toMatch(/┄ limit|█ limit/);
  });

  test('has colours on a terminal only, and none with NO_COLOR', async () => {
    const coloured = await homewardOnTerminal(['usage', 'Happy Tails'], { env });
    expect(coloured.output).toContain('\u001b[33m');
    expect((await homewardOnTerminal(['usage', 'Happy Tails'], { env: { ...env, NO_COLOR: '1' } })).output).not.toContain('\u001b[33m');
  });

  test('of a client without requests says so', async () => {
    await store.createKey({ client: 'Silent', plan: 'free' });
    expect((await run('usage', 'Silent')).stdout).toContain('It has sent no request in the last 24h.');
  });

  test.each([
    [['usage', 'Nobody'], `There is no client "Nobody".`],
    [['usage', '--since', '31d'], '--since must be from 1m to 30d, since usage is kept for 30 days; got "31d".'],
    [['usage', '--since', '30s'], 'got "30s"'],
    [['usage', '--since', 'today'], '"today" is not a duration'],
  ])('%j is exit status 2', async (args, words) => {
    const { status, stderr } = await run(...args);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(words) });
  });
});

describe('homeward usage', () => {
  test('lists the busiest clients, with control characters escaped', async () => {
    const { stdout } = await run('usage');
    const cells = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    expect(cells).toEqual([
      ['client', 'requests', 'errors', 'got 429', 'deprecated'],
      ['Happy Tails (1)', '130', '21', '15%', '1'],
      [expect.stringMatching(/^Paws \\u\{1b\}\[31m \(\d+\)$/), '5', '0', '0%', '2'],
    ]);
  });

  test('counts from the minute on that is given', async () => {
    expect(await homewardJson(['usage', '--since', '15m'], env)).toMatchObject([{ client: 'Happy Tails', requests: 90, limited: 20 }]);
    expect(await homewardJson(['usage', '--since', '30d'], env)).toMatchObject([{ requests: 130 }, { requests: 5 }]);
  });
});

describe('homeward deprecations', () => {
  test('lists who calls what, the last call and the day of the removal', async () => {
    const rows = await homewardJson(['deprecations'], env);
    expect(rows).toMatchObject([
      { client: 'Happy Tails', keyId: Number(busy?.id), operation: getPet, calls: 1, lastAt: noon.toISOString() },
      { keyId: Number(other?.id), operation: getPet, calls: 2, sunset: '2030-12-05T00:00:00.000Z' },
    ]);
    expect((await run('deprecations')).stdout).toMatch(/GET \/v1\/pets\/\{petId\} +1 +\S+Z +2030-12-05/);
  });

  test('says that there are none', async () => {
    await using empty = await createTestStore();
    const { stdout } = await homeward(['deprecations'], { env: empty.env });
    expect(stdout).toBe('Nobody has called a deprecated operation in the last 30 days.\n');
  });
});

test('homeward keys list shows when a key was last used', async () => {
  const listed = await homewardJson<Array<{ id: number; lastUsedAt: string | null }>>(['keys', 'list', '--client', 'Happy Tails'], env);
  expect(listed.map(({ id, lastUsedAt }) => [id, lastUsedAt])).toEqual([
    [Number(busy?.id), noon.toISOString()],
    [Number(quiet?.id), noon.toISOString()],
    [Number(unused?.id), null],
  ]);
  const { stdout } = await run('keys', 'list', '--client', 'Happy Tails');
  expect(stdout).toMatch(new RegExp(`^${unused?.id} .* not in 30 days  `, 'm'));
});
