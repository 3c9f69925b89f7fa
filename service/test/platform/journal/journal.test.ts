import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type JournalEntry, openJournal, readJournalLine } from '../../../src/platform/journal/journal.ts';

const entries: JournalEntry[] = [
  { act: 'adopters_erased', orders: [1n, 9_007_199_254_740_991n] },
  { act: 'applicants_erased', applications: [1n, 2n], extent: 'all' },
  { act: 'applicants_erased', applications: [3n], extent: 'answers' },
  { act: 'key_revoked', key: 2n, webhooks: [] },
  { act: 'key_rotated', key: 3n, expiresAt: new Date('2026-11-15T10:00:00Z') },
  { act: 'client_suspended', client: 4n },
  { act: 'client_resumed', client: 4n },
  { act: 'webhook_disabled', webhook: 5n },
  { act: 'person_removed', person: 6n },
  { act: 'person_changed', person: 6n, role: 'staff', shelter: 7n },
  { act: 'person_changed', person: 6n, role: 'admin', shelter: null },
  { act: 'sign_ins_ended', person: 6n },
  { act: 'passkey_removed', passkey: 8n },
  { act: 'application_link_ended', application: 7n, number: 1n },
];

describe('A journal', () => {
  test('is read back from its file, entry by entry', async () => {
    await using folder = await mkdtempDisposable(path.join(tmpdir(), 'homeward-journal-'));
    const file = path.join(folder.path, 'journal');
    const journal = openJournal({ fd: 2, file });
    for (const entry of entries) journal(entry);
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    expect(lines.map((line) => readJournalLine(line)?.entry)).toEqual(entries);
  });

  test.each([
    ['another line of a log', '{"level":30,"time":1763200000000,"msg":"working"}'],
    ['a line that is not JSON', 'Server listening'],
    ['a line that quotes a journal line', JSON.stringify({ level: 30, msg: '{"journal":true,"act":"key_revoked"}' })],
  ])('skips %s', (_, line) => {
    expect(readJournalLine(line)).toBeUndefined();
  });

  test('finds a line after a prefix from a log collector', () => {
    const line = 'worker-1 | {"time":1763200000000,"journal":true,"act":"client_suspended","client":4}';
    expect(readJournalLine(line)).toEqual({ at: new Date(1_763_200_000_000), entry: { act: 'client_suspended', client: 4n } });
  });

  test('finds a line that a log collector has wrapped in a field', () => {
    const line = JSON.stringify({ log: '{"time":1763200000000,"journal":true,"act":"client_suspended","client":4}\n', stream: 'stdout' });
    expect(readJournalLine(line)?.entry).toEqual({ act: 'client_suspended', client: 4n });
  });

  test('starts a new line after one that was cut off', async () => {
    await using folder = await mkdtempDisposable(path.join(tmpdir(), 'homeward-journal-'));
    const file = path.join(folder.path, 'journal');
    writeFileSync(file, '{"time":1,"journal":true,"ac');
    openJournal({ fd: 2, file })({ act: 'client_suspended', client: 4n });
    const [, second = ''] = readFileSync(file, 'utf8').split('\n');
    expect(readJournalLine(second)?.entry).toEqual({ act: 'client_suspended', client: 4n });
  });

  test('that cannot be written throws, and says why', () => {
    const journal = openJournal({ fd: 2, file: '/nowhere/journal' });
    expect(() => journal({ act: 'client_suspended', client: 4n })).toThrow("The journal can't be written, so nothing was changed: ENOENT");
    const closed = openJournal({ fd: 9_999, file: '' });
    expect(() => closed({ act: 'client_suspended', client: 4n })).toThrow('EBADF');
  });

  test.each([
    ['an unknown act', '{"time":1,"journal":true,"act":"key_forgotten","key":1}'],
    ['a line that was cut off', '{"time":1,"journal":true,"act":"key_revoked","key":1,"webh'],
    ['an invalid id', '{"time":1,"journal":true,"act":"key_revoked","key":"1","webhooks":[]}'],
    ['a list with an invalid id', '{"time":1,"journal":true,"act":"adopters_erased","orders":[1,-1]}'],
    ['a role of another release', '{"time":1,"journal":true,"act":"person_changed","person":1,"role":"owner","shelter":null}'],
    ['a change without a place', '{"time":1,"journal":true,"act":"person_changed","person":1,"role":"staff"}'],
    ['an extent of another release', '{"time":1,"journal":true,"act":"applicants_erased","applications":[1],"extent":"name"}'],
    ['an invalid time', '{"time":"noon","journal":true,"act":"client_suspended","client":4}'],
    ['no time', '{"journal":true,"act":"client_suspended","client":4}'],
  ])('throws on %s instead of skipping it', (_, line) => {
    expect(() => readJournalLine(line)).toThrow('not a journal line of this release');
  });
});
