// What doctor writes to find out whether the store can: it is rolled back or deleted, and what prevents it is named.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { checkPhotos, type KnownPhotos } from '../../../src/operations/doctor/photos-check.ts';
import { checkWrites } from '../../../src/operations/doctor/postgres-setup.ts';
import { cloneTemplate } from '../../databases.ts';

describe('An animal and an order', () => {
  let owner: pg.Client;
  let login: pg.Client;
  beforeAll(async () => {
    const connectionString = await cloneTemplate(inject('postgresUrl'));
    [owner, login] = [new pg.Client({ connectionString }), new pg.Client({ connectionString })];
    await Promise.all([owner.connect(), login.connect()]);
    await owner.query(`insert into clients (name, plan) values ('Zoo', 'free')`);
    await login.query('set role homeward_app; set default_transaction_read_only = on; set lock_timeout = 200');
  });
  afterAll(() => Promise.all([owner.end(), login.end()]));

  const state = async () => {
    const tables = ['categories', 'pets', 'profiles', 'orders', 'history', 'outbox'];
    const counts = tables.map((table) => `(select count(*)::int from ${table}) as ${table}`);
    const ids = ['pets', 'orders', 'history', 'outbox'].map((table) => `(select last_value from ${table}_id_seq)::int as ${table}_ids`);
    return (await owner.query(`select ${[...counts, ...ids].join(', ')}`)).rows[0];
  };

  test('are written and rolled back, and not even a gap between ids is left', async () => {
    const before = await state();
    expect(await checkWrites(login)).toMatchObject({ severity: 'ok' });
    expect(await state()).toEqual(before);
  });

  test.each([
    [
      "create function no() returns trigger language plpgsql as $$ begin raise exception 'frozen by the auditors'; end $$; create trigger halt before insert on orders for each row execute function no()",
      'drop function no cascade',
      /frozen by the auditors/,
      /trigger or a rule/,
    ],
    [
      "alter table pets add constraint reviewed check (name <> 'doctor')",
      'alter table pets drop constraint reviewed',
      /reviewed.*table pets, constraint reviewed/,
      /constraint that is not of the store/,
    ],
    [
      'revoke insert on history from homeward_app',
      'grant insert on history to homeward_app',
      /permission denied for table history/,
      /owner and the rights/,
    ],
  ])('that can not be written are named with the reason: %s', async (fault, undo, found, fix) => {
    await owner.query(fault);
    expect(await checkWrites(login)).toMatchObject({
      severity: 'broken',
      found: expect.stringMatching(found),
      fix: expect.stringMatching(fix),
    });
    await owner.query(undo);
    expect(await checkWrites(login)).toMatchObject({ severity: 'ok' });
  });
});

describe('The place of photos', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'homeward-place-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));
  const known: KnownPhotos = { hasPhotos: true, picture: undefined, originalsMissing: 0, mark: { id: 'ours', isWritten: true } };
  const mark = (text: string) => writeFileSync(path.join(directory, 'homeward-store-id'), text);

  test('that is that of the store is well, and nothing is left there', async () => {
    mark('ours\n');
    mkdirSync(path.join(directory, 'originals'));
    expect(await checkPhotos({ directory }, known)).toMatchObject({ severity: 'ok' });
    expect(readdirSync(directory, { recursive: true }).toSorted()).toEqual(['homeward-store-id', 'originals']);
  });

  test.each([
    ['without the mark', undefined, known, /does not have the photos of this store/, /mounted\?.*homeward photos mark/],
    ['with the mark of another store', 'theirs\n', known, /is that of another store/, /DATABASE_URL/],
    ['without a picture', 'ours\n', { ...known, picture: 'a'.repeat(64) }, /lacks the picture/, /homeward photos check/],
    ['without originals for a day', 'ours\n', { ...known, originalsMissing: 3 }, /^3 photos can't be processed/, /send these photos again/],
  ])('%s is named', async (_, text, photos, found, fix) => {
    if (text) mark(text);
    expect(await checkPhotos({ directory }, photos)).toMatchObject({
      severity: photos.originalsMissing > 0 ? 'warning' : 'broken',
      found: expect.stringMatching(found),
      fix: expect.stringMatching(fix),
    });
  });

  test('that no worker has marked yet is well', async () => {
    expect(await checkPhotos({ directory }, { ...known, mark: { id: 'ours', isWritten: false } })).toMatchObject({ severity: 'ok' });
  });
});
