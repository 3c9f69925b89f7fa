// The SQL of docs/operations/database.md, "Roles in PostgreSQL", run as it is: by a superuser, and by a login as managed PostgreSQL gives one.
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { createDocumentedRoles } from '../../../testkit/documented-roles.ts';
import { startPostgres } from '../../../testkit/servers.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { Pool } from '../../src/platform/db/pool.ts';

const opened = new AsyncDisposableStack();
const server = opened.use(await startPostgres());
const superuser = opened.adopt(new pg.Client({ connectionString: server.url }), (client) => client.end());
await superuser.connect();
await superuser.query('create role managed login createrole createdb');
afterAll(() => opened.disposeAsync());

const urlOf = (user: string, database: string) => `postgres://${user}:sesame@127.0.0.1:${server.port}/${database}`;

test.each(['managed', 'postgres'])('as %s: migrate works as the owner, and processes as homeward_api', async (login) => {
  await using undo = new AsyncDisposableStack();
  undo.defer(async () => {
    await superuser.query('drop database if exists homeward');
    for (const role of ['homeward_api', 'homeward_owner', 'homeward_app']) await superuser.query(`drop role if exists ${role}`);
  });
  await createDocumentedRoles(urlOf(login, 'postgres'), 'sesame');
  await migrate(urlOf('homeward_owner', 'homeward'));
  const pool = undo.adopt(new Pool(urlOf('homeward_api', 'homeward'), 2), (one) => one.close());
  await pool.connect();
  const { rows } = await pool.query<{ role: string; owner: string }>({
    text: `select current_user as role, pg_get_userbyid(relowner) as owner from pg_class where relname = 'pets'`,
  });
  expect(rows).toEqual([{ role: 'homeward_app', owner: 'homeward_owner' }]);
  // The login has no more rights than before.
  const { rows: members } = await superuser.query(
    `select from pg_auth_members where roleid = 'homeward_owner'::regrole and member = '${login}'::regrole and not admin_option`,
  );
  expect(members).toEqual([]);
});
