import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { theService } from '../../../src/domain/actor.ts';
import { queryTexts } from '../../../src/platform/db/handles.ts';
import { Pool } from '../../../src/platform/db/pool.ts';
import { cloneTemplate } from '../../databases.ts';

const unavailable = expect.objectContaining({ code: 'unavailable' });

const url = await cloneTemplate(inject('postgresUrl'));
// One pipelined connection, so that all statements share it.
const db = new Pool(url, 2);
await db.open();
afterAll(() => db.close());

const echo = (value: number) => db.query<{ value: number }>({ name: 'echo', text: 'select $1::int as value', values: [value] });
const outcomes = (attempts: ReadonlyArray<Promise<{ rows: unknown[] }>>) =>
  Promise.all(
    attempts.map((attempt) =>
      attempt.then(
        ({ rows }) => rows[0],
        (error: { code?: string }) => error.code,
      ),
    ),
  );

describe('Statements on one connection', () => {
  test('each get their own result, however many are in flight', async () => {
    const responses = await outcomes(Array.from({ length: 500 }, (_, i) => echo(i)));
    expect(responses).toEqual(Array.from({ length: 500 }, (_, value) => ({ value })));
  });

  test('that are read as text get the same rows as within a transaction, which pg parses itself', async () => {
    const statement = {
      name: 'texts',
      text: `select id, name, status, null as nothing from (values (9007199254740993::bigint, 'Zoë "🐈"', 'sold'::pet_status), (2, '', 'pending')) as v (id, name, status) where id > $1 order by id desc`,
      values: [1n],
    };
    const expected = [
      ['9007199254740993', 'Zoë "🐈"', 'sold', null],
      ['2', '', 'pending', null],
    ];
    const [texts, others] = await Promise.all([queryTexts(db, statement), echo(7)]);
    expect(texts).toEqual(expected);
    expect(others.rows).toEqual([{ value: 7 }]);
    expect(await db.transaction((tx) => queryTexts(tx, statement), theService)).toEqual(expected);
    expect(await queryTexts(db, { ...statement, name: 'none', values: [2n ** 62n] })).toEqual([]);
    await expect(queryTexts(db, { text: 'select 1 / $1::int', values: [0] })).rejects.toMatchObject({ code: '22012' });
  });

  test('fail without affecting the others', async () => {
    const divide = db.query({ text: 'select 1 / 0 as value' });
    expect(await outcomes([echo(1), divide, echo(2)])).toEqual([{ value: 1 }, '22012', { value: 2 }]);
  });

  test('are unavailable if the standby did not confirm the commit, without affecting the others', async () => {
    // The warning that PostgreSQL sends.
    const warned = db.query({ text: `do $$ begin raise warning 'canceling wait for synchronous replication due to user request'; end $$` });
    expect(await outcomes([echo(1), warned, echo(2)])).toEqual([{ value: 1 }, 'unavailable', { value: 2 }]);
  });

  test('that take too long are cancelled, and those behind them get their results', async () => {
    const slow = db.query({ text: 'select pg_sleep(10)' });
    const behind = echo(5);
    await expect(slow).rejects.toEqual(unavailable);
    expect((await behind).rows).toEqual([{ value: 5 }]);
  });

  test('are unavailable if a lock keeps the first of them from being prepared, and work once it is gone', async () => {
    const list = () => db.query({ name: 'list', text: 'select count(*)::int from pets' });
    const owner = new pg.Client({ connectionString: url });
    await owner.connect();
    await owner.query('begin');
    await owner.query('lock table pets in access exclusive mode');
    expect(await outcomes([list(), list(), list()])).toEqual(['unavailable', 'unavailable', 'unavailable']);
    await owner.end();
    expect(await outcomes([list()])).toEqual([{ count: 0 }]);
  });

  test('are unavailable if the connection ends, and the next ones use another connection', async () => {
    const pid = (await db.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' })).rows[0]?.pid;
    const both = outcomes([db.query({ text: 'select pg_sleep(5)' }), echo(3)]);
    await sleep(50);
    const owner = new pg.Client({ connectionString: inject('postgresUrl') });
    await owner.connect();
    await owner.query('select pg_terminate_backend($1)', [pid]);
    await owner.end();
    expect(await both).toEqual(['unavailable', 'unavailable']);
    expect((await echo(4)).rows).toEqual([{ value: 4 }]);
  });
});
