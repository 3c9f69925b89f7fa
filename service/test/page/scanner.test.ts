import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { plantMutant } from '../../../testkit/mutant.ts';
import { type Connection, connectTo } from '../../../testkit/postgres.ts';
import { addPet, createManager } from '../adoption-steps.ts';
import { decideAll, submit } from '../application-steps.ts';
import { createTestStore, type TestStore } from '../test-store.ts';
import { addUnconfirmed, linksOf, manyAddresses, pathTo, visit } from './page-steps.ts';

/** Of every row of every table, and of every sequence; how often keys were used is written a little later. */
async function digestOf(database: Connection): Promise<Record<string, string>> {
  const { rows: tables } = await database.query<{ name: string }>(
    `select format('%I', relname) as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and relname !~ '^(key_usage|usage_)' order by relname`,
  );
  const digests: Record<string, string> = {};
  for (const { name } of tables) {
    const { rows } = await database.query<{ digest: string }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(one::text, ',' order by one::text)), '') as digest from ${name} as one`,
    );
    digests[name] = rows[0]?.digest ?? '';
  }
  const { rows } = await database.query('select sequencename, last_value::text from pg_sequences order by 1');
  return { ...digests, sequences: JSON.stringify(rows) };
}

/** The links of e-mails and of `statusUrl`, in every status. */
async function linksOfStore(store: TestStore): Promise<string[]> {
  const [partner, manager] = [await store.createKey(), await createManager(store)];
  const links: string[] = [];
  for (const actions of [[], ['review'], ['accept'], ['decline'], ['withdraw']]) {
    const { id } = await submit(store, partner, (await addPet(store, partner)).id);
    await decideAll(store, manager, id, ...actions);
    links.push(pathTo(store, id), pathTo(store, id, 'confirm'));
  }
  const unconfirmed = await addUnconfirmed(store, partner);
  return [...links, pathTo(store, unconfirmed), pathTo(store, unconfirmed, 'confirm')];
}

/** Opens every link, and every link and the target of every form on those pages, as a scanner of e-mail does. Returns how many, and what has changed. */
async function scan(store: TestStore): Promise<{ opened: number; changed: string[] }> {
  const pending = await linksOfStore(store);
  await using database = await connectTo(store.databaseUrl);
  const before = await digestOf(database);
  const opened = new Set<string>();
  for (let link = pending.pop(); link !== undefined; link = pending.pop()) {
    if (opened.has(link)) continue;
    opened.add(link);
    for (const method of ['HEAD', 'GET', 'GET']) {
      const { status, headers, text } = await visit(store, link, { method });
      if (status >= 400) throw new Error(`${method} ${link} is ${status}`);
      const target = headers['location'];
      if (target) pending.push(new URL(target, `http://store.example${link}`).pathname);
      pending.push(...linksOf(text, link));
    }
  }
  const after = await digestOf(database);
  return { opened: opened.size, changed: Object.keys(after).filter((name) => after[name] !== before[name]) };
}

describe('A scanner that opens every link of an adopter', () => {
  test('changes no row of any table', async () => {
    await using store = await createTestStore({ env: manyAddresses });
    const { opened, changed } = await scan(store);
    expect(changed).toEqual([]);
    expect(opened).toBeGreaterThan(20);
  });

  test('confirms and withdraws if a GET does', async () => {
    using tree = plantMutant([
      {
        file: 'adoption/adopter-page/page-routes.ts',
        from: `request.method === 'POST' ? perform`,
        to: `request.method !== 'HEAD' && found.act !== 'erase' ? perform`,
      },
    ]);
    const load = (file: string) => import(pathToFileURL(path.join(tree.root, 'service/src', file)).href);
    const [{ createApp }, { openDependencies }] = [await load('app.ts'), await load('dependencies.ts')];
    await using store = await createTestStore({ env: manyAddresses, code: { createApp, openDependencies } });
    const [partner, links] = [await store.createKey(), [] as string[]];
    for (const purpose of ['confirm', 'see'] as const) links.push(pathTo(store, await addUnconfirmed(store, partner), purpose));
    await using database = await connectTo(store.databaseUrl);
    const before = await digestOf(database);
    for (const link of links) await visit(store, `${link}/confirm`);
    const after = await digestOf(database);
    expect(Object.keys(after).filter((name) => after[name] !== before[name])).toEqual(
      expect.arrayContaining(['application_history', 'applications']),
    );
  });
});
