// What doctor compares the schema with is the schema of an empty database, and a change of it is said with what to do.
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { judgeSchema, judgeSequences } from '../../../src/operations/doctor/schema-check.ts';
import { readSchema, type Schema, selectBehindSequences } from '../../../src/operations/doctor/schema-queries.ts';
import { applicationRole } from '../../../src/platform/db/pool.ts';
import { cloneTemplate } from '../../databases.ts';

const expected = JSON.parse(
  readFileSync(new URL('../../../src/operations/doctor/expected-schema.json', import.meta.url), 'utf8'),
) as Schema;

describe('The schema', () => {
  let owner: pg.Client;
  beforeAll(async () => {
    owner = new pg.Client({ connectionString: await cloneTemplate(inject('postgresUrl')) });
    await owner.connect();
    // Only the tests have it: their endpoints need no verification.
    await owner.query('alter table webhooks alter column verified_at drop default');
  });
  afterAll(() => owner.end());
  const judged = async (...changes: string[]) => {
    await owner.query('begin');
    for (const change of changes) await owner.query(change);
    const { severity, found, fix } = judgeSchema(await readSchema(owner, applicationRole), expected);
    await owner.query('rollback');
    return { severity, found, fix };
  };

  test("is the one that is stored. If it is not: 'npm run schema'", async () => {
    expect(await readSchema(owner, applicationRole)).toEqual(expected);
    expect(judgeSchema(expected, expected)).toMatchObject({ severity: 'ok' });
  });

  test.each([
    [
      'drop index orders_one_open_per_pet',
      /index orders_one_open_per_pet is missing/,
      /^As the owner: create unique index concurrently orders_one_open_per_pet on orders/,
    ],
    [
      'alter table pets disable trigger user',
      /trigger \w+ of pets is .*enabled D/,
      /^As the owner: alter table pets enable trigger \w+\.$/,
    ],
    [
      'alter table pets disable trigger all',
      /foreign keys of pets is "some are not checked"/,
      /^As the owner: alter table pets enable trigger/,
    ],
    ['alter table api_keys enable row level security', /table api_keys is "kind r row security"/, /disable row level security/],
    [
      'revoke insert on history from homeward_app',
      /rights on history is "select", not "select, insert"/,
      /: grant insert on history to homeward_app\.$/,
    ],
    ['grant update on history to homeward_app', /rights on history/, /: revoke update on history from homeward_app\.$/],
    [
      'grant execute on function skip_ids() to homeward_app',
      /right to call skip_ids\/0 is "yes", not "no"/,
      /: revoke execute on function skip_ids from public, homeward_app\.$/,
    ],
    ['alter table idempotent_answers set unlogged', /table idempotent_answers is "kind r unlogged"/, /set logged/],
    ['alter table pets drop column updated_at', /column pets\.updated_at is missing/, /./],
    [
      "create or replace function current_server() returns text language sql stable as $$ select 'x' $$",
      /function current_server\/0 was changed/,
      /./,
    ],
  ])('%s', async (change, found, fix) => {
    const finding = await judged(change);
    expect(finding.severity).toBe('broken');
    expect(finding.found).toMatch(found);
    expect(finding.fix).toMatch(fix);
  });

  test('with a table of somebody else is a note, and with a trigger in a table of the store a warning', async () => {
    expect(await judged('create table notes (id int)')).toMatchObject({ severity: 'note', found: expect.stringContaining('table notes') });
    const hook = 'create trigger audit after insert on orders for each row execute function suppress_redundant_updates_trigger()';
    expect(await judged(hook.replace('after', 'before'))).toMatchObject({
      severity: 'warning',
      found: expect.stringContaining('trigger audit of orders'),
      fix: 'If requests fail since then: drop trigger audit on orders.',
    });
  });

  test('with a sequence behind its ids names it', async () => {
    await owner.query('begin');
    await owner.query(`insert into clients (id, name, plan) overriding system value values (50, 'Loaded', 'free')`);
    const finding = judgeSequences(await selectBehindSequences(owner));
    await owner.query('rollback');
    expect(finding).toMatchObject({ severity: 'broken', fix: "As the owner: select setval('clients_id_seq', 50)." });
    expect(judgeSequences(await selectBehindSequences(owner))).toMatchObject({ severity: 'ok' });
  });
});
