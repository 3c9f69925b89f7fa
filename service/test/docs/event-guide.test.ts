// The guide to events: its table matches the program's event types, and its readers are run against a store.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventMeanings } from '../../src/domain/event-types.ts';
import { retentionDays } from '../../src/events/events.ts';
import { addPet, createManager, placeOrder } from '../adoption-steps.ts';
import { publishAll } from '../event-steps.ts';
import { createTestStore, type TestKey, type TestStore } from '../test-store.ts';
import { type Block, fencedBlocks } from './fenced-blocks.ts';
import { GuideRun } from './guide-run.ts';

const read = (guide: string) => readFileSync(new URL(`../../../docs/guides/${guide}`, import.meta.url), 'utf8');
const guide = read('events.md');
const programs = fencedBlocks(guide).filter(({ language }) => language === 'js');
const [ofPages, ofStream, ofLatest] = programs as [Block, Block, Block];

describe('docs/guides/events.md', () => {
  test('has every event type with its meaning', () => {
    const rows = [...guide.matchAll(/^\| `([a-z_]+\.[a-z_]+)` \| (.+?) \| (.+) \|$/gm)].map(([, type, meaning]) => [type, meaning]);
    expect(rows).toEqual(Object.entries(eventMeanings));
  });

  test('says how long events are kept', () => {
    expect(guide).toContain(`Events are kept for ${retentionDays} days.`);
  });

  test('has three programs', () => {
    expect(programs).toHaveLength(3);
  });
});

describe('The readers of the guide', () => {
  let store: TestStore;
  let key: TestKey;
  let manager: TestKey;
  let run: GuideRun;
  beforeAll(async () => {
    store = await createTestStore();
    [key, manager] = [await store.createKey(), await createManager(store)];
    run = new GuideRun({ HOMEWARD_URL: store.url, HOMEWARD_KEY: key.key });
  });
  afterAll(async () => {
    run[Symbol.dispose]();
    await store[Symbol.asyncDispose]();
  });

  /** Runs a reader until it has printed this many lines and, if it does that, saved its cursor. Then stops it. */
  async function linesOf(program: Block, lineCount: number, isSaved = () => true): Promise<string[]> {
    const lines = (output: string) => output.split('\n').slice(0, -1);
    return lines(await run.doUntil(program, (output) => lines(output).length >= lineCount && isSaved()));
  }

  function bookmark(file: string): string {
    try {
      // A file that is being written is empty for a moment.
      return readFileSync(path.join(run.folder, file), 'utf8') || 'none yet';
    } catch {
      return 'none yet';
    }
  }

  const nextLink = async () => (await store.call('GET', '/v1/events?limit=100', { key: key.key })).headers.link ?? '';

  test('of pages and of the stream print each event once, and continue where they were after a restart', {
    timeout: 120_000,
  }, async () => {
    const pet = await addPet(store, key);
    await publishAll(store);
    const first = [`evt_1 pet.created ${JSON.stringify({ pet })}`];
    const firstLink = await nextLink();
    expect(await linesOf(ofPages, 1, () => firstLink.includes(bookmark('next-events.txt')))).toEqual(first);
    expect(await linesOf(ofStream, 1, () => firstLink.includes(bookmark('events-cursor.txt')))).toEqual(first);
    await store.call('PATCH', `/v1/pets/${pet.id}`, { key: manager.key, body: { name: 'Rex' } });
    await publishAll(store);
    const second = [`evt_2 pet.updated ${JSON.stringify({ pet: { ...pet, name: 'Rex' } })}`];
    const secondLink = await nextLink();
    expect(await linesOf(ofPages, 1, () => secondLink.includes(bookmark('next-events.txt')))).toEqual(second);
    expect(await linesOf(ofStream, 1, () => secondLink.includes(bookmark('events-cursor.txt')))).toEqual(second);
  });

  test('of new events prints what happens after it was started', { timeout: 60_000 }, async () => {
    const output = run.doUntil(ofLatest, (text) => text.includes('\n'));
    let isOver = false;
    const ended = output.finally(() => (isOver = true));
    for (let tries = 0; !isOver && tries < 500; tries += 1) {
      await placeOrder(store, key, (await addPet(store, key)).id);
      await publishAll(store);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(await ended).toMatch(/^evt_\d+ \{\n? *pet: /);
  });

  test('of docs/guides/sdk.md prints the feed from its start', { timeout: 60_000 }, async () => {
    const [follower] = fencedBlocks(read('sdk.md')).filter(({ text }) => text.startsWith('for await (const event of'));
    const [line] = await linesOf(follower as Block, 1);
    expect(line).toMatch(/^pet\.created \S+$/);
  });
});
