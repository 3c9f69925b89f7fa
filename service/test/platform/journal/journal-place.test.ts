import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { findJournalPlace, listJournalFiles, spareFileOf } from '../../../src/platform/journal-place.ts';

test('A path that is no directory is a file, with a spare file of its own beside it', () => {
  expect(findJournalPlace('')).toEqual({ journalFile: '', journalDirectory: '' });
  expect(findJournalPlace('/nowhere/journal.log')).toEqual({ journalFile: '/nowhere/journal.log', journalDirectory: '' });
  expect(spareFileOf('/nowhere/journal.log')).toBe('/nowhere/journal.log.spare');
});

test('A directory, and any path with a slash at the end, gets a file with the name of this host', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'homeward-journal-'));
  for (const setting of [folder.path, `${folder.path}/`, `${folder.path}//`]) {
    const { journalFile, journalDirectory } = findJournalPlace(setting);
    expect(journalDirectory).toBe(`${folder.path}/`);
    expect(path.basename(journalFile)).toMatch(/^[A-Za-z0-9._-]+\.host\.log$/);
    expect(path.basename(journalFile)).toBe(`${hostname().replaceAll(/[^A-Za-z0-9.-]/g, '_')}.host.log`);
    expect(path.dirname(journalFile)).toBe(folder.path);
  }
  // A disk that is not mounted is not replaced by a file.
  expect(findJournalPlace('/nowhere/journal/')).toMatchObject({ journalDirectory: '/nowhere/journal/' });
});

test('All files of a directory are read, also those that somebody has moved there; the spare file, hidden files and folders are not', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'homeward-journal-'));
  const at = (name: string) => path.join(folder.path, name);
  for (const name of ['b.host.log', 'a.host.log', 'journal.log', 'journal.log.1', 'journal.spare', '.nfs0001']) writeFileSync(at(name), '');
  mkdirSync(at('lost+found'));
  symlinkSync(at('journal.log'), at('link'));
  expect(listJournalFiles(folder.path)).toEqual(['a.host.log', 'b.host.log', 'journal.log', 'journal.log.1', 'link'].map(at));
  expect(listJournalFiles(at('a.host.log'))).toEqual([at('a.host.log')]);
});
