// The database role of the processes may read and write rows, and nothing else.
import pg from 'pg';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { applicationRole } from '../../src/platform/db/pool.ts';
import { cloneTemplate } from '../databases.ts';

const connectionString = await cloneTemplate(inject('postgresUrl'));
const application = new pg.Client({ connectionString, options: `-c role=${applicationRole}` });
const owner = new pg.Client({ connectionString });
await Promise.all([application.connect(), owner.connect()]);

afterAll(() => Promise.all([application.end(), owner.end()]));

test('the role may read, add and change animals', async () => {
  await application.query("insert into pets (name, category_id, status) values ('Biscuit', 1, 'available')");
  await application.query("update pets set status = 'pending' where name = 'Biscuit'");
  const { rows } = await application.query("select status from pets where name = 'Biscuit'");
  expect(rows).toEqual([{ status: 'pending' }]);
});

describe('the role is denied', () => {
  test.each([
    'create table kennels (id bigint)',
    'create schema kennels',
    'create type colour as enum ()',
    "create function one() returns int language sql as 'select 1'",
    'create index pets_by_name on pets (name)',
    'create extension btree_gin',
    'create role intruder',
    `alter role ${applicationRole} createrole`,
    'alter table pets add column colour text',
    'alter table pets disable trigger all',
    'drop table pets',
    'drop schema public cascade',
    "copy pets to program 'true'",
    'insert into deployment default values',
    "update deployment set id = 'another'",
    'update history set at = now()',
    'update outbox set at = now()',
    'update events set at = now()',
    'update webhook_attempts set at = now()',
    'update audit set at = now()',
    'update person_history set at = now()',
    'delete from people',
    'select drop_audit_partitions(364)',
    'insert into webhook_shards (id, position) values (256, 0)',
    'create table events_20200101 partition of events for values from (minvalue) to (maxvalue)',
    'delete from key_usage',
    "insert into schema_migrations (name, run_on) values ('9999_none', now())",
    "update schema_migrations set name = 'none'",
  ])('%s', async (statement) => {
    await expect(application.query(statement)).rejects.toMatchObject({ code: '42501' });
  });

  test('truncate on every table, and delete except on applications and their notes, acts that can be undone, texts of animals, words of adopters, mail, categories, stored responses, the outbox, photos and their deletions, the writers of usage, words, the tables of webhooks, what people sign in with, and counts of failed sign-ins', async () => {
    const { rows } = await owner.query<{ name: string }>("select tablename as name from pg_tables where schemaname = 'public' order by 1");
    expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(['api_keys', 'clients', 'orders', 'pets', 'schema_migrations']));
    const allowed: string[] = [];
    for (const { name } of rows) {
      for (const statement of [`truncate ${name} cascade`, `delete from ${name} where false`]) {
        const code = await application.query(statement).then(
          () => 'allowed',
          (error: pg.DatabaseError) => error.code,
        );
        if (code !== '42501') allowed.push(`${statement}: ${code}`);
      }
    }
    const deletable = [
      'act_events',
      'adopter_links',
      'adopter_words',
      'animal_texts',
      'application_counts',
      'application_notes',
      'applications',
      'bulk_ended',
      'bulk_ends',
      'categories',
      'delivery_exceptions',
      'failed_sign_ins',
      'form_results',
      'idempotent_answers',
      'identities',
      'mail',
      'mail_counts',
      'outbox',
      'passkeys',
      'person_links',
      'photo_deletions',
      'photos',
      'removed_photo_bytes',
      'sessions',
      'undoable_acts',
      'usage_writers',
      'used_values',
      'webhook_replays',
      'webhook_workers',
      'webhooks',
    ];
    expect(allowed).toEqual(deletable.map((name) => `delete from ${name} where false: allowed`));
  });
});
