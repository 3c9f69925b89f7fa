// The guide to events: its table is what the program tells of, and its reader is run against a store.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventMeanings } from '../../src/events/event-types.ts';
import { keptDays } from '../../src/events/events.ts';
import { addPet, createManager } from '../adoption-steps.ts';
import { publishAll } from '../event-steps.ts';
import { createTestStore, type TestKey, type TestStore } from '../test-store.ts';
import { fencedBlocks } from './fenced-blocks.ts';

const guide = readFileSync(new URL('../../../docs/guides/events.md', import.meta.url), 'utf8');

describe('docs/guides/events.md', () => {
  test('has every type of event, with what it means', () => {
    const rows = [...guide.matchAll(/^\| `([a-z_]+\.[a-z_]+)` \| (.+?) \| (.+) \|$/gm)].map(([, type, meaning]) => [type, meaning]);
    expect(rows).toEqual(Object.entries(eventMeanings));
  });

  test('says for how long events are kept', () => {
    expect(guide).toContain(`Events are kept for ${keptDays} days.`);
  });
});

describe('The reader of the guide', () => {
  let store: TestStore;
  let key: TestKey;
  let manager: TestKey;
  let folder: string;
  beforeAll(async () => {
    store = await createTestStore();
    [key, manager] = [await store.createKey(), await createManager(store)];
    folder = mkdtempSync(path.join(tmpdir(), 'homeward-guide-'));
    const [program] = fencedBlocks(guide).filter(({ language }) => language === 'js');
    writeFileSync(path.join(folder, 'reader.mjs'), program?.text ?? '');
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await store[Symbol.asyncDispose]();
  });

  /** Runs it until it has printed so many lines and saved its place, then ends it. */
  async function run(lineCount: number): Promise<string[]> {
    const env = { ...process.env, BASE: store.url, KEY: key.key };
    const child = spawn(process.execPath, ['reader.mjs'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let [printed, failure] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => (printed += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (failure += text));
    const lines = () => printed.split('\n').slice(0, -1);
    try {
      const cursor = (await store.call('GET', '/v1/events?limit=100', { key: key.key })).headers.link;
      await expect
        .poll(() => [failure, lines().length, cursor?.includes(readBookmark())], { timeout: 10_000, interval: 20 })
        .toEqual(['', lineCount, true]);
    } finally {
      child.kill();
      await once(child, 'exit');
    }
    return lines();
  }

  function readBookmark(): string {
    try {
      return readFileSync(path.join(folder, 'next-events.txt'), 'utf8');
    } catch {
      return 'none yet';
    }
  }

  test('prints each event once, and goes on where it was after it is started anew', async () => {
    const pet = await addPet(store, key);
    await publishAll(store);
    expect(await run(1)).toEqual([`evt_1 pet.created ${JSON.stringify({ pet })}`]);
    await store.call('PATCH', `/v1/pets/${pet.id}`, { key: manager.key, body: { name: 'Rex' } });
    await publishAll(store);
    expect(await run(1)).toEqual([`evt_2 pet.updated ${JSON.stringify({ pet: { ...pet, name: 'Rex' } })}`]);
    expect(await run(0)).toEqual([]);
  });
});
