// The guide to events: its table matches the program's event types, and its readers are run against a store.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventRetentionDays } from '../../src/changes/events/events.ts';
import { eventTable } from '../../src/domain/event-types.ts';
import { addPet, createManager, placeOrder } from '../adoption-steps.ts';
import { publishAll } from '../event-steps.ts';
import { createTestStore, type TestKey, type TestStore } from '../test-store.ts';
import { type Block, fencedBlocks } from './fenced-blocks.ts';
import { GuideRun, python, withSetup } from './guide-run.ts';

const read = (guide: string) => readFileSync(new URL(`../../../docs/guides/${guide}`, import.meta.url), 'utf8');
const guide = read('events.md');
const blocks = fencedBlocks(guide);
/** The programs that have no end. */
const programs = blocks.filter(({ text }) => /^(for \(;;\)|for await|while True)/m.test(text));
const [ofPages, ofPagesInPython, ofStream, ofLatest, ofLatestInPython] = programs as [Block, Block, Block, Block, Block];

describe('docs/guides/events.md', () => {
  test('has every event type with its meaning', () => {
    const rows = [...guide.matchAll(/^\| `([a-z_]+\.[a-z_]+)` \| (.+?) \| (.+) \|$/gm)].map(([, type, meaning]) => [type, meaning]);
    expect(rows).toEqual(Object.entries(eventTable).map(([type, { meaning }]) => [type, meaning]));
  });

  test('says how long events are kept', () => {
    expect(guide).toContain(`Events are kept for ${eventRetentionDays} days.`);
  });

  test('has readers of pages and of a stream, in several languages', () => {
    expect(programs.map(({ language }) => language)).toEqual(['js', 'py', 'js', 'ts', 'py']);
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

  const bookmark = (file: string) => fileIn(run, file);

  function fileIn({ folder }: GuideRun, file: string): string {
    try {
      // A file that is being written is empty for a moment.
      return readFileSync(path.join(folder, file), 'utf8') || 'none yet';
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

  test.skipIf(!python)(
    'of pages in Python prints each event once, and continues where it was after a restart',
    {
      timeout: 60_000,
    },
    async () => {
      using own = new GuideRun({ HOMEWARD_URL: store.url, HOMEWARD_KEY: key.key });
      const isSaved = (link: string | string[]) => link.includes(fileIn(own, 'next-events.txt'));
      const before = (await store.call<Array<{ id: string; type: string }>>('GET', '/v1/events?limit=100', { key: key.key })).json;
      const firstLink = await nextLink();
      const printed = await own.doUntil(ofPagesInPython, (output) => output.split('\n').length > before.length && isSaved(firstLink));
      expect(
        printed
          .trim()
          .split('\n')
          .map((line) => line.split(' ', 2)),
      ).toEqual(before.map(({ id, type }) => [id, type]));
      await addPet(store, key, { name: 'Zoé' });
      await publishAll(store);
      const secondLink = await nextLink();
      const then = await own.doUntil(ofPagesInPython, (output) => output.includes('\n') && isSaved(secondLink));
      expect(then).toMatch(/^evt_\d+ pet\.created \{'pet': \{'id': \d+, 'name': 'Zoé', 'categoryId': 1, 'status': 'available'\}\}\n$/);
    },
  );

  const ofNewEvents = [
    { name: 'the SDK', program: ofLatest, printed: /^evt_\d+ \{\n? *pet: / },
    // A name with a line separator, which must not end a line of the stream.
    { name: 'Python', program: withSetup(ofLatestInPython, blocks), printed: /^evt_\d+ \{'pet': .*'name': 'Zoé\\u2028'/ },
  ].filter(({ program }) => python || program.language !== 'py');
  test.each(ofNewEvents)(
    'of new events by $name prints what happens after it was started',
    { timeout: 60_000 },
    async ({ program, printed }) => {
      const output = run.doUntil(program, (text) => text.includes('\n'));
      let isOver = false;
      const ended = output.finally(() => (isOver = true));
      for (let tries = 0; !isOver && tries < 500; tries += 1) {
        await placeOrder(store, key, (await addPet(store, key, { name: 'Zoé\u2028' })).id);
        await publishAll(store);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      expect(await ended).toMatch(printed);
    },
  );

  test('of docs/guides/sdk.md prints the feed from its start', async () => {
    const [follower] = fencedBlocks(read('sdk.md')).filter(({ text }) => text.startsWith('for await (const event of'));
    const [line] = await linesOf(follower as Block, 1);
    expect(line).toMatch(/^pet\.created \S+$/);
  });
});
