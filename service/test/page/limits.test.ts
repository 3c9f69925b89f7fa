import { describe, expect, test } from 'vitest';
import { SeededRandom } from '../../../testkit/seeded-random.ts';
import { addPet } from '../adoption-steps.ts';
import { submit } from '../application-steps.ts';
import { ManualClock } from '../manual-clock.ts';
import { openTestStore } from '../test-store.ts';
import { alteredTokens } from './altered-tokens.ts';
import { manyAddresses, pathTo, press, visit, wordsOf } from './page-steps.ts';

const clock = new ManualClock('2026-12-01T12:00:20Z');
const store = await openTestStore({ env: manyAddresses, clock });
const partner = await store.createKey();
const { id } = await submit(store, partner, (await addPet(store, partner)).id);
const link = pathTo(store, id);

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
const statuses = async (count: number, one: (i: number) => Promise<{ status: number }>) => {
  const found: number[] = [];
  for (let i = 0; i < count; i += 1) found.push((await one(i)).status);
  return found;
};

describe('An address', () => {
  test('gets 60 pages a minute, and then one that says how long to wait', async () => {
    expect(await statuses(60, () => visit(store, link, from('192.0.2.1')))).toEqual(Array(60).fill(200));
    const { status, headers, text } = await visit(store, link, from('192.0.2.1'));
    expect([status, headers['retry-after'], headers['content-type']]).toEqual([429, '40', 'text/html; charset=utf-8']);
    expect(wordsOf(text)).toContain('Please wait a moment');
    expect(wordsOf(text)).toContain('Try again in 40 seconds.');
    expect((await visit(store, link, from('192.0.2.2'))).status).toBe(200);
    clock.advance(60_000);
    expect((await visit(store, link, from('192.0.2.1'))).status).toBe(200);
  });

  test('of IPv6 is a /64', async () => {
    await statuses(60, (i) => visit(store, link, from(`2001:db8:0:1::${i.toString(16)}`)));
    expect((await visit(store, link, from('2001:db8:0:1:ffff::1'))).status).toBe(429);
    expect((await visit(store, link, from('2001:db8:0:2::1'))).status).toBe(200);
  });

  test('is counted for links that lead nowhere, for other methods and for buttons too', async () => {
    const requests = [
      () => visit(store, `${link}0`, from('192.0.2.3')),
      () => visit(store, link, { method: 'PUT', ...from('192.0.2.3') }),
      () => press(store, `${link}/erase`, { 'sec-fetch-site': 'cross-site', ...from('192.0.2.3').headers }),
    ];
    const found = await statuses(60, (i) => (requests[i % 3] as (typeof requests)[number])());
    expect(new Set(found)).toEqual(new Set([404, 405, 403]));
    expect((await visit(store, link, from('192.0.2.3'))).status).toBe(429);
  });
});

test('2,000 altered tokens are 404, and cost PostgreSQL nothing', async () => {
  const statements: string[] = [];
  store.dependencies.db.watchStatements(({ name, text }) => {
    statements.push(name ?? text);
    return undefined;
  });
  const tokens = alteredTokens(store.dependencies.pageTokens, new SeededRandom(2), 2_000).filter(({ text }) => !/[\s\0]/.test(text));
  const accepted: string[] = [];
  await Promise.all(
    Array.from({ length: 20 }, async (_, worker) => {
      for (let i = worker; i < tokens.length; i += 20) {
        const { how, text } = tokens[i] as (typeof tokens)[number];
        const { status } = await visit(store, `/a/${encodeURI(text).replaceAll('%25', '%')}`);
        if (status !== 404) accepted.push(`${how}: ${text} is ${status}`);
      }
    }),
  );
  expect(accepted).toEqual([]);
  // Others come from what runs in the background.
  expect(statements).not.toContain('adopters-page');
  await visit(store, link);
  expect(statements.filter((name) => name === 'adopters-page')).toHaveLength(1);
});
