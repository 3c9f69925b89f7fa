// docs/guides/limits.md shows responses at fixed times. A store with a manual clock reproduces them.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Bounds, banLengthsMinutes, planBounds, planNames, quotaOf, strikesUntilBan } from '../../src/access/rate-limit/plans.ts';
import { openTestStore, type TestResponse } from '../test-store.ts';
import { fencedBlocks } from './fenced-blocks.ts';
import { faultsOfResponse, readResponse } from './shown-responses.ts';

const guide = readFileSync(new URL('../../../docs/guides/limits.md', import.meta.url), 'utf8');
const shown = fencedBlocks(guide).filter(({ language }) => language === 'http');
const statusTexts: Readonly<Record<number, string>> = { 200: 'OK', 429: 'Too Many Requests' };
const shownAtMs = Date.parse('2026-11-15T14:31:37Z');
/** The rows of the table of other limits per client. */
const boundsInGuide: Readonly<Record<string, keyof Bounds>> = {
  'Open orders': 'openOrders',
  "Open orders for one adopter's address": 'openOrdersOfAdopter',
  'New categories a day (UTC)': 'newCategoriesPerDay',
  'Megabytes of photos a day (UTC)': 'photoMegabytesPerDay',
  'Gigabytes that photos take in all': 'photoStorageGigabytes',
  'Webhook endpoints': 'webhooks',
  'Event streams in one process': 'streams',
  'Event streams that catch up at the same time, in one process': 'catchUps',
};
const free = quotaOf({ plan: 'free', perMinute: null, perDay: null });

let nowMs = shownAtMs;
const store = await openTestStore({ clock: { now: () => nowMs } });

describe('docs/guides/limits.md', () => {
  test('shows the first response of a day, the end of a minute and a ban', async () => {
    nowMs = shownAtMs;
    const { key } = await store.createKey({ plan: 'free' });
    expect(faultsAt(0, await ask(key))).toEqual([]);
    await askTimes(key, free.perMinute - 1);
    expect(faultsAt(1, await ask(key))).toEqual([]);
    nowMs += 3_000;
    await askTimes(key, strikesUntilBan(free) - 1);
    expect(faultsAt(3, await ask(key))).toEqual([]);
  });

  test('shows the end of a day', async () => {
    const { key } = await store.createKey({ plan: 'free' });
    const perDay = free.perDay ?? 0;
    for (let asked = 0; asked < perDay; asked += free.perMinute) {
      nowMs = shownAtMs - 3_600_000 + asked * 1_000;
      await askTimes(key, Math.min(free.perMinute, perDay - asked));
    }
    nowMs = shownAtMs;
    expect(faultsAt(2, await ask(key))).toEqual([]);
  });

  test('has the limits of the plans and the lengths of bans', () => {
    const rows = [...guide.matchAll(/^\| (Free|Pro|Business|Enterprise) \| (.+) \| (.+) \|$/gm)].map(([, ...cells]) => cells);
    const expected = planNames.map((plan) => {
      const name = plan.charAt(0).toUpperCase() + plan.slice(1);
      if (plan === 'enterprise') return [name, 'Custom', 'Custom'];
      const { perMinute, perDay = 0 } = quotaOf({ plan, perMinute: null, perDay: null });
      return [name, perMinute.toLocaleString('en'), perDay.toLocaleString('en')];
    });
    expect(rows).toEqual(expected);
    const [first, ...next] = banLengthsMinutes;
    expect(guide).toContain(`The first ban is ${first} minute long, the next ${next.join(', then ')}.`);
    expect(shown).toHaveLength(4);
  });

  test('has the other limits of each plan', () => {
    const [, table = ''] = guide.split('\n| Per client | Free | Pro | Business | Enterprise |\n');
    const rows = [...(table.split('\n\n')[0] ?? '').matchAll(/^\| ([A-Z].+) \|$/gm)].map(([, row = '']) => row.split(' | '));
    const expected = Object.entries(boundsInGuide).map(([words, bound]) => [
      words,
      ...planNames.map((plan) => planBounds[plan][bound].toLocaleString('en')),
    ]);
    expect(rows).toEqual(expected);
  });
});

const ask = (key: string): Promise<TestResponse<unknown>> => store.call('GET', '/v1/pets', { key });

async function askTimes(key: string, times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) await ask(key);
}

function faultsAt(index: number, { status, headers, text }: TestResponse<unknown>): string[] {
  const came = {
    status: `HTTP/1.1 ${status} ${statusTexts[status]}`,
    headers: new Map(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    body: text,
  };
  const exactly = (text: string) => text;
  return faultsOfResponse(readResponse(shown[index]?.text ?? ''), came, exactly);
}
