import { openSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { canMount, SmallDisk } from '../../../../testkit/small-disk.ts';
import { type JournalEntry, openJournal, readJournalLine } from '../../../src/platform/journal/journal.ts';
import { findJournalPlace, hasSpareFile, makeSpareFile, spareFileOf } from '../../../src/platform/journal-place.ts';

const mayMount = await canMount();
if (!mayMount) console.warn('This user may not mount a disk: a full disk is not tested here. It takes root.');

const suspended: JournalEntry = { act: 'client_suspended', client: 4n };
const erased: JournalEntry = { act: 'adopters_erased', orders: [1n] };
const log = openSync('/dev/null', 'w');

describe.skipIf(!mayMount)('A journal on a full disk', () => {
  let disk: SmallDisk;
  let file: string;
  beforeEach(async () => {
    disk = await SmallDisk.mount(16);
    file = path.join(disk.folder, 'journal.log');
  });
  afterEach(() => disk[Symbol.asyncDispose]());

  const lines = () => readFileSync(file, 'utf8').trim().split('\n');

  test('has room for thousands of lines, since its spare file is deleted', () => {
    makeSpareFile(file);
    disk.fill();
    const journal = openJournal({ fd: log, file });
    for (let client = 1n; client <= 2_000n; client += 1n) expect(journal({ ...suspended, client })).toBe(true);
    expect(hasSpareFile(file)).toBe(false);
    // Every line is whole, also the one that met the full disk.
    const clients = lines().map((line) => Object(readJournalLine(line)?.entry).client);
    expect(clients).toEqual(Array.from({ length: 2_000 }, (_, i) => BigInt(i + 1)));
  });

  test('makes its spare file again with the first line after the disk has room', () => {
    const journal = openJournal({ fd: log, file });
    journal(suspended);
    expect(hasSpareFile(file)).toBe(true);
    disk.fill();
    // The rest of the last block, and then the spare file.
    for (let i = 0; i < 100; i += 1) journal(suspended);
    expect(hasSpareFile(file)).toBe(false);
    disk.empty();
    journal(suspended);
    expect(hasSpareFile(file)).toBe(true);
  });

  test('whose spare file is used up lets an access end and says that the line is missing; an erasure throws', () => {
    disk.fill();
    const journal = openJournal({ fd: log, file });
    expect(journal(suspended)).toBe(false);
    expect(journal({ act: 'key_revoked', key: 1n, webhooks: [] })).toBe(false);
    expect(journal({ act: 'webhook_disabled', webhook: 1n })).toBe(false);
    expect(() => journal(erased)).toThrow(/^The journal can't be written, so nothing was changed: ENOSPC.*\. Make room on its disk\.$/);
    expect(() => journal({ act: 'client_resumed', client: 4n })).toThrow('nothing was changed');
    expect(hasSpareFile(file)).toBe(false);
    disk.empty();
    expect(journal(suspended)).toBe(true);
    expect(readJournalLine(lines().at(-1) ?? '')?.entry).toEqual(suspended);
  });

  test('whose spare file can neither be deleted nor shortened lets an access end', async () => {
    makeSpareFile(file);
    disk.fill();
    await using _ = await disk.protect(spareFileOf(file));
    expect(openJournal({ fd: log, file })(suspended)).toBe(false);
    expect(hasSpareFile(file)).toBe(true);
  });

  test('that is a directory uses the one spare file of its hosts, and lets an access end when that is used up', () => {
    const { journalFile } = findJournalPlace(`${disk.folder}/`);
    const another = path.join(disk.folder, 'another.host.log');
    makeSpareFile(journalFile);
    makeSpareFile(another);
    expect(readdirSync(disk.folder)).toEqual(['journal.spare']);
    disk.fill();
    const journals = [journalFile, another].map((one) => openJournal({ fd: log, file: one }));
    for (const journal of journals) expect(journal(suspended)).toBe(true);
    expect(hasSpareFile(journalFile)).toBe(false);
    disk.fill();
    // The rest of the last block first.
    const written = Array.from({ length: 100 }, () => journals.map((journal) => journal(suspended)));
    expect(written.at(-1)).toEqual([false, false]);
    expect(() => journals[0]?.(erased)).toThrow('Make room on its disk');
  });

  test('that is also the disk of the log lets an access end', () => {
    disk.fill();
    const fd = openSync(path.join(disk.folder, 'worker.log'), 'a');
    expect(openJournal({ fd, file })(suspended)).toBe(false);
    expect(openJournal({ fd, file: '' })(suspended)).toBe(false);
    expect(() => openJournal({ fd, file: '' })(erased)).toThrow('ENOSPC');
  });
});
