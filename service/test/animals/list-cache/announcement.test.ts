import { describe, expect, test } from 'vitest';
import { Announcement } from '../../../src/animals/list-cache/catalogue.ts';
import { type AnnouncedPetChanges, everything, type PetChange } from '../../../src/animals/list-cache/shown-changes.ts';

const changeOf = (id: number): PetChange => ({ id: BigInt(id), before: undefined, after: { categoryId: 1n, status: 'available' } });
const ofAnimals = (changes: AnnouncedPetChanges, ...transactionIds: string[]) => ({ changes, shown: new Set<string>(), transactionIds });
const ofListings = (...shown: string[]) => ({ changes: [], shown: new Set(shown), transactionIds: ['7'] });
const changesOf = (count: number) => Array.from({ length: count }, (_, i) => changeOf(i));

describe('Announcement', () => {
  test('collects the changes and the transactions of several commits', () => {
    const announcement = new Announcement();
    expect(announcement.isEmpty).toBe(true);
    announcement.add(ofAnimals([changeOf(1)], '7'));
    announcement.add(ofAnimals([changeOf(2)], '8', '9'));
    expect([announcement.isEmpty, announcement.changes, announcement.transactionIds]).toEqual([
      false,
      [changeOf(1), changeOf(2)],
      ['7', '8', '9'],
    ]);
  });

  test('collects what only listings show, each change once, and is then not empty', () => {
    const announcement = new Announcement();
    announcement.add(ofListings('photos:1', 'photos:2'));
    expect(announcement.isEmpty).toBe(false);
    announcement.add(ofListings('photos:2', 'photos:3'));
    announcement.add(ofAnimals([changeOf(1)], '8'));
    expect([announcement.shown, announcement.changes]).toEqual([new Set(['photos:1', 'photos:2', 'photos:3']), [changeOf(1)]]);
  });

  test('is everything that listings show if one commit is, or if there are more than 32 changes', () => {
    const announcement = new Announcement();
    announcement.add({ changes: [], shown: everything, transactionIds: [] });
    announcement.add(ofListings('photos:1'));
    expect([announcement.isEmpty, announcement.shown, announcement.changes]).toEqual([false, everything, []]);
    const another = new Announcement();
    for (let i = 0; i < 32; i += 1) another.add(ofListings(`photos:${i}`));
    expect(another.shown).toHaveProperty('size', 32);
    another.add(ofListings('photos:32'));
    expect(another.shown).toBe(everything);
  });

  test('is everything if one commit is, whatever comes before or after', () => {
    const announcement = new Announcement();
    announcement.add(ofAnimals([changeOf(1)], '7'));
    announcement.add(ofAnimals(everything, '8'));
    announcement.add(ofAnimals([changeOf(2)], '9'));
    expect([announcement.isEmpty, announcement.changes]).toEqual([false, everything]);
  });

  test('is everything if there are more than 128 changes', () => {
    const announcement = new Announcement();
    announcement.add(ofAnimals(changesOf(128), '7'));
    expect(announcement.changes).toHaveLength(128);
    announcement.add(ofAnimals([changeOf(128)], '8'));
    expect(announcement.changes).toBe(everything);
  });

  test('has the last 1,000 transactions', () => {
    const announcement = new Announcement();
    for (let i = 0; i < 1_100; i += 1) announcement.add(ofAnimals(everything, String(i)));
    expect([announcement.transactionIds.length, announcement.transactionIds[0]]).toEqual([1_000, '100']);
  });
});
