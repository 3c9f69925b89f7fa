import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { openTestStore } from '../test-store.ts';
import { homeward } from './homeward-command.ts';
import { homewardOnPseudoTerminal, homewardOnTerminal } from './on-terminal.ts';

const store = await openTestStore();
const { env } = store;

describe('categories prune', () => {
  const prune = ['categories', 'prune'];
  const unused = async () => (await store.read<{ id: bigint }>('select id from categories where id < 0')).length;
  const reply = (keys: string) => ({ env, typed: [{ after: '[y/N] ', keys }] });

  beforeEach(() => store.write('insert into categories (id) values (-1) on conflict do nothing'));

  test('on a terminal shows what it is about and the store, and acts on y', async () => {
    const { status, text } = await homewardOnPseudoTerminal(prune, reply('y\r'));
    const database = new URL(env['DATABASE_URL'] ?? '').pathname.slice(1);
    expect(text).toContain('Every category without a name and without animals, in PostgreSQL at 127.0.0.1:');
    expect(text).toContain(`database "${database}"\nRemove them? [y/N] y\n`);
    expect(text).toContain('Removed 1 unused category.');
    expect({ status, unused: await unused() }).toEqual({ status: 0, unused: 0 });
  });

  test.each([
    ['n', 'n\r'],
    ['Enter', '\r'],
    ['another word', 'yesterday\r'],
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('on %s changes nothing, says so and exits with 1', async (_, keys) => {
    const { status, text } = await homewardOnTerminal(prune, reply(keys));
    expect(text.trimEnd().split('\n').at(-1)).toBe('Nothing was changed.');
    expect({ status, unused: await unused() }).toEqual({ status: 1, unused: 1 });
  });

  test.each(['--yes', '--json'])('with %s does not ask', async (option) => {
    const { status, text } = await homewardOnTerminal([...prune, option], { env });
    expect(text).not.toContain('[y/N]');
    expect({ status, unused: await unused() }).toEqual({ status: 0, unused: 0 });
  });

  test('does not ask outside a terminal', async () => {
    const { status, stdout, stderr } = await homeward(prune, { env });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'Removed 1 unused category.\n', stderr: '' });
  });
});

test('journal apply shows how many lines of which time, and the store', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'homeward-journal-'));
  const file = path.join(folder, 'journal');
  const line = (time: string) => JSON.stringify({ time: Date.parse(time), journal: true, act: 'client_suspended', client: 999 });
  writeFileSync(file, `${line('2026-11-15T10:00:00Z')}\n${line('2026-11-14T09:30:00Z')}\n`);
  const { status, text } = await homewardOnTerminal(['journal', 'apply', file], {
    env,
    columns: 200,
    typed: [{ after: '[y/N] ', keys: 'n\r' }],
  });
  rmSync(folder, { recursive: true });
  expect(text).toMatch(/^2 journal lines written from 2026-11-14T09:30 to 2026-11-15T10:00 UTC, to PostgreSQL at 127/m);
  expect(status).toBe(1);
});
